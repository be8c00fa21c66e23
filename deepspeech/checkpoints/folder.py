"""The files in a folder of checkpoints: those of each checkpoint, and the index files that name the newest and best."""

import json
import logging
import re
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

import tensorflow as tf

from ..errors import CheckpointError
from ..util.files.whole_files import unfinished_name, write_whole
from .folder_reading import BEST_INDEX, NEWEST_INDEX, index_path
from .identity import description_path, read_description
from .integrity import is_unfinished, step_of

v1 = tf.compat.v1
logger = logging.getLogger(__name__)

_LEFTOVER_FILE = re.compile(r".+\.tempstate\d+|\.writable-\d+")
_OF_SAVES = (".index*", ".data-*", ".json", "_temp*/*")
_LEFTOVER_FOLDER = re.compile(r"(train|best_dev)-\d+_temp.*")


class Kind(Enum):
    """The newest or the best checkpoint: the index file that names it, and the first part of its name."""

    NEWEST = (NEWEST_INDEX, "train")
    BEST = (BEST_INDEX, "best_dev")

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
    """The contents of an index file: the checkpoint that it names, all that it lists (oldest first), or its fault.

    Checkpoints are paths without extension.
    """

    named: Path | None = None
    listed: tuple[Path, ...] = ()
    trouble: str = ""


def read_index(folder: Path, kind: Kind) -> IndexFile:
    """Return the contents of a folder's index file; none if it is missing, empty, truncated or garbage."""
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
    """Return a checkpoint's path in this folder if it is here: TensorFlow names the folder where it was saved."""
    here = folder / prefix.name
    return here if any(files_of(here)) else prefix


def write_index(folder: Path, kind: Kind, checkpoints: Sequence[Path]) -> None:
    """Write an index file that lists these checkpoints, oldest first, and names the last of them; raise OSError."""
    names = [json.dumps(prefix.name, ensure_ascii=False) for prefix in checkpoints]
    lines = [f"model_checkpoint_path: {names[-1]}\n", *(f"all_model_checkpoint_paths: {name}\n" for name in names)]
    write_whole(folder / kind.index_file, "".join(lines).encode())


def checkpoints_in(folder: Path, kind: Kind) -> list[Path]:
    """Return all checkpoints of a kind that have files in a folder, intact or not, the lowest step first.

    A first save that was killed before its end does not count.
    """
    named = re.compile(rf"({kind.prefix}-\d+)\.(index|data-\d+-of-\d+)")
    matches = (named.fullmatch(path.name) for path in folder.glob(f"{kind.prefix}-*"))
    prefixes = {folder / match[1] for match in matches if match}
    return sorted((prefix for prefix in prefixes if not is_unfinished(prefix)), key=lambda prefix: step_of(prefix) or 0)


def names_checkpoints(folder: Path) -> bool:
    """Return whether a folder has files of a checkpoint, or an index file that names one."""
    return any(checkpoints_in(folder, kind) or read_index(folder, kind).named for kind in Kind)


def files_of(prefix: Path) -> Iterator[Path]:
    """Yield the files of a checkpoint in the order of removal: without the first file, it is no longer a checkpoint."""
    for pattern in (".index", ".data-*", ".meta"):
        yield from sorted(prefix.parent.glob(prefix.name + pattern))
    if description_path(prefix).exists():
        yield description_path(prefix)


def remove_superseded(folder: Path, kind: Kind, superseded: Sequence[Path]) -> None:
    """Remove a folder's superseded checkpoints of a kind, and descriptions without a checkpoint.

    Log why files cannot be removed.
    """
    for prefix in superseded:
        _remove(prefix, files_of(prefix))
    for path in folder.glob(f"{kind.prefix}-*.json"):
        prefix = path.with_suffix("")
        if not index_path(prefix).exists() and step_of(prefix) is not None and _has_description(prefix):
            _remove(path, [path])


def remove_failed(prefix: Path) -> None:
    """Remove what a save that failed has left of a checkpoint that was not there before, as far as that is possible."""
    for path in (path for pattern in _OF_SAVES for path in prefix.parent.glob(prefix.name + pattern)):
        with suppress(OSError):
            path.unlink(missing_ok=True)


def remove_leftovers(folder: Path) -> None:
    """Remove only what killed saves left in a folder and its subfolders; raise OSError.

    The caller must hold the folder's lock.
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


def _remove(named: Path, files: Iterable[Path]) -> None:
    """Remove files, or log why what they belong to cannot be removed."""
    try:
        for path in files:
            path.unlink(missing_ok=True)
    except OSError as error:
        logger.warning("%s: cannot be removed (%s); remove it to free its space", named, error.strerror)
