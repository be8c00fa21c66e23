"""The choice of a folder's checkpoint for a test, a transcription, an export or the start of training."""

import logging
from collections.abc import Callable
from pathlib import Path

from ..errors import CheckpointError
from ..options import CheckpointOptions
from ..options.checkpoints import AUTOMATIC, BEST, LAST
from ..options.training.epochs import LOSS, in_words
from ..util.storage.copies import named_for_all
from .flag_check import check_named, nothing_to_begin_with
from .folder import Kind, checkpoints_in, names_checkpoints
from .folder_reading import index_path
from .integrity import damage, step_of
from .recovery import NoneIntactError, find_intact, progress_of
from .weights.model_weights import graph_in, is_graph

logger = logging.getLogger(__name__)

Find = Callable[[Kind], Path | None]
"""Returns a folder's intact checkpoint of a kind, if there is any; raises NoneIntactError if none is intact."""


def choose(folder: Path, wanted: str, find: Find, purpose: str, *, trained: bool = False) -> Path:
    """Return the checkpoint of a folder that the flag `checkpoint` selects, and log it after the purpose.

    If this run has `trained` in the folder, the flag may name a checkpoint that is no longer there: then the choice is
    the same as without the flag. Raise CheckpointError if the folder has no such checkpoint, or it is damaged.
    """
    if wanted == AUTOMATIC or (trained and not _is_there(folder, wanted)):
        prefix, words, reason = _automatic(folder, find)
    else:
        prefix, reason = _wanted(folder, wanted, find), ""
        of_kind = {BEST: f"the checkpoint of {_lowest(prefix)}", LAST: "the newest checkpoint"}
        words = of_kind.get(wanted, "the checkpoint that --checkpoint names")
    logger.info("%s with %s, %s%s", purpose, words, named_for_all(prefix), reason)
    return prefix


def choose_to_begin(options: CheckpointOptions, unless_wanted: str) -> Path:
    """Return the checkpoint of another folder that training starts from, and log it.

    `unless_wanted` selects it if the flag `checkpoint` does not. Raise CheckpointError if there is none.
    """
    folder = options.load_directory
    if not names_checkpoints(folder):
        raise nothing_to_begin_with(folder)
    wanted = unless_wanted if options.wanted == AUTOMATIC else options.wanted
    return choose(folder, wanted, lambda kind: find_intact(folder, kind, set()), "Beginning")


def _is_there(folder: Path, wanted: str) -> bool:
    if wanted == BEST:
        return bool(checkpoints_in(folder, Kind.BEST))
    return wanted == LAST or index_path(folder / wanted).exists()


def _wanted(folder: Path, wanted: str, find: Find) -> Path:
    if wanted not in (BEST, LAST):
        check_named(folder, wanted)
        prefix = folder / wanted
        trouble = damage(prefix)
        if trouble:
            raise CheckpointError(f"{named_for_all(folder)}: {trouble}; give another --checkpoint")
        return prefix
    found = find(Kind.BEST) if wanted == BEST else find(Kind.NEWEST) or find(Kind.BEST)
    if found is None:
        what = "best checkpoint of a validation" if wanted == BEST else "newest checkpoint"
        those = _those_in(folder)
        raise CheckpointError(f"--checkpoint={wanted}: {named_for_all(folder)} holds no {what}{those}")
    return found


def _those_in(folder: Path) -> str:
    names = [prefix.name for kind in Kind for prefix in checkpoints_in(folder, kind)]
    return f"; there are {', '.join(names)}" if names else ""


def _automatic(folder: Path, find: Find) -> tuple[Path, str, str]:
    """Return the best checkpoint or else the newest, its name in words, and the reason if it is not the best.

    The newest is also used if training continued from the best without validation.
    """
    found: dict[Kind, Path] = {}
    damaged = None
    for kind in (Kind.BEST, Kind.NEWEST):
        try:
            prefix = find(kind)
        except NoneIntactError as error:
            damaged = damaged or error
            continue
        if prefix is not None:
            found[kind] = prefix
    best, newest = found.get(Kind.BEST), found.get(Kind.NEWEST)
    if best is not None and (newest is None or not _is_outdated(best, newest)):
        return best, f"the checkpoint of {_lowest(best)}", ""
    if damaged is not None:
        if newest is None:
            raise damaged
        logger.warning("%s", damaged.found)
    if newest is None:
        raise _none_in(folder)
    reason = ""
    if best is not None:
        reason = (
            f": training continued without validation after that of {_lowest(best)}, {best.name}, which "
            "--checkpoint=best selects"
        )
    return newest, "the newest checkpoint", reason


def _none_in(folder: Path) -> CheckpointError:
    named = named_for_all(folder)
    if is_graph(graph := graph_in(folder)):
        return CheckpointError(
            f"{named}: holds an exported graph, and no checkpoint; transcribe with deepspeech --model {graph}, and "
            f"test with python -m deepspeech.evaluate --model {graph}"
        )
    return CheckpointError(f"{named}: holds no checkpoint; train first, or name its folder with --checkpoint_dir")


def _lowest(best: Path) -> str:
    """Return the figure in validation by which a folder's best checkpoint is the lowest, in words."""
    progress = progress_of(best)
    return f"lowest validation {in_words(progress.best_by if progress is not None else LOSS)}"


def _is_outdated(best: Path, newest: Path) -> bool:
    progress = progress_of(newest)
    later = (step_of(newest) or 0) > (step_of(best) or 0)
    return later and progress is not None and progress.trained_without_validation
