"""Finding a checkpoint that is whole where a folder's index file is lost or names one that is damaged."""

import logging
from pathlib import Path

from ..errors import CheckpointError
from ..schedule.state import TrainingState
from .folder import Kind, checkpoints_in, files_of, read_index
from .identity import description_path, read_description
from .integrity import damage, step_of

logger = logging.getLogger(__name__)


class NoneIntactError(CheckpointError):
    """A folder holds checkpoints of a kind, but none is whole."""

    def __init__(self, found: str, advice: str = "") -> None:
        """Take what was found, naming the folder and the files, and what to do."""
        super().__init__(f"{found}; {advice}" if advice else found)
        self.found = found


def find_intact(folder: Path, kind: Kind, damaged: set[Path]) -> Path | None:
    """Return a folder's newest or best checkpoint whose files are whole, if there is any checkpoint of that kind.

    It is the one that the index file names, or else the first that is whole of those that lie in the folder, which is
    said in a line of the log. What is found to be damaged is added to `damaged`. Raise NoneIntactError if none is.
    """
    index = read_index(folder, kind)
    candidates = checkpoints_in(folder, kind)
    if index.named is None and not candidates:
        return None
    if index.named is not None and index.named not in candidates:
        if not candidates and not any(files_of(index.named)):
            raise NoneIntactError(
                f"--checkpoint_dir={folder}: {kind.index_file} names {index.named.name}, but its files are gone",
                f"put them back, or begin anew in another --checkpoint_dir or after removing {kind.index_file}",
            )
        candidates.append(index.named)
    candidates.sort(key=lambda prefix: _preference(prefix, kind, index.named))
    remarks = [index.trouble] if index.trouble else []
    if index.named not in (None, candidates[0]):
        remarks.append(f"{description_path(index.named).name} is missing")
    for prefix in candidates:
        found = damage(prefix)
        if not found:
            if remarks:
                which = "newest" if kind is Kind.NEWEST else "best"
                logger.warning("%s: %s; %s is the %s that is intact", folder, ", ".join(remarks), prefix.name, which)
            return prefix
        damaged.add(prefix)
        remarks.append(found)
    there = [kind.index_file] if (folder / kind.index_file).exists() else []
    names = ", ".join([*(f"{prefix.name}.*" for prefix in candidates), *there])
    raise NoneIntactError(
        f"--checkpoint_dir={folder}: holds no intact {kind.prefix} checkpoint: {', '.join(remarks)}",
        f"put one back, or begin anew in another --checkpoint_dir or after removing {names}",
    )


def validation_loss(prefix: Path) -> float | None:
    """Return the lowest validation loss up to a checkpoint, as its description says it; None if it says nothing."""
    progress = progress_of(prefix)
    return None if progress is None else progress.best_dev_loss


def progress_of(prefix: Path) -> TrainingState | None:
    """Return how far training had come at a checkpoint, as its description says it; None if it says nothing."""
    try:
        description = read_description(prefix)
        return None if description is None else TrainingState.from_json(description["state"])
    except (CheckpointError, KeyError, TypeError, ValueError):
        return None


def _preference(prefix: Path, kind: Kind, named: Path | None) -> tuple[bool, bool, float, int]:
    """Return what checkpoints are sorted by: those first that say how far training had come.

    Of these comes first what the index file names, then the newest, or those of the lowest validation loss.
    """
    loss = validation_loss(prefix) if kind is Kind.BEST else None
    described = description_path(prefix).exists()
    return not described, prefix != named, float("inf") if loss is None else loss, -(step_of(prefix) or 0)
