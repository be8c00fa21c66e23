"""Alignments have the fewest errors, and as many of each kind as jiwer counts."""

from __future__ import annotations

import numpy as np
import pytest

from deepspeech.util.figures.errors.alignment import ErrorKinds, Kind, Step, align, error_kinds
from deepspeech.util.figures.metrics import EditCounts, evaluate_transcript


def test_each_place_has_what_was_said_and_what_was_heard() -> None:
    said, heard = ["one", "two", "three", "four"], ["one", "too", "three", "for", "you"]
    steps = align(said, heard)
    assert steps[:3] == (Step("one", "one"), Step("two", "too"), Step("three", "three"))
    assert error_kinds(steps) == ErrorKinds(substitutions=2, insertions=1, deletions=0)
    assert [step.hypothesis for step in steps if step.hypothesis is not None] == heard
    assert [step.reference for step in steps if step.reference is not None] == said


def test_nothing_heard_and_nothing_said_are_deletions_and_insertions() -> None:
    assert {step.kind for step in align("abc", "")} == {Kind.DELETION}
    assert {step.kind for step in align("", "abc")} == {Kind.INSERTION}
    assert align("", "") == ()


def random_texts(count: int) -> list[tuple[str, str]]:
    """Return references and hypotheses of one to fifteen words out of twelve, half of them nearly right."""
    random = np.random.default_rng(3)
    vocabulary = ["the", "cat", "sat", "on", "a", "mat", "and", "ate", "one", "rat", "سمك", "魚"]
    pairs = []
    for number in range(count):
        said = list(random.choice(vocabulary, random.integers(1, 16)))
        heard = list(random.choice(vocabulary, random.integers(1, 16)))
        if number % 2:
            heard = [word if random.random() < 0.8 else str(random.choice(vocabulary)) for word in said]
        pairs.append((" ".join(said), " ".join(heard)))
    return pairs


def test_the_counts_of_1000_random_pairs_are_jiwers() -> None:
    jiwer = pytest.importorskip("jiwer")
    pairs = random_texts(1000)
    for said, heard in pairs:
        for theirs, ours in (
            (jiwer.process_words(said, heard), error_kinds(align(said.split(), heard.split()))),
            (jiwer.process_characters(said, heard), error_kinds(align(said, heard))),
        ):
            assert ours == ErrorKinds(theirs.substitutions, theirs.insertions, theirs.deletions)
    total = sum((evaluate_transcript(*pair) for pair in pairs), EditCounts())
    theirs = jiwer.process_words([said for said, _ in pairs], [heard for _, heard in pairs])
    assert total.wer == pytest.approx(theirs.wer)
    assert (total.substitutions, total.insertions, total.deletions) == (
        theirs.substitutions,
        theirs.insertions,
        theirs.deletions,
    )
    assert total.cer == pytest.approx(jiwer.cer([said for said, _ in pairs], [heard for _, heard in pairs]))
