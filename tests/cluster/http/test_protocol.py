import json
import os
from dataclasses import asdict

import numpy as np
import pytest
from pydantic import ValidationError

from deepspeech.cluster.http.protocol import JobAnswer, TallyBody
from deepspeech.decoder import CTCDecoder
from deepspeech.decoder.evaluation import Evaluation
from deepspeech.options import ScheduleOptions
from deepspeech.schedule.coordinator import TrainingCoordinator
from deepspeech.schedule.jobs import Job, Sample, SetName, Tally
from deepspeech.schedule.state import Plan
from deepspeech.util.corpus import Utterance
from deepspeech.util.figures.metrics import EditCounts
from deepspeech.util.text import Alphabet

TALLY = Tally(
    utterances=3,
    loss_sum=4.5,
    edits=EditCounts(3, 1, 6, 2, 30, 1, 1, 1, 4, 2, 8),
    samples=(Sample("a.wav", "yes", "no", 1.5, EditCounts(1, 1, 1, 3, 3, 1, 0, 0)),),
    labels_emitted=(0, 26),
    files=(Tally(), Tally(3, 4.5, EditCounts(3, 1, 6, 2, 30, 1, 1, 1))),
    validation_edits=EditCounts(4, 6, 3, 30, 3, 2, 1, 1, 5, 3, 9),
)

LATER = {"substitutions", "insertions", "deletions", "syllable_edits", "toneless_syllable_edits", "syllables"}


def test_a_tally_is_the_same_at_both_ends() -> None:
    assert TallyBody.model_validate_json(json.dumps(TALLY.to_json())).tally() == TALLY


def test_a_recording_whose_name_is_not_utf_8_reaches_the_chief() -> None:
    alphabet = Alphabet(("a", "b"))
    utterance = Utterance(os.fsdecode(b"caf\xe9.wav"), "ab", alphabet.encode("ab"), 0, 0, 0, 0, "a.csv", 1)
    tally = Evaluation(CTCDecoder(alphabet.labels)).tally(utterance, np.eye(3, dtype=np.float32)[:1], 1.5)
    assert TallyBody.model_validate_json(json.dumps(tally.to_json())).tally() == tally
    assert [sample.wav for sample in tally.samples] == ["caf\\udce9.wav"]


def test_edits_of_an_older_worker_lack_their_kinds_and_syllables() -> None:
    older = {name: value for name, value in asdict(TALLY.edits).items() if name not in LATER}
    edits = TallyBody.model_validate_json(json.dumps(TALLY.to_json() | {"edits": older})).tally().edits
    assert edits == EditCounts(3, 1, 6, 2, 30)


@pytest.mark.parametrize("labels", [[1, 2, 3], [-1], ["a"], [1.5], 7, None])
def test_labels_that_no_worker_sends_are_refused(labels: object) -> None:
    with pytest.raises(ValidationError, match="labels_emitted"):
        TallyBody.model_validate_json(json.dumps(TALLY.to_json() | {"labels_emitted": labels}))


def test_a_job_of_more_steps_than_a_message_can_name_has_as_many_as_it_can() -> None:
    plans = {SetName.TRAIN: Plan(100_003, 1, "corpus")}
    training = TrainingCoordinator(ScheduleOptions(epoch=1, steps_per_job=10**9), plans, batches_per_step=3)
    jobs = [training.next_job() for _ in range(2)]
    told = [JobAnswer.of(job).batches for job in jobs if isinstance(job, Job)]
    assert list(map(len, told)) == [99_999, 4]
