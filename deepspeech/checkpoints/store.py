"""Checkpoints: weights, optimizer state and progress, written whole or not at all, and checked before they are used.

The variables are those of DeepSpeech 0.9, in TensorFlow's checkpoint format, as `train-STEP` and `best_dev-STEP`.
Beside each is `NAME-STEP.json` with the model's identity (alphabet, features, network), the training progress, and
digests of all files. A checkpoint without this file, as DeepSpeech itself writes, can also be read.
"""

import logging
import os
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import tensorflow as tf

from ..errors import CheckpointError
from ..network import Network
from ..options import CheckpointOptions
from ..options.checkpoints import AUTOMATIC
from ..schedule.state import TrainingState
from ..util.files.writable import reason_of
from ..util.storage.folders import try_to_send
from .choice import choose
from .flag_check import check_named
from .folder import Kind, checkpoints_in, read_index, remove_failed, remove_leftovers, remove_superseded
from .folder_reading import index_path
from .identity import (
    ANOTHER_FOLDER,
    BEGIN_WITHOUT,
    DESCRIPTION_FORMAT,
    ModelIdentity,
    check_described_network,
    check_identity,
    description_path,
    read_description,
    write_description,
)
from .integrity import begin_writing, finished
from .recovery import (
    NoneIntactError,
    best_beside,
    best_of,
    find_intact,
    finish_save_of_best,
    is_among_best,
    last_saved,
    list_as_last,
    name_in_index,
    progress_of,
    warn_without_description,
)
from .sources import begin_averages, find_sources, load, load_mean, removal_in_words
from .weights.beginning import begin_with_checkpoint, begin_with_file

__all__ = ["Checkpoints", "Kind"]

v1 = tf.compat.v1
logger = logging.getLogger(__name__)


