"""Checkpoints: weights, optimizer state and progress, written whole or not at all, and checked before they are used.

The variables are those of DeepSpeech 0.9, in TensorFlow's checkpoint format, as `train-STEP` and `best_dev-STEP`.
Beside each lies `NAME-STEP.json` with what the weights stand for (alphabet, features, network) and how far training had
come; a checkpoint without it, from DeepSpeech itself, is read all the same.
"""

import json
import logging
import os
from collections.abc import Mapping
from enum import Enum
from pathlib import Path
from typing import Any

import tensorflow as tf

from ..errors import CheckpointError
from ..network import Network
from ..options import CheckpointOptions
from ..schedule.state import TrainingState
from ..util.files.whole_files import write_whole
from .identity import (
    DESCRIPTION_FORMAT,
    ModelIdentity,
    check_described_network,
    check_identity,
    description_path,
    read_description,
)
from .initial_weights import initial_weights
from .sources import Source, find_sources

v1 = tf.compat.v1
logger = logging.getLogger(__name__)


class Kind(Enum):
    """Which of a folder's checkpoints is meant: the index file that names it, and the first part of its name."""

    NEWEST = ("checkpoint", "train")
    BEST = ("best_dev_checkpoint", "best_dev")

    @property
    def index_file(self) -> str:
        """The file that names the checkpoint."""
        return self.value[0]

    @property
    def prefix(self) -> str:
        """The first part of the names of the checkpoint's files."""
        return self.value[1]


