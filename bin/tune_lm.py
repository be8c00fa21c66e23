#!/usr/bin/env python3
"""Search the weight of the language model and the bonus of a word that give the fewest errors on a validation set.

    tune_lm.py --model output_graph.pb --csv dev.csv --lm lm.binary [--trie lm.trie] --out FOLDER
    tune_lm.py --posteriors dev.npz --references dev.txt --lm lm.binary [--trie lm.trie] --out FOLDER

The acoustic model, an exported graph, runs once. FOLDER gets its outputs as posteriors.npz and the transcripts as
references.txt; the second form of the command starts from these files. It also accepts the output of any other model:
an npz file with the output for each utterance, float [time, labels + 1], in the order of the lines of the texts.
Optuna then tries --trials weights. FOLDER gets tuning.csv with every trial and tuning.png with their plot; stdout gets
the best weights, as flags of deepspeech-train. Needs optuna and matplotlib: `pip install '.[tune]'` in the checkout
installs them.
"""

import csv
import zlib
from argparse import Namespace
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from io import StringIO
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
import numpy.typing as npt

from deepspeech.cli.arguments import (
    ArgumentParser,
    add_alphabet_flags,
    add_transcript_flags,
    check_arguments,
    check_output_folder,
    chosen_normalizer,
    list_path,
    output_path,
    run_script,
)
from deepspeech.decoder import CTCDecoder, DecoderOptions
from deepspeech.decoder.of_alphabet import load_scorer
from deepspeech.decoder.references import reference_of
from deepspeech.errors import FlagError
from deepspeech.options.export import MODEL_FILE
from deepspeech.options.rows.checks import at_least, up_to
from deepspeech.serving.acoustics.loading import AcousticModel, load_acoustic_model
from deepspeech.serving.alphabet import alphabet_of
from deepspeech.util.audio import Samples, read_audio
from deepspeech.util.checks.inspection import Inspection
from deepspeech.util.corpus_files import Row, read_files
from deepspeech.util.corpus_files.lines import read_text
from deepspeech.util.errors import AudioError, BadRow, CorpusError, LanguageModelError
from deepspeech.util.files.whole_files import write_whole, written_whole
from deepspeech.util.output_units import load_alphabet
from deepspeech.util.parts import PartError
from deepspeech.util.progress import Progress, report
from deepspeech.util.text import Alphabet, describe

ROOT = Path(__file__).resolve().parent.parent

NUMBERS = {
    "trials": at_least(1),
    "beam-width": at_least(1),
    "highest-weight": at_least(0),
    "highest-bonus": at_least(0),
    "seed": up_to(2**32 - 1, "0 to 4294967295"),
}
"""The allowed values of numeric flags."""

PACKAGES = ("optuna", "matplotlib", "rapidfuzz")
"""What the search, the drawing and the error rates need, of the extra `tune`."""

Trial = tuple[float, float, float]
"""Weight, bonus, and their error rate."""


def read_arguments() -> Namespace:
    """Return the command line's arguments."""
    parser = ArgumentParser(__doc__)
    add = parser.add_argument
    add("--model", type=Path, help=MODEL_FILE)
    add("--csv", type=list_path, action="extend", nargs="+", default=[], help="validation set, for the model to run on")
    add("--posteriors", type=Path, help="the model's outputs, instead of --model")
    add("--references", type=Path, help="their texts, instead of --csv")
    add("--lm", type=Path, required=True, help="ARPA file, KenLM binary or scorer package")
    add("--trie", type=Path, help="trie of its words; made in memory if not given")
    add_alphabet_flags(parser, "of the posteriors")
    add("--out", "--output", type=output_path, required=True, help="folder for the results")
    add("--trials", type=int, default=100, help="pairs of weight and bonus to try (default: %(default)s)")
    add("--beam-width", type=int, default=500, help="hypotheses kept by the beam search (default: %(default)s)")
    add("--highest-weight", type=float, default=5.0, help="highest weight to try (default: %(default)s)")
    add("--highest-bonus", type=float, default=5.0, help="highest bonus to try (default: %(default)s)")
    add("--metric", choices=("wer", "cer"), default="wer", help="error rate to lower (default: %(default)s)")
    add("--seed", type=int, default=1, help="seed of the search (default: %(default)s)")
    add_transcript_flags(parser)
    arguments = parser.parse_args()
    check_arguments(arguments, NUMBERS)
    check_output_folder("--out", arguments.out)
    arguments.normalizer = chosen_normalizer(arguments)
    runs, kept = (arguments.model, arguments.csv), (arguments.posteriors, arguments.references)
    labels_given = arguments.alphabet or arguments.output_unit != Alphabet.unit  # a model has its own
    if any(runs) == bool(any(kept) or labels_given) or not (all(runs) or all(kept)):
        raise FlagError(
            "give either --model and --csv, or --posteriors and --references with --alphabet and --output_unit"
        )
    if not labels_given:
        arguments.alphabet = ROOT / "data/alphabet.txt"
    return arguments


