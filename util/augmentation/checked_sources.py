"""The recordings that augmentations mix in, checked before training like those of the sets."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path

from ..checks.checked_recordings import checked_recordings
from ..checks.inspection import Inspection
from ..errors import AudioError, FlagError
from ..parallel import ordered_map
from ..parts import PartError
from ..progress import Progress
from .augmentation import Augmentation, source_of
from .recordings import Recording, recordings_of

log = logging.getLogger(__name__)

MOST_NAMED = 5
"""The most bad recordings of a source that a message names; it counts the others."""

_THREADS = 16  # more than cores, as they mostly wait for the disk


def checked_sources(
    augmentations: Sequence[Augmentation],
    *,
    skip_bad: bool = False,
    progress: bool = True,
    remembered: Path | None = None,
) -> Mapping[str, tuple[Recording, ...]]:
    """Check the recordings of each source that augmentations name, and return them.

    Raise FlagError for a missing source, and for recordings that are silent or cannot be read to their end. With
    `skip_bad` such recordings are left out with a warning, unless all are bad. Recordings in the file `remembered`
    (see `checked_recordings`) are not decoded again; the others are added to it.
    """
    sources = dict.fromkeys(filter(None, map(source_of, augmentations)))
    with checked_recordings(remembered) as known:
        inspection = Inspection(known)
        return {source: _usable(source, inspection, skip_bad, progress) for source in sources}


def _usable(source: str, inspection: Inspection, skip_bad: bool, progress: bool) -> tuple[Recording, ...]:
    recordings = recordings_of(source)

    def checked(recording: Recording) -> Recording | str:
        """Return a recording whose part is within its length, or what is wrong with it."""
        path = recording.path
        try:
            audio, part = inspection.inspect(str(path), recording.part)
        except AudioError as error:
            return str(error)
        except PartError as error:
            return f"{path}: {error}"
        return f"{path}: silent: all its samples are the same" if audio.silent else Recording(path, part)

    with Progress(f"Checking {source}", len(recordings), progress, unit="recording") as bar:
        found = []
        for each in ordered_map(checked, recordings, _THREADS, ahead=4 * _THREADS):
            bar.advance()
            found.append(each)
    usable = tuple(each for each in found if isinstance(each, Recording))
    if bad := [each for each in found if isinstance(each, str)]:
        others = f"; and {len(bad) - MOST_NAMED} more" if len(bad) > MOST_NAMED else ""
        listed = f"{len(bad)} of {len(recordings)} recordings cannot be used: {'; '.join(bad[:MOST_NAMED])}{others}"
        if not skip_bad or not usable:
            advice = "correct or remove them" + (", or leave them out by --skip_bad_rows" if usable else "")
            raise FlagError(f"--augment: source={source}: {listed}; {advice}")
        log.warning("Left out: --augment: source=%s: %s", source, listed)
    return usable