class Checkpoints:
    """The checkpoints of one folder, for the variables of one graph."""

    def __init__(self, options: CheckpointOptions, graph: Any, identity: ModelIdentity) -> None:
        """Find the checkpoints of the folder; nothing is written."""
        self._options = options
        self._folder = options.directory
        self._identity = identity
        with graph.as_default():
            self._variables = v1.global_variables()
            self._initialize = v1.global_variables_initializer()
            self._global_step = v1.train.get_global_step()
            self._savers = {
                Kind.NEWEST: v1.train.Saver(self._variables, max_to_keep=options.max_to_keep, save_relative_paths=True),
                Kind.BEST: v1.train.Saver(self._variables, max_to_keep=1, save_relative_paths=True),
            }
            for kind, saver in self._savers.items():
                known = v1.train.get_checkpoint_state(str(self._folder), kind.index_file)
                saver.recover_last_checkpoints(known.all_model_checkpoint_paths if known else [])

    @property
    def network(self) -> Network:
        """The network whose checkpoints these are."""
        return self._identity.network

    def initialize(self, session: Any) -> None:
        """Give every variable its initial value: that of the graph to begin with, if there is one.

        Raise CheckpointError if that graph belongs to another model.
        """
        session.run(self._initialize)
        path = self._options.initial_graph
        if path is not None:
            variables = {variable.op.name: variable for variable in self._variables}
            network = self._identity.network
            values = initial_weights(path, network, self._identity.alphabet, self._options.drop_source_layers)
            for name, value in values.items():
                _assign(session, variables[name], value)
            logger.info("Beginning with %d of the %d weights of %s", len(values), len(network.variables), path)

    def save(self, session: Any, kind: Kind, state: TrainingState) -> Path:
        """Write a checkpoint and make it the folder's newest or best.

        Raise CheckpointError if it cannot be written; the last one is kept.
        """
        step = int(session.run(self._global_step))
        prefix = self._folder / f"{kind.prefix}-{step}"
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            description = json.dumps(self._description(step, state), ensure_ascii=False)
            write_whole(description_path(prefix), description.encode())
            self._savers[kind].save(
                session,
                str(self._folder / kind.prefix),
                global_step=step,
                latest_filename=kind.index_file,
                write_meta_graph=False,
            )
        except (OSError, tf.errors.OpError) as error:
            _remove_files_of(prefix, unless_indexed_by=self._folder / kind.index_file)
            raise CheckpointError(_not_written(prefix, error)) from error
        self._remove_orphaned_descriptions(kind)
        return prefix

    def find(self, kind: Kind) -> Path | None:
        """Return the path (without extension) of the folder's newest or best checkpoint, if there is one.

        Raise CheckpointError if the folder names one whose files are gone.
        """
        state = v1.train.get_checkpoint_state(str(self._folder), kind.index_file)
        if not state:
            return None
        prefix = Path(state.model_checkpoint_path)
        if not prefix.with_name(prefix.name + ".index").exists():
            raise CheckpointError(f"{self._folder / kind.index_file}: names {prefix.name}, but its files are gone")
        return prefix

    def choose(self, purpose: str) -> Path:
        """Return the checkpoint to test or infer with, and log it: that of lowest validation loss, or else the newest.

        Raise CheckpointError if the folder holds no checkpoint.
        """
        for kind, words in (
            (Kind.BEST, "the checkpoint of lowest validation loss"),
            (Kind.NEWEST, "the newest checkpoint"),
        ):
            prefix = self.find(kind)
            if prefix is not None:
                logger.info("%s with %s, %s", purpose, words, prefix)
                return prefix
        raise CheckpointError(
            f"--checkpoint_dir={self._folder}: holds no checkpoint; train first, or name another folder"
        )

    def restore(self, session: Any, prefix: Path) -> TrainingState | None:
        """Load a checkpoint into the session; variables of the optimizer that it lacks get their initial value.

        Return how far training had come, if the checkpoint says so. Raise CheckpointError if it does not fit.
        """
        description = read_description(prefix)
        check_described_network(prefix, description, self._identity)
        sources = find_sources(prefix, self._variables, self._identity)
        check_identity(prefix, description, self._identity)
        session.run(self._initialize)
        self._load(session, prefix, sources)
        if description is None:
            return None
        try:
            return TrainingState.from_json(description["state"])
        except (KeyError, TypeError, ValueError) as error:
            raise CheckpointError(f"{description_path(prefix)}: not a checkpoint's description ({error!r})") from error

    def check_writable(self) -> None:
        """Raise CheckpointError if the folder cannot be made or written to."""
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            trial = self._folder / f".writable-{os.getpid()}"
            trial.write_bytes(b"")
            trial.unlink()
        except OSError as error:
            raise CheckpointError(
                f"--checkpoint_dir={self._folder}: cannot be written ({error.strerror}); choose another folder"
            ) from error

    def _load(self, session: Any, prefix: Path, sources: Mapping[str, Source]) -> None:
        by_name = {variable.op.name: variable for variable in self._variables}
        reader = tf.train.load_checkpoint(str(prefix))
        for name, source in sources.items():
            _assign(session, by_name[name], source.read(reader))

    def _description(self, step: int, state: TrainingState) -> dict[str, Any]:
        return {
            "format": DESCRIPTION_FORMAT,
            "global_step": step,
            **self._identity.to_json(),
            "state": state.to_json(),
        }

    def _remove_orphaned_descriptions(self, kind: Kind) -> None:
        for path in self._folder.glob(f"{kind.prefix}-*.json"):
            if not path.with_suffix(".index").exists():
                path.unlink(missing_ok=True)


def _assign(session: Any, variable: Any, value: Any) -> None:
    session.run(variable.initializer, {variable.initializer.inputs[1]: value})


def _remove_files_of(prefix: Path, *, unless_indexed_by: Path) -> None:
    """Remove what a failed save left, but not a whole checkpoint of the same step that was there before."""
    try:
        known = unless_indexed_by.read_text(encoding="utf-8")
    except OSError:
        known = ""
    if f'"{prefix.name}"' in known:
        return
    for path in (*prefix.parent.glob(prefix.name + ".*"), *prefix.parent.glob(prefix.name + "_temp*/*")):
        path.unlink(missing_ok=True)


def _not_written(prefix: Path, error: Exception) -> str:
    reason = getattr(error, "message", None) or getattr(error, "strerror", None) or error
    first_line = str(reason).strip().splitlines()[0]
    return (
        f"{prefix}: checkpoint cannot be written ({first_line}); "
        "earlier checkpoints are untouched: free disk space, then run the same command again to go on"
    )
