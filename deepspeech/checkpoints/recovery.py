"""The search for an intact checkpoint if a folder's index file is lost or names a damaged one."""

import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from itertools import combinations
from pathlib import Path

from ..errors import CheckpointError
from ..options import CheckpointOptions
from ..schedule.state import TrainingState
from ..util.storage.copies import named_for_all
from .folder import Kind, checkpoints_in, files_of, read_index, remove_superseded, write_index
from .identity import description_path, read_description
from .integrity import damage, step_of

logger = logging.getLogger(__name__)


class NoneIntactError(CheckpointError):
    """A folder holds checkpoints of a kind, but none is intact."""

    def __init__(self, found: str, advice: str) -> None:
        """Store the findings, which name the folder and the files, and add advice."""
        super().__init__(f"{found}; {advice}")
        self.found = found


def find_intact(folder: Path, kind: Kind, damaged: set[Path]) -> Path | None:
    """Return a folder's newest or best checkpoint that is intact, None if the folder has no checkpoint of that kind.

    It is the one that the index file names, or else the first intact one in the folder, which is logged. Damaged
    checkpoints are added to `damaged`. Raise NoneIntactError if none is intact.
    """
    index = read_index(folder, kind)
    candidates, named = checkpoints_in(folder, kind), named_for_all(folder)
    if index.named is None and not candidates:
        return None
    if index.named is not None and index.named not in candidates:
        if not candidates and not any(files_of(index.named)):
            raise NoneIntactError(
                f"--checkpoint_dir={named}: {kind.index_file} names {index.named.name}, but its files are gone",
                f"restore them, or start again in another --checkpoint_dir or after removing {kind.index_file}",
            )
        candidates.append(index.named)
    candidates.sort(key=_preference(candidates, kind, index.named))
    remarks = [index.trouble] if index.trouble else []
    if index.named not in (None, candidates[0]):
        remarks.append(f"{description_path(index.named).name} is missing")
    for prefix in candidates:
        found = damage(prefix)
        if not found:
            if remarks:
                which = "newest" if kind is Kind.NEWEST else "best"
                chosen = f"{prefix.name} is the {which} intact {kind.prefix} checkpoint"
                logger.warning("%s: %s; %s", named, ", ".join(remarks), chosen)
            return prefix
        damaged.add(prefix)
        remarks.append(found)
    there = [kind.index_file] if (folder / kind.index_file).exists() else []
    names = ", ".join([*(f"{prefix.name}.*" for prefix in candidates), *there])
    raise NoneIntactError(
        f"--checkpoint_dir={named}: holds no intact {kind.prefix} checkpoint: {', '.join(remarks)}",
        f"restore one, or start again in another --checkpoint_dir or after removing {names}",
    )


def best_of(folder: Path, count: int, best: Path) -> list[Path]:
    """Return the best checkpoint and the next best ones of a folder in validation, at most `count` in all.

    Checkpoints that are damaged, or were validated on another set or by another figure, are left out.
    """
    wanted = progress_of(best)
    if wanted is None:
        return [best]
    others = _figures_beside(wanted, [each for each in checkpoints_in(folder, Kind.BEST) if each != best])
    return [best, *(each for each in _ranked(others) if not damage(each))][:count]


def best_beside(state: TrainingState, folder: Path, best: Path, damaged: set[Path]) -> Path | None:
    """Return the best checkpoint of a folder whose figure in validation can be compared with those of a run's state.

    It is `best`, which the index file names, or else the best of the others, which is then named there; None if there
    is none. The folder must be locked for training.
    """
    there = [each for each in checkpoints_in(folder, Kind.BEST) if each not in damaged]
    comparable = _figures_beside(state, [best, *there])
    if best in comparable:
        return best
    found = next((each for each in _ranked(comparable) if not damage(each)), None)
    if found is not None:
        logger.info("The best checkpoint so far is %s again, which was validated as in this run", found.name)
        name_in_index(folder, Kind.BEST, found, damaged)
    return found


def name_in_index(folder: Path, kind: Kind, prefix: Path, damaged: set[Path]) -> None:
    """Name a checkpoint in the index file, which lists the other ones before it; leave it as it is if that fails."""
    others = [each for each in checkpoints_in(folder, kind) if each not in {prefix, *damaged}]
    with suppress(OSError):
        write_index(folder, kind, [*others, prefix])


def last_saved(folder: Path, prefix: Path, damaged: set[Path]) -> Path:
    """Return the last intact best checkpoint that was saved after the intact one at `prefix`, else that one.

    Checkpoints without training progress are skipped. If several best checkpoints are kept for their mean, the last
    need not be the best of them.
    """
    best = checkpoints_in(folder, Kind.BEST)
    later = [each for each in reversed(best) if (step_of(each) or 0) > (step_of(prefix) or 0)]
    known = (each for each in later if each not in damaged and progress_of(each) is not None)
    return next((each for each in known if not damage(each)), prefix)


def is_among_best(state: TrainingState, others: Sequence[Path], count: int) -> bool:
    """Return whether fewer than `count` comparable checkpoints are better than one of this state."""
    return sum(figure < state.newest_dev_figure for figure in _figures_beside(state, others).values()) < count