class Checkpoints:
    """The checkpoints of one folder, for the variables of one graph."""

    def __init__(
        self,
        folder: Path,
        options: CheckpointOptions,
        graph: Any,
        identity: ModelIdentity,
        send: Callable[[Path], None] = try_to_send,
    ) -> None:
        """Collect the graph's variables; read and write nothing. `send` is called with the folder after each save."""
        self._options = options
        self._folder = folder
        self._identity = identity
        self.send = partial(send, folder)  # sends new files of the folder, also those that are no checkpoints
        self._damaged: set[Path] = set()
        self._restored: Path | None = None
        self.restored_names: tuple[str, ...] = ()  # of the restored checkpoint, or of those whose mean was restored
        self.last_here: Path | None = None  # the last checkpoint of this folder that was saved or restored
        with graph.as_default():
            self._variables = v1.global_variables()
            self._initialize = tf.group(v1.global_variables_initializer(), v1.local_variables_initializer())
            self._global_step = v1.train.get_global_step()
            self._saver = v1.train.Saver(self._variables)

    @property
    def network(self) -> Network:
        """The network of these checkpoints."""
        return self._identity.network

    @property
    def last_saved_at(self) -> float | None:
        """The time, as of `time.monotonic`, when the folder's last saved or restored checkpoint was written."""
        if self.last_here is None:
            return None
        with suppress(OSError):
            return time.monotonic() - max(time.time() - description_path(self.last_here).stat().st_mtime, 0.0)
        return None

    @property
    def restored_from_elsewhere(self) -> bool:
        """Whether the restored checkpoint is a best one or from another folder, not one of this folder's newest."""
        prefix = self._restored
        if prefix is None:
            return False
        here = prefix.parent.resolve() == self._folder.resolve()
        return not (here and prefix.name.startswith(f"{Kind.NEWEST.prefix}-"))

    def initialize(self, session: Any) -> None:
        """Set every variable to its initial value, which is that of the file of initial weights if there is one.

        Raise CheckpointError if that file belongs to another model.
        """
        session.run(self._initialize)
        begin_with_file(session, self._variables, self._options, self._identity)
        begin_averages(session, self._variables)

    def initialize_from(self, session: Any, prefix: Path) -> None:
        """Set every variable to its initial value: that of the checkpoint at `prefix`, except for dropped layers.

        Raise CheckpointError if that checkpoint belongs to another model.
        """
        session.run(self._initialize)
        with removal_in_words(prefix):
            begin_with_checkpoint(session, self._variables, self._options, self._identity, prefix)
        begin_averages(session, self._variables)

    def save(self, session: Any, kind: Kind, state: TrainingState) -> Path:
        """Write a checkpoint and make it the folder's newest or best.

        Raise CheckpointError if it cannot be written; the last one is kept.
        """
        step = int(session.run(self._global_step))
        prefix = self._folder / f"{kind.prefix}-{step}"
        was_there = index_path(prefix).exists()
        description = self._description(step, state)
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            begin_writing(prefix, description, was_there=was_there)
            self._saver.save(session, str(prefix), write_meta_graph=False, write_state=False)
            write_description(prefix, finished(description, prefix))
            self._damaged.discard(prefix)
            superseded = list_as_last(self._folder, kind, prefix, self._damaged, self._options)
        except (OSError, tf.errors.OpError) as error:
            if not was_there:
                remove_failed(prefix)
            raise CheckpointError(_not_written(prefix, error)) from error
        self.last_here = prefix
        remove_superseded(self._folder, kind, superseded)
        self.send()
        return prefix

    def find(self, kind: Kind) -> Path | None:
        """Return the path (without extension) of the folder's newest or best checkpoint, if there is one.

        If that one is damaged or the index file is lost, return and log another one. Raise CheckpointError if none is
        intact, or the index file names one whose files are gone.
        """
        return find_intact(self._folder, kind, self._damaged)

    def find_newest(self) -> Path | None:
        """Return the checkpoint to continue training from, if there is one: the intact one of the highest step.

        It is a best checkpoint if that has training progress and was saved after the newest intact one. Lost index
        files are written again, so the folder must be locked for training. Raise CheckpointError if there are
        checkpoints, but none is intact.
        """
        newest, best = self._find_to_train(Kind.NEWEST), self._find_to_train(Kind.BEST)
        found = newest if isinstance(newest, Path) else best
        if isinstance(found, Path):
            last = last_saved(self._folder, found, self._damaged)
            best = best if isinstance(best, Path) else None
            finish_save_of_best(self._folder, last, best, self._damaged, self._options)
            if isinstance(newest, NoneIntactError):
                logger.warning("%s; %s is intact", newest.found, last.name)
            return last
        for error in (newest, best):
            if isinstance(error, NoneIntactError):
                raise error
        return None

    def best_figure(self, state: TrainingState) -> float:
        """Return the figure of the best checkpoint; infinite if no intact one has a figure.

        It is also infinite if no figure can be compared with those of a run in this state. If only that of the best
        checkpoint cannot, the best of the others becomes the folder's best.
        """
        best = self._find_to_train(Kind.BEST)
        if isinstance(best, CheckpointError):
            logger.warning("%s; the next best checkpoint replaces it", best.found)
        comparable = best_beside(state, self._folder, best, self._damaged) if isinstance(best, Path) else None
        progress = None if comparable is None else progress_of(comparable)
        return float("inf") if progress is None else progress.newest_dev_figure

    def is_among_best(self, state: TrainingState) -> bool:
        """Return whether the newest validation is among the best of this folder that are averaged."""
        others = [each for each in checkpoints_in(self._folder, Kind.BEST) if each not in self._damaged]
        return is_among_best(state, others, self._options.averaged)

    def choose(self, purpose: str, *, trained: bool = False) -> Path:
        """Return the checkpoint that the flag `checkpoint` selects, and log it; see `deepspeech.checkpoints.choice`.

        If this run has `trained`, and began in another folder, the flag selected the checkpoint there, and none here.
        """
        wanted = AUTOMATIC if trained and self._options.begins_elsewhere else self._options.wanted
        return choose(self._folder, wanted, self.find, purpose, trained=trained)

    def restore(self, session: Any, prefix: Path, *, to_use: bool = False) -> TrainingState | None:
        """Load a checkpoint into the session; variables of the optimizer that it lacks get their initial value.

        With `to_use`, the weights get the values of their moving averages if the checkpoint holds these. Return the
        training progress, if the checkpoint has it. Raise CheckpointError if it does not fit.
        """
        description = read_description(prefix)
        here = prefix.parent.resolve() == self._folder.resolve()
        otherwise = ANOTHER_FOLDER if here else BEGIN_WITHOUT
        check_described_network(prefix, description, self._identity, otherwise)
        with removal_in_words(prefix):
            sources = find_sources(prefix, self._variables, self._identity, averaged=to_use)
            check_identity(prefix, description, self._identity, otherwise)
            session.run(self._initialize)
            load(session, prefix, self._variables, sources)
        self._restored, self.restored_names = prefix, (prefix.name,)
        by_name = prefix.name == self._options.wanted
        if to_use and self._options.averaged > 1 and prefix.name.startswith(Kind.BEST.prefix) and not by_name:
            self._load_mean_of_best(session, prefix)
        if here:
            self.last_here = prefix
        if description is None:
            warn_without_description(prefix)
            return None
        try:
            return TrainingState.from_json(description["state"])
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise CheckpointError(f"{description_path(prefix)}: not a checkpoint's description ({error!r})") from error

    def _load_mean_of_best(self, session: Any, best: Path) -> None:
        prefixes = best_of(best.parent, self._options.averaged, best)
        with removal_in_words(*prefixes):
            load_mean(session, prefixes, self._variables, self._identity)
        self.restored_names = tuple(prefix.name for prefix in prefixes)
        if len(prefixes) > 1:
            logger.info("The weights are the mean of %s", ", ".join(self.restored_names))

    def go_back_to_best(self, session: Any) -> Path | None:
        """Load the best checkpoint's weights and optimizer, but no step counts; return it, None if there is none."""
        best = self._find_to_train(Kind.BEST)
        if not isinstance(best, Path):
            return None
        variables = [variable for variable in self._variables if variable.dtype.is_floating]
        load(session, best, variables, find_sources(best, variables, self._identity))
        return best

    def prepare_folder(self) -> None:
        """Make the folder, which must be locked for training, and remove what killed saves left in it.

        Raise CheckpointError if it cannot be made or written to, or lacks the checkpoint that the flag names.
        """
        if not self._options.begins_elsewhere:
            check_named(self._folder, self._options.wanted)
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            remove_leftovers(self._folder)
            trial = self._folder / f".writable-{os.getpid()}"
            trial.write_bytes(b"")
            trial.unlink()
        except OSError as error:
            raise CheckpointError(
                f"--checkpoint_dir={self._folder}: cannot be written ({error.strerror}); choose another folder"
            ) from error

    def _description(self, step: int, state: TrainingState) -> dict[str, Any]:
        return {
            "format": DESCRIPTION_FORMAT,
            "global_step": step,
            **self._identity.to_json(),
            "state": state.to_json(),
        }

    def _find_to_train(self, kind: Kind) -> Path | NoneIntactError | None:
        """Return the newest or best checkpoint and write it to the index file, or the error that none is intact."""
        try:
            prefix = self.find(kind)
        except NoneIntactError as error:
            return error
        if prefix is not None and prefix != read_index(self._folder, kind).named:
            name_in_index(self._folder, kind, prefix, self._damaged)
        return prefix


def _not_written(prefix: Path, error: Exception) -> str:
    return (
        f"{prefix}: checkpoint cannot be written ({reason_of(error)}); "
        "earlier checkpoints are untouched: free disk space, then run the same command again to continue"
    )
