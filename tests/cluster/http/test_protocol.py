import json
from dataclasses import asdict

import pytest
from pydantic import ValidationError

from deepspeech.cluster.http.protocol import TallyBody
from deepspeech.schedule.jobs import Sample, Tally
from deepspeech.util.figures.metrics import EditCounts

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


def test_edits_of_an_older_worker_lack_their_kinds_and_syllables() -> None:
    older = {name: value for name, value in asdict(TALLY.edits).items() if name not in LATER}
    edits = TallyBody.model_validate_json(json.dumps(TALLY.to_json() | {"edits": older})).tally().edits
    assert edits == EditCounts(3, 1, 6, 2, 30)


@pytest.mark.parametrize("labels", [[1, 2, 3], [-1], ["a"], [1.5], 7, None])
def test_labels_that_no_worker_sends_are_refused(labels: object) -> None:
    with pytest.raises(ValidationError, match="labels_emitted"):
        TallyBody.model_validate_json(json.dumps(TALLY.to_json() | {"labels_emitted": labels}))