def run_model(model: AcousticModel, arguments: Namespace) -> None:
    """Write the model's outputs for the validation set, from the frames of a test, to the folder of the results."""
    rows = read_rows(arguments.csv)
    inspection = Inspection()
    outputs = []
    with Progress("Running the model", len(rows), unit="utterance") as progress:
        for row in rows:
            samples = samples_of(row, model.info.features.sample_rate, inspection)
            outputs.append(model.engine.posteriors(model.features.windows_of(samples)))
            progress.advance()
    arguments.out.mkdir(parents=True, exist_ok=True)
    arguments.posteriors = arguments.out / "posteriors.npz"
    arguments.references = arguments.out / "references.txt"
    with written_whole(arguments.posteriors) as path, path.open("wb") as out:
        np.savez(out, *outputs)
    lines = (" ".join(row.transcript.split()) for row in rows)  # a transcript may have line breaks
    write_whole(arguments.references, "".join(f"{line}\n" for line in lines).encode())


def read_rows(lists: Sequence[Path]) -> list[Row]:
    """Return the rows of a validation set. Raise CorpusError, also for a row that cannot be used."""
    rows = []
    for row in read_files(lists, None):
        if isinstance(row, BadRow):
            raise CorpusError(str(row))
        rows.append(row)
    return rows


def samples_of(row: Row, sample_rate: int, inspection: Inspection) -> Samples:
    """Return a row's recording, or its part of it, float32 [samples]. Raise CorpusError, which names the row."""
    try:
        return read_audio(row.path, sample_rate, inspection.part_within(row.path, row.part))
    except PartError as error:
        raise CorpusError(str(row.bad(f"{row.path}: {error}"))) from error
    except AudioError as error:
        raise CorpusError(str(row.bad(str(error)))) from error


def read_utterances(arguments: Namespace) -> tuple[npt.NDArray[np.float32], list[int], list[str]]:
    """Return padded posteriors [utterances, time, labels + 1], their lengths and their texts."""
    try:
        with np.load(arguments.posteriors) as archive:
            utterances = [np.asarray(archive[name], np.float32) for name in archive.files]
    except (AttributeError, ValueError, TypeError, EOFError, NotImplementedError, BadZipFile, zlib.error):
        raise LanguageModelError(f"{arguments.posteriors} is not an npz file of arrays, or it is damaged") from None
    try:
        lines = StringIO(read_text(arguments.references), newline=None)  # `splitlines` also splits at U+2028
        references = [line.rstrip("\n") for line in lines]
    except UnicodeDecodeError:
        raise CorpusError(f"{arguments.references}: not UTF-8; save it as UTF-8") from None
    if arguments.normalizer:
        references = [arguments.normalizer(reference) for reference in references]
    if len(utterances) != len(references) or not utterances:
        raise LanguageModelError(
            f"{arguments.posteriors} has {len(utterances)} utterances, {arguments.references} {len(references)}"
        )
    if any(utterance.ndim != 2 or utterance.shape[1] != utterances[0].shape[1] for utterance in utterances):
        raise LanguageModelError(f"the arrays of {arguments.posteriors} must all be [time, labels + 1]")
    lengths = [len(utterance) for utterance in utterances]
    batch = np.zeros((len(utterances), max(lengths), utterances[0].shape[1]), np.float32)
    for row, utterance in zip(batch, utterances, strict=True):
        row[: len(utterance)] = utterance
    return batch, lengths, references


def alphabet_of_posteriors(arguments: Namespace) -> Alphabet:
    """Return the named alphabet, in the form of training."""
    composed = arguments.normalizer is not None
    return load_alphabet(arguments.output_unit, arguments.alphabet, composed=composed, flag="--alphabet")


def report_unspelled(references: Sequence[str], alphabet: Alphabet) -> None:
    """Report references that cannot be recognized with any weights, because labels of characters cannot spell them."""
    if alphabet.unit != Alphabet.unit:
        return
    missing = list(filter(None, (alphabet.missing("".join(reference.split())) for reference in references)))
    if missing:
        report(
            f"{len(missing)} of {len(references)} references have characters that are not in the alphabet, as "
            f"{describe(missing[0][0])}: errors with any weights; see --normalize_transcripts"
        )


