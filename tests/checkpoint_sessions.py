"""Sessions over a small graph, with the checkpoints of a folder."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

import tensorflow as tf

from deepspeech.checkpoints.folder import Kind
from deepspeech.checkpoints.identity import ModelIdentity
from deepspeech.checkpoints.store import Checkpoints
from deepspeech.options import CheckpointOptions, ModelOptions, OptimizerOptions, SessionOptions
from deepspeech.schedule.state import TrainingState
from deepspeech.training.graph import build_training_graph
from deepspeech.training.towers import GraphSettings
from deepspeech.util.features import FeatureOptions
from deepspeech.util.text import Alphabet

v1 = tf.compat.v1
IDENTITY = ModelIdentity(Alphabet(tuple(" abcde")), FeatureOptions(), ModelOptions(n_hidden=12))
STATE = TrainingState(epoch=2, requested_epoch=5, target_epoch=5, dev_losses=(3.0, 2.0))


@contextmanager
def session_of(
    folder: Path,
    identity: ModelIdentity = IDENTITY,
    *,
    seed: int = 1,
    trains: bool = True,
    ema_decay: float = 0.0,
    **options: Any,
) -> Iterator[tuple[Checkpoints, Any]]:
    """Yield the checkpoints of a folder, with CheckpointOptions of these `options`, and a session with new weights."""
    optimizer = OptimizerOptions(ema_decay=ema_decay) if trains else None
    graph = _graph_of(GraphSettings(identity.network, SessionOptions(), seed, optimizer, identity.features))
    checkpoints = Checkpoints(folder, CheckpointOptions(**options), graph, identity)
    with v1.Session(graph=graph) as session:
        checkpoints.initialize(session)
        yield checkpoints, session


@lru_cache(maxsize=8)
def _graph_of(settings: GraphSettings) -> Any:
    """Return a graph for several sessions, as building it takes longer than all else that a test does with it."""
    return build_training_graph(("/cpu:0",), settings).graph


def values(session: Any) -> dict[str, Any]:
    with session.graph.as_default():
        variables = {variable.op.name: variable for variable in v1.global_variables()}
    return dict(session.run(variables))


def set_step(session: Any, step: int) -> None:
    with session.graph.as_default():
        session.run(v1.train.get_global_step().initializer, {v1.train.get_global_step().initializer.inputs[1]: step})


def save(folder: Path, *steps: int, kind: Kind = Kind.NEWEST, state: TrainingState = STATE, keep: int = 5) -> None:
    """Save checkpoints of a kind at some steps, and keep as many."""
    with session_of(folder, max_to_keep=keep) as (checkpoints, session):
        for step in steps:
            set_step(session, step)
            checkpoints.save(session, kind, state)


def steps(folder: Path, kind: str = "train") -> list[int]:
    """Return the steps of the checkpoints in a folder."""
    return sorted(int(path.stem.split("-")[1]) for path in folder.glob(f"{kind}-*.index"))
