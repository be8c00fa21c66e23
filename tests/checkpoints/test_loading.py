"""Checkpoints are loaded in few steps of the session, as TensorFlow prepares the graph for each of them, or refused."""

import json
import logging
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from checkpoint_sessions import IDENTITY, STATE, session_of, values

from deepspeech.checkpoints import sources
from deepspeech.checkpoints.store import Kind
from deepspeech.errors import CheckpointError

v1 = tf.compat.v1


class CountedSession:
    """A session that counts its steps."""

    def __init__(self, session: Any) -> None:
        self._session = session
        self.steps = 0

    def run(self, *arguments: Any) -> Any:
        self.steps += 1
        return self._session.run(*arguments)


@pytest.mark.parametrize(("bytes_at_once", "steps"), [(None, range(2, 3)), (20_000, range(3, 12)), (0, range(12, 100))])
def test_no_more_is_loaded_at_once_than_memory_is_meant_for_and_no_less(
    bytes_at_once: int | None, steps: range, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if bytes_at_once is not None:
        monkeypatch.setattr(sources, "_BYTES_AT_ONCE", bytes_at_once)
    with session_of(tmp_path, seed=1, ema_decay=0.9) as (checkpoints, session):
        before = values(session)
        prefix = checkpoints.save(session, Kind.NEWEST, STATE)
    with session_of(tmp_path, seed=2, ema_decay=0.9) as (checkpoints, session):
        counted = CountedSession(session)
        assert checkpoints.restore(counted, prefix) == STATE
        after = values(session)
    assert counted.steps in steps  # one gives all their initial values
    for name, value in before.items():
        np.testing.assert_array_equal(after[name], value, err_msg=name)


def test_variables_without_a_value_in_the_checkpoint_are_counted(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with session_of(tmp_path) as (checkpoints, session):
        prefix = checkpoints.save(session, Kind.NEWEST, STATE)
    with v1.Graph().as_default(), caplog.at_level(logging.INFO, "deepspeech"):
        variables = [v1.get_variable(name, shape=[]) for name in ("one", "other")]
        for count in (1, 2):
            assert not sources.find_sources(prefix, variables[:count], IDENTITY)
    assert [message.partition(" for ")[2] for message in caplog.messages] == [
        "1 variable, which gets its initial value",
        "2 variables, which get their initial values",
    ]


def test_variables_with_one_initial_value_get_their_own() -> None:
    with v1.Graph().as_default(), v1.Session() as session:
        initial = v1.zeros([2])
        first, second = (v1.get_variable(name, initializer=initial) for name in ("first", "second"))
        given = np.array([[1, 2], [3, 4]], np.float32)
        sources.assign(session, zip((first, second), given, strict=True))
        np.testing.assert_array_equal(session.run([first, second]), given)


@pytest.mark.parametrize(
    "change",
    [
        {"alphabet": ["a", []]},
        {"network": 3},
        {"network": {"name": "deepspeech", "layers": True}},
        {"network": {"name": "deepspeech", "layers": [7]}},
        {"features": []},
        {"state": {**STATE.to_json(), "epoch": float("inf")}},
    ],
)
def test_a_checkpoint_whose_description_has_parts_of_other_kinds_is_refused(
    change: dict[str, Any], tmp_path: Path
) -> None:
    with session_of(tmp_path) as (checkpoints, session):
        prefix = checkpoints.save(session, Kind.NEWEST, STATE)
        path = prefix.with_name(prefix.name + ".json")
        path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
        with pytest.raises(CheckpointError, match=f"{path}: not a"):
            checkpoints.restore(session, prefix)