class Objective:
    """The error rate of the validation set, as a function of the weights that optuna suggests."""

    def __init__(self, arguments: Namespace) -> None:
        """Read the model's outputs and the language model. Raise DeepSpeechError if a file cannot be used."""
        self._arguments = arguments
        model = load_acoustic_model(arguments.model) if arguments.model else None
        alphabet = alphabet_of(model.info) if model else alphabet_of_posteriors(arguments)
        self._scorer = load_scorer(alphabet, arguments.lm, arguments.trie)
        if model:
            run_model(model, arguments)
        self._posteriors, self._lengths, references = read_utterances(arguments)
        report_unspelled(references, alphabet)
        self._references = [reference_of(text, alphabet, self._scorer) for text in references]

    def __call__(self, trial: Any) -> float:
        """Return the error rate with the weights of an optuna trial."""
        weight = trial.suggest_float("lm_weight", 0, self._arguments.highest_weight)
        bonus = trial.suggest_float("valid_word_count_weight", -1, self._arguments.highest_bonus)
        return self.error_rate(weight, bonus)

    def error_rate(self, weight: float, bonus: float) -> float:
        """Return WER or CER over all utterances, decoded on all cores."""
        from deepspeech.util.figures.metrics import EditCounts, evaluate_transcript

        options = DecoderOptions(self._arguments.beam_width, weight, bonus)
        decoder = CTCDecoder(self._scorer.output, options, self._scorer)
        counts = EditCounts()
        results = decoder.decode_batch(self._posteriors, self._lengths)
        for reference, hypotheses in zip(self._references, results, strict=True):
            counts += evaluate_transcript(reference, hypotheses[0].text)
        return counts.wer if self._arguments.metric == "wer" else counts.cer


def check_packages() -> None:
    """Raise LanguageModelError if a package is missing, before hours are spent on what it would be needed for."""
    missing = [package for package in PACKAGES if find_spec(package) is None]
    if missing:
        raise LanguageModelError(f"{missing[0]} is missing: run `pip install '.[tune]'` in the checkout")


def search(objective: Objective, arguments: Namespace) -> Iterator[Trial]:
    """Yield each trial when its error rate is known."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=arguments.seed))
    with Progress("Tuning", arguments.trials, unit="trial") as progress:
        for _ in range(arguments.trials):  # not `optimize`, which logs the traceback of an error and of Ctrl-C
            trial = study.ask()
            rate = objective(trial)
            study.tell(trial, rate)
            progress.advance()
            yield (*trial.params.values(), rate)


def write_results(trials: Sequence[Trial], arguments: Namespace) -> None:
    """Write the table and the plot of all trials."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    arguments.out.mkdir(parents=True, exist_ok=True)
    with written_whole(arguments.out / "tuning.csv") as path, path.open("w", newline="") as out:
        writer = csv.writer(out)
        writer.writerow(("lm_weight", "valid_word_count_weight", arguments.metric))
        writer.writerows(trials)
    weights, bonuses, rates = zip(*trials, strict=True)
    best = min(trials, key=lambda trial: trial[2])
    figure, axes = pyplot.subplots(figsize=(8, 6))
    points = axes.scatter(weights, bonuses, c=[100 * rate for rate in rates], cmap="viridis_r")
    axes.scatter(*best[:2], s=200, facecolors="none", edgecolors="red", label=f"best: {100 * best[2]:.2f} %")
    figure.colorbar(points, label=f"{arguments.metric.upper()} [%]")
    axes.set(xlabel="lm_weight", ylabel="valid_word_count_weight", title=f"{len(trials)} trials")
    axes.legend()
    with written_whole(arguments.out / "tuning.png") as path:
        figure.savefig(path, format="png", dpi=120)


def main() -> None:
    """Tune, draw, and print the best weights, also those of the trials before Ctrl-C."""
    arguments = read_arguments()
    check_packages()
    objective = Objective(arguments)
    trials: list[Trial] = []
    try:
        trials.extend(search(objective, arguments))
    except KeyboardInterrupt:
        if trials:
            report(f"stopped after {len(trials)} of {arguments.trials} trials; these are the best weights so far")
            report_results(trials, arguments)
        raise
    report_results(trials, arguments)


def report_results(trials: Sequence[Trial], arguments: Namespace) -> None:
    """Write the results of all trials, and print the best weights."""
    write_results(trials, arguments)
    weight, bonus, rate = min(trials, key=lambda trial: trial[2])
    report(f"{arguments.metric.upper()} {100 * rate:.2f} %; see {arguments.out / 'tuning.png'}")
    print(f"--lm_weight {weight:.4f} --valid_word_count_weight {bonus:.4f}")


if __name__ == "__main__":
    run_script(main)
