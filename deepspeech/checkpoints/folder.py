"""What lies in a folder of checkpoints: their files, and the index files that name the newest and the best."""

import json
import logging
import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

import tensorflow as tf

from ..errors import CheckpointError
from ..util.files.whole_files import unfinished_name, write_whole
from .identity import description_path, read_description
from .integrity import is_unfinished, step_of

v1 = tf.compat.v1
logger = logging.getLogger(__name__)

_LEFTOVER_FILE = re.compile(r".+\.tempstate\d+|\.writable-\d+")
_OF_SAVES = (".index*", ".data-*", ".json", "_temp*/*")
_LEFTOVER_FOLDER = re.compile(r"(train|best_dev)-\d+_temp.*")


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


@dataclass(frozen=True)
class IndexFile:
    """What an index file says: the checkpoint that it names, all that it lists (oldest first), or why it says nothing.

    Checkpoints are paths without extension.
    """

    named: Path | None = None
    listed: tuple[Path, ...] = ()
    trouble: str = ""


def read_index(folder: Path, kind: Kind) -> IndexFile:
    """Return what a folder's index file says, which is nothing if it is missing, empty, truncated or garbage."""
    path = folder / kind.index_file
    if not path.exists():
        return IndexFile(trouble=f"{path.name} is missing")
    try:
        state = v1.train.get_checkpoint_state(str(folder), kind.index_file)
    except (OSError, ValueError, tf.errors.OpError):
        state = None
    if state is None or not state.model_checkpoint_path:
        return IndexFile(trouble=f"{path.name} is damaged")
    listed = tuple(_moved_here(folder, Path(each)) for each in state.all_model_checkpoint_paths)
    return IndexFile(_moved_here(folder, Path(state.model_checkpoint_path)), listed)


def _moved_here(folder: Path, prefix: Path) -> Path:
    """Return a checkpoint as this folder holds it, if it does: TensorFlow names the folder that it was saved in."""
    here = folder / prefix.name
    return here if any(files_of(here)) else prefix


def write_index(folder: Path, kind: Kind, checkpoints: Sequence[Path]) -> None:
    """Have a folder's index file list these checkpoints, oldest first, and name the last of them; raise OSError."""
    names = [json.dumps(prefix.name, ensure_ascii=False) for prefix in checkpoints]
    lines = [f"model_checkpoint_path: {names[-1]}\n", *(f"all_model_checkpoint_paths: {name}\n" for name in names)]
    write_whole(folder / kind.index_file, "".join(lines).encode())


def checkpoints_in(folder: Path, kind: Kind) -> list[Path]:
    """Return all checkpoints of a kind that have files in a folder, whole or not, the lowest step first.

    A first save that was killed before its end has left none.
    """
    named = re.compile(rf"({kind.prefix}-\d+)\.(index|data-\d+-of-\d+)")
    matches = (named.fullmatch(path.name) for path in folder.glob(f"{kind.prefix}-*"))
    prefixes = {folder / match[1] for match in matches if match}
    return sorted((prefix for prefix in prefixes if not is_unfinished(prefix)), key=lambda prefix: step_of(prefix) or 0)


def files_of(prefix: Path) -> Iterator[Path]:
    """Yield the files of a checkpoint in the order in which they are removed: without the first, it is none."""
    for pattern in (".index", ".data-*", ".meta"):
        yield from sorted(prefix.parent.glob(prefix.name + pattern))
    if description_path(prefix).exists():
        yield description_path(prefix)


def remove_superseded(folder: Path, kind: Kind, superseded: Sequence[Path]) -> None:
    """Remove a folder's checkpoints of a kind that are too many, and descriptions of those that are gone.

    Why files stay that cannot be removed is said in the log. Raise OSError for a description.
    """
    for prefix in superseded:
        _remove_checkpoint(prefix)
    for path in folder.glob(f"{kind.prefix}-*.json"):
        prefix = path.with_suffix("")
        if not path.with_suffix(".index").exists() and step_of(prefix) is not None and _has_description(prefix):
            path.unlink(missing_ok=True)


def remove_failed(prefix: Path) -> None:
    """Remove what a save that failed has left of a checkpoint that was not there before, as far as that is possible."""
    for path in (path for pattern in _OF_SAVES for path in prefix.parent.glob(prefix.name + pattern)):
        with suppress(OSError):
            path.unlink(missing_ok=True)


def remove_leftovers(folder: Path) -> None:
    """Remove what saves that were killed have left in a folder and those in it, and nothing else; raise OSError.

    Only who holds the folder's lock may do so.
    """
    for path in (*folder.glob("*"), *folder.glob("graph/*")):
        if path.is_dir() and not path.is_symlink():
            if path.parent == folder and _LEFTOVER_FOLDER.fullmatch(path.name):
                shutil.rmtree(path)
        elif _LEFTOVER_FILE.fullmatch(path.name) or unfinished_name(path.name) is not None:
            path.unlink(missing_ok=True)


def _has_description(prefix: Path) -> bool:
    """Return whether the file of a checkpoint's description is one, and not a list of recordings of such a name."""
    try:
        return read_description(prefix) is not None
    except CheckpointError:
        return False


def _remove_checkpoint(prefix: Path) -> None:
    """Remove the files of a checkpoint, or say in the log why they stay."""
    try:
        for path in files_of(prefix):
            path.unlink(missing_ok=True)
    except OSError as error:
        logger.warning("%s: cannot be removed (%s); remove it to free its space", prefix, error.strerror)
