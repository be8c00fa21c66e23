"""The references and the hypotheses of validation, for labels of every kind."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest

from deepspeech.decoder import CTCDecoder
from deepspeech.decoder.evaluation import Evaluation
from deepspeech.schedule.jobs import Job, SetName
from deepspeech.training.scoring import Evaluator
from deepspeech.util.corpus import Utterance
from deepspeech.util.feeding import Batch
from deepspeech.util.figures.metrics import EditCounts
from deepspeech.util.output_units import ByteAlphabet, SyllableAlphabet
from deepspeech.util.text import Alphabet

LETTERS = Alphabet(tuple(" abc"))


@pytest.mark.parametrize(
    ("alphabet", "said", "heard", "wrong", "characters"),
    [
        (LETTERS, "aab c", "abb c", 1, 5),
        (ByteAlphabet(), "für 你", "fur 你", 1, 5),
        (SyllableAlphabet.of(["ni3", "hao3", "ma1"]), "你好", "ni3 ma1", 3, 8),
    ],
    ids=lambda value: getattr(value, "unit", None),
)
def test_errors_of_validation_are_counted_in_the_text_of_the_labels(
    alphabet: Alphabet, said: str, heard: str, wrong: int, characters: int
) -> None:
    pytest.importorskip("pypinyin")
    edits = validated(alphabet, said, posteriors_of(alphabet, heard))
    assert (edits.character_edits, edits.characters, edits.utterances) == (wrong, characters, 1)


def test_a_letter_said_twice_is_found_by_the_sum_of_paths_where_no_frame_has_a_likeliest_blank() -> None:
    a, blank = LETTERS.encode("a")[0], LETTERS.size
    posteriors = np.full((4, LETTERS.size + 1), 1e-6, np.float32)
    posteriors[:, a], posteriors[:, blank] = [0.9, 0.55, 0.55, 0.9], [0.1, 0.45, 0.45, 0.1]
    assert posteriors.argmax(axis=1).tolist() == [a] * 4
    assert validated(LETTERS, "aa", posteriors).character_edits == 0


def test_frames_beyond_the_end_of_an_utterance_are_not_heard() -> None:
    posteriors = posteriors_of(LETTERS, "abc")
    longer = np.concatenate([posteriors, posteriors])
    assert validated(LETTERS, "abc", longer, frames=len(posteriors)).character_edits == 0


def posteriors_of(alphabet: Alphabet, text: str) -> npt.NDArray[np.float32]:
    """Return posteriors, float32 [time, labels + 1], of each label for two frames, followed by a blank."""
    path = [column for label in alphabet.encode(text) for column in (label, label, alphabet.size)]
    return np.eye(alphabet.size + 1, dtype=np.float32)[path]


def validated(
    alphabet: Alphabet, said: str, posteriors: npt.NDArray[np.float32], frames: int | None = None
) -> EditCounts:
    """Return the errors of validation for an utterance of the posteriors' first `frames`; all frames if None."""
    utterance = Utterance("a.wav", said, alphabet.encode(said), 0, 0, 0, 0, "a.csv", 1, written_as="another text")
    lengths = np.array([len(posteriors) if frames is None else frames], np.int32)
    batch = Batch([0], [utterance], np.zeros((1, len(posteriors), 1), np.float32), lengths, utterance.labels[None])
    evaluation = Evaluation(CTCDecoder(alphabet.output_labels))
    job = Job(number=1, epoch=0, set_name=SetName.DEV, batches=(0,), report=False)
    assert not Evaluator(evaluation).decodes(job)
    with Evaluator(evaluation, alphabet) as evaluator:
        assert evaluator.decodes(job) and not evaluator.decodes(replace(job, set_name=SetName.TEST))
        futures = evaluator.submit(job, batch, posteriors[:, None], np.zeros(1, np.float32))
        (tally,) = (future.result() for future in futures)
    assert tally.utterances == 0
    return tally.validation_edits