def rank_best(others: Sequence[Path], newest: Path, count: int, damaged: set[Path]) -> tuple[list[Path], list[Path]]:
    """Return the best checkpoints of a folder to list, worst first, and those that the newest supersedes.

    Checkpoints that are better than the newest, or cannot be compared with it, are kept.
    """
    now = progress_of(newest)
    figures = {} if now is None else _figures_beside(now, [each for each in others if each not in damaged])
    ranked = _ranked(figures)
    better = [each for each in ranked if now is not None and figures[each] < now.newest_dev_figure]
    best_first = [*better, newest, *(each for each in ranked if each not in better)]
    kept = best_first[: max(count, len(better) + 1)]
    incomparable = [each for each in others if each not in damaged and each not in best_first]
    return [*incomparable, *reversed(kept)], [each for each in others if each not in {*kept, *incomparable}]


def list_as_last(
    folder: Path, kind: Kind, prefix: Path, damaged: set[Path], options: CheckpointOptions
) -> Sequence[Path]:
    """Write a checkpoint's name to the index file; return the superseded checkpoints, damaged and oldest first.

    Raise OSError.
    """
    there = checkpoints_in(folder, kind)
    listed = [each for each in read_index(folder, kind).listed if each.parent == folder]
    intact = [each for each in listed or there if each not in {prefix, *damaged}]
    unlisted = sorted(set(there) - {prefix, *intact}, key=lambda each: (each not in damaged, step_of(each)))
    if kind is Kind.BEST:
        listed, superseded = rank_best([*unlisted, *intact], prefix, options.averaged, damaged)
        write_index(folder, kind, listed)
        return superseded
    many = options.max_to_keep - 1
    superseded = [*unlisted, *intact][: max(0, len(unlisted) + len(intact) - many)]
    write_index(folder, kind, [*(each for each in intact if each not in superseded), prefix])
    return superseded


def finish_save_of_best(
    folder: Path, last: Path, best: Path | None, damaged: set[Path], options: CheckpointOptions
) -> None:
    """Complete the save of a best checkpoint that was killed: list it, and remove superseded ones.

    `last` is the checkpoint to continue from, `best` the one that the index file names. Damaged checkpoints are added
    to `damaged`.
    """
    listed = read_index(folder, Kind.BEST).listed
    unlisted = [each for each in checkpoints_in(folder, Kind.BEST) if each not in listed]
    newest = last if last in unlisted else best
    if not unlisted or newest is None:
        return
    damaged.update(each for each in unlisted if damage(each))
    with suppress(OSError):
        remove_superseded(folder, Kind.BEST, list_as_last(folder, Kind.BEST, newest, damaged, options))


def _figures_beside(one: TrainingState, others: Sequence[Path]) -> dict[Path, float]:
    """Return the figures in validation of the other checkpoints that can be compared with this one's."""
    found = {each: progress_of(each) for each in others}
    return {
        each: progress.newest_dev_figure
        for each, progress in found.items()
        if progress is not None and progress.compares_with(one)
    }


def _ranked(figures: Mapping[Path, float]) -> list[Path]:
    """Return checkpoints by their figures in validation, the lowest first, and of equal ones the newest first."""
    return sorted(figures, key=lambda each: (figures[each], -(step_of(each) or 0)))


def progress_of(prefix: Path) -> TrainingState | None:
    """Return the training progress in a checkpoint's description; None if there is none."""
    try:
        description = read_description(prefix)
        return None if description is None else TrainingState.from_json(description["state"])
    except (CheckpointError, KeyError, TypeError, ValueError, OverflowError):
        return None


def warn_without_description(prefix: Path) -> None:
    """Log that a checkpoint's description is missing, unless DeepSpeech itself wrote the checkpoint.

    DeepSpeech writes a graph beside its checkpoints, this program does not.
    """
    if not prefix.with_name(prefix.name + ".meta").exists():
        logger.warning(
            "%s: %s, with its alphabet and training progress, is missing: it is treated as a checkpoint of DeepSpeech, "
            "and training starts again from these weights; restore the file if there was one",
            named_for_all(prefix),
            description_path(prefix).name,
        )


def _preference(
    candidates: Sequence[Path], kind: Kind, named: Path | None
) -> Callable[[Path], tuple[bool, bool, float, int]]:
    """Return the sort key of checkpoints: those with a description come first.

    Of these, the first is the one that the index file names. Then follow the best ones by loss or error rate in
    validation if they can all be compared, else the newest.
    """
    found = {prefix: progress_of(prefix) for prefix in candidates} if kind is Kind.BEST else {}
    known = [progress for progress in found.values() if progress is not None]
    comparable = all(one.compares_with(other) for one, other in combinations(known, 2))

    def key(prefix: Path) -> tuple[bool, bool, float, int]:
        progress = found.get(prefix) if comparable else None
        figure = float("inf") if progress is None else progress.newest_dev_figure
        return not description_path(prefix).exists(), prefix != named, figure, -(step_of(prefix) or 0)

    return key
