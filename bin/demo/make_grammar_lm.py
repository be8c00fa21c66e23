#!/usr/bin/env python3
"""Write the n-gram language model of a grammar's sentences as an ARPA file.

The probabilities come from the grammar itself: every sentence is listed with its probability, which gives the frequency
of each word after each context h of at most order - 1 words. So that no word is impossible, a small share of each
context, `escape`, is given to the next shorter context:

    P(w | h)  = (1 - escape) * frequency of w after h + escape * P(w | h without its first word)
    P(w | )   = (1 - escape) * frequency of w         + escape / size of the vocabulary

which sums to one over the vocabulary (with </s> and <unk>) by construction, and makes `escape` the back-off weight of
every context.

    make_grammar_lm.py data/demo/grammar.txt data/lm/demo.arpa
"""

import math
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

from deepspeech.cli.arguments import ArgumentParser, run_script
from deepspeech.errors import FlagError
from deepspeech.util.files.whole_files import write_whole
from deepspeech.util.importing.synthesis.grammar import Grammar, Words
from deepspeech.util.progress import report

BEGIN, END, UNKNOWN = "<s>", "</s>", "<unk>"
IMPOSSIBLE = -99.0  # log10 probability of <s>, which is a context, never a prediction

Successors = dict[Words, dict[str, float]]
NGrams = list[dict[Words, float]]


def count_successors(sentences: Mapping[Words, float], order: int) -> Successors:
    """Return how often, per sentence, each word follows each context of fewer than `order` words."""
    successors: Successors = defaultdict(lambda: defaultdict(float))
    for words, probability in sentences.items():
        tokens = (BEGIN, *words, END)
        for position in range(1, len(tokens)):
            for length in range(min(order - 1, position) + 1):
                successors[tokens[position - length : position]][tokens[position]] += probability
    return successors


def smooth(successors: Successors, order: int, escape: float) -> NGrams:
    """Return the probability of every seen n-gram, one dictionary for each order from 1 to `order`."""
    vocabulary = {UNKNOWN, *successors[()]}
    levels: NGrams = [{(word,): escape / len(vocabulary) for word in sorted(vocabulary)}]
    levels += [{} for _ in range(order - 1)]
    for context in sorted(successors, key=lambda context: (len(context), context)):
        total = sum(successors[context].values())
        for word in sorted(successors[context]):
            ngram = (*context, word)
            shorter = levels[len(context) - 1][ngram[1:]] if context else levels[0][ngram]
            share = escape * shorter if context else shorter
            levels[len(context)][ngram] = (1 - escape) * successors[context][word] / total + share
    return levels


def format_arpa(levels: NGrams, contexts: set[Words], escape: float) -> str:
    """Return the text of an ARPA file; `contexts` are the n-grams that get the back-off weight `escape`."""
    logarithms = [{ngram: math.log10(probability) for ngram, probability in level.items()} for level in levels]
    logarithms[0][BEGIN,] = IMPOSSIBLE
    lines = ["", "\\data\\", *(f"ngram {order}={len(level)}" for order, level in enumerate(logarithms, start=1))]
    for order, level in enumerate(logarithms, start=1):
        lines += ["", f"\\{order}-grams:"]
        for ngram, logarithm in sorted(level.items()):
            back_off = f"\t{math.log10(escape):.6g}" if order < len(levels) and ngram in contexts else ""
            lines.append(f"{logarithm:.6g}\t{' '.join(ngram)}{back_off}")
    return "\n".join([*lines, "", "\\end\\", ""])


def main() -> None:
    """Read the arguments and write the model."""
    parser = ArgumentParser(__doc__)
    parser.add_argument("grammar", type=Path, help="the grammar file; util/importing/synthesis/grammar.py says how")
    parser.add_argument("arpa", type=Path, help="the ARPA file to write")
    parser.add_argument("--order", type=int, default=3, help="words of an n-gram, 2 to 6 (default: %(default)s)")
    parser.add_argument(
        "--escape", type=float, default=0.01, help="share of probability for unseen words (default: %(default)s)"
    )
    arguments = parser.parse_args()
    if not 2 <= arguments.order <= 6:
        raise FlagError(f"--order is {arguments.order}; KenLM reads models of order 2 to 6")
    if not 0 < arguments.escape < 1:
        raise FlagError(f"--escape is {arguments.escape}; it is a share, above 0 and below 1")
    successors = count_successors(Grammar.load(arguments.grammar).sentences(), arguments.order)
    levels = smooth(successors, arguments.order, arguments.escape)
    arguments.arpa.parent.mkdir(parents=True, exist_ok=True)
    write_whole(arguments.arpa, format_arpa(levels, set(successors), arguments.escape).encode())
    report(f"{arguments.arpa}: {', '.join(f'{len(level)} {n}-grams' for n, level in enumerate(levels, start=1))}")


if __name__ == "__main__":
    run_script(main)
