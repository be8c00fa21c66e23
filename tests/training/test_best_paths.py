"""What the best paths of validation are compared with, whatever the labels stand for."""

from __future__ import annotations

import numpy as np
import pytest

from deepspeech.decoder import CTCDecoder
from deepspeech.training.scoring import Evaluator
from deepspeech.util.corpus import Utterance
from deepspeech.util.feeding import LABEL_PADDING, Batch
from deepspeech.util.output_units import ByteAlphabet, SyllableAlphabet
from deepspeech.util.text import Alphabet

NONE = LABEL_PADDING


def path_of(labels: list[int]) -> list[int]:
    """Return a path that emits labels, each for two frames and with a blank behind it."""
    return [frame for label in labels for frame in (label, label, NONE)]


@pytest.mark.parametrize(
    ("alphabet", "said", "heard", "wrong", "characters"),
    [
        (Alphabet(tuple(" abc")), "aab c", "abb c", 1, 5),
        (ByteAlphabet(), "für 你", "fur 你", 1, 5),
        (SyllableAlphabet.of(["ni3", "hao3", "ma1"]), "你好", "ni3 ma1", 3, 8),
    ],
    ids=lambda value: getattr(value, "unit", None),
)
def test_best_paths_are_counted_in_the_text_of_their_labels(
    alphabet: Alphabet, said: str, heard: str, wrong: int, characters: int
) -> None:
    pytest.importorskip("pypinyin")
    utterance = Utterance("a.wav", said, alphabet.encode(said), 0, 0, 0, 0, "a.csv", 1, written_as="another text")
    path = path_of(alphabet.encode(heard).tolist())
    labels, lengths = utterance.labels[None], np.array([len(path)], np.int32)
    batch = Batch([0], [utterance], np.zeros((1, len(path), 1), np.float32), lengths, labels)
    decoder = CTCDecoder(alphabet.output_labels)
    with Evaluator(decoder, alphabet=alphabet) as evaluator:
        edits = evaluator.of_best_paths(batch, np.array([path], np.int32).T)
    assert (edits.character_edits, edits.characters, edits.utterances) == (wrong, characters, 1)
    with Evaluator(decoder) as evaluator:
        assert evaluator.of_best_paths(batch, np.array([path], np.int32).T).utterances == 0
