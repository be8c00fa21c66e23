"""Sentences from a small grammar file: all of them with their probabilities, or random ones.

A grammar is a text file. Each rule gives a name its choices, and all choices of a name are equally likely:

    sentence = turn <switch> the light | good <time>
    switch   = on | off
    time     = morning
             | night

A choice is a sequence of words; <name> stands for one of that name's choices, drawn again each time. A line that begins
with `|` continues the rule above it, `#` starts a comment. The sentences are the choices of the rule `sentence`.
"""

import itertools
import math
import random
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from ...corpus_files.lines import read_text
from ...errors import GrammarError

START = "sentence"
MAX_SENTENCES = 1_000_000  # a list of more would not fit into memory
REFERENCE = re.compile(r"<(\w+)>")
WORD = re.compile(r"[^\s<>|=#]+")

Words = tuple[str, ...]


@dataclass(frozen=True)
class Grammar:
    """Rules by name; each is a tuple of choices, and a choice is a tuple of words and `<name>` references."""

    rules: Mapping[str, tuple[Words, ...]]

    @classmethod
    def load(cls, path: Path) -> "Grammar":
        """Read a grammar file. Raise GrammarError, with file and line, if it is missing or malformed."""
        try:
            lines = read_text(path).splitlines()
        except OSError as error:
            raise GrammarError(f"{path}: the grammar cannot be read: {error.strerror}") from error
        except UnicodeDecodeError as error:
            raise GrammarError(f"{path}: the grammar is not UTF-8; save it as UTF-8") from error
        grammar = cls(_parse(lines, path))
        grammar._check(path)
        return grammar

    def draw(self, source: random.Random) -> Words:
        """Draw one sentence at random."""
        return self._draw_from(START, source)

    def count(self) -> int:
        """Return how many sentences the grammar can derive; a sentence with two derivations counts twice."""
        return self._count(START, ())

    def sentences(self) -> dict[Words, float]:
        """Return every sentence with its probability. Raise GrammarError for a grammar too large to list."""
        count = self.count()
        if count > MAX_SENTENCES:
            raise GrammarError(
                f"the grammar has {count} sentences; at most {MAX_SENTENCES} can be listed: make it smaller"
            )
        return self._expand(START)

    def _draw_from(self, name: str, source: random.Random) -> Words:
        words: list[str] = []
        for item in source.choice(self.rules[name]):
            reference = REFERENCE.fullmatch(item)
            words += self._draw_from(reference[1], source) if reference else [item]
        return tuple(words)

    def _expand(self, name: str) -> dict[Words, float]:
        choices = self.rules[name]
        expansions: defaultdict[Words, float] = defaultdict(float)
        for choice in choices:
            parts = [self._expand(item[1:-1]) if REFERENCE.fullmatch(item) else {(item,): 1.0} for item in choice]
            for derivation in itertools.product(*(part.items() for part in parts)):
                words = tuple(itertools.chain.from_iterable(words for words, _ in derivation))
                expansions[words] += math.prod(probability for _, probability in derivation) / len(choices)
        return dict(expansions)

    def _count(self, name: str, above: Words) -> int:
        if name in above:
            raise GrammarError(f"rule <{name}> leads back to itself, so its sentences would never end")
        total = 0
        for choice in self.rules[name]:
            counts = [self._count(item[1:-1], (*above, name)) for item in choice if REFERENCE.fullmatch(item)]
            total += math.prod(counts)
        return total

    def _check(self, path: Path) -> None:
        for name, reference in self._references():
            if reference not in self.rules:
                raise GrammarError(f"{path}: rule '{name}' uses <{reference}>, which no rule defines")
        if START not in self.rules:
            raise GrammarError(f"{path} has no rule '{START}', which says what the sentences are")
        for name in self.rules:
            try:
                self._count(name, ())
            except GrammarError as error:
                raise GrammarError(f"{path}: {error}") from error

    def _references(self) -> Iterator[tuple[str, str]]:
        for name, choices in self.rules.items():
            for item in itertools.chain.from_iterable(choices):
                if REFERENCE.fullmatch(item):
                    yield name, item[1:-1]


def _parse(lines: list[str], path: Path) -> dict[str, tuple[Words, ...]]:
    rules: dict[str, tuple[Words, ...]] = {}
    name = ""
    for number, line in enumerate(lines, start=1):
        where = f"{path}, line {number}"
        text = line.split("#", maxsplit=1)[0].strip()
        if not text:
            continue
        if text.startswith("|"):
            if not name:
                raise GrammarError(f"{where}: a line that begins with '|' needs a rule above it")
            rules[name] += _parse_choices(text[1:], where)
            continue
        name, equals, choices = (part.strip() for part in text.partition("="))
        if not equals or not re.fullmatch(r"\w+", name):
            raise GrammarError(f"{where}: expected 'name = choice | choice', found '{text}'")
        if name in rules:
            raise GrammarError(
                f"{where}: rule '{name}' is already defined; begin the line with '|' to add choices to it"
            )
        rules[name] = _parse_choices(choices, where)
    return rules


def _parse_choices(text: str, where: str) -> tuple[Words, ...]:
    choices = tuple(tuple(choice.split()) for choice in text.split("|"))
    for choice in choices:
        if not choice:
            raise GrammarError(f"{where}: a choice is empty; write at least one word between two '|'")
        for item in choice:
            if not REFERENCE.fullmatch(item) and not WORD.fullmatch(item):
                raise GrammarError(f"{where}: '{item}' is neither a word nor a <name>")
    return choices
