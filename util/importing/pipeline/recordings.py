"""Recordings: checked to their ends, and cut where a row is a segment of one."""

from __future__ import annotations

import os
import stat
import threading
from dataclasses import dataclass
from pathlib import Path

import soundfile

from ...audio import inspect_audio, open_recording
from ...containers.flac import write_flac
from ...errors import AudioError
from ...parts import PartError, clipped, part_of
from .known import Checked
from .records import LeftOut, Record

_KINDS = {"a sample rate": "an unusual sample rate", "no samples by": "no samples"}
"""Kinds of problems whose texts differ from recording to recording, by how these begin."""


@dataclass(frozen=True)
class Imported:
    """A row of a CSV, all but its set."""

    record: Record
    path: str
    """Of the recording, or of the segment that was cut out of it."""
    size: int
    """Bytes."""
    duration: float
    """Seconds."""


class Recordings:
    """Checks recordings and cuts segments; called by several threads."""

    def __init__(self, root: str, clips: Path) -> None:
        """Take the folder below which the recordings are as `root`; segments are written below the folder `clips`."""
        self._root = root
        self._clips = clips

    def take(self, record: Record, known: Checked | None) -> tuple[Imported | LeftOut, Checked | None]:
        """Return the row that a record becomes, or why there is none, and what its recording holds, if it is there."""
        if not record.transcript:
            return LeftOut(record.source, "empty transcript", record.path), known
        try:
            "".join((record.path, record.transcript, record.speaker, *record.columns.values())).encode()
        except UnicodeEncodeError as error:
            return LeftOut(
                record.source, "a name or text that cannot be written as UTF-8", record.path, str(error)
            ), known
        try:
            checked = _check(record.path, known)
        except (OSError, ValueError) as error:  # ValueError: a null character in the name
            return LeftOut(record.source, getattr(error, "strerror", None) or str(error), record.path), None
        if checked.problem:
            kind, _, detail = checked.problem.partition(": ")
            return LeftOut(record.source, kind, record.path, detail), checked
        return self._segment(record, checked), checked

    def _segment(self, record: Record, checked: Checked) -> Imported | LeftOut:
        length = checked.samples / checked.sample_rate
        try:
            part = clipped(part_of(record.start, record.duration), length)
        except PartError as error:
            return LeftOut(record.source, error.reason, record.path, error.detail)
        if part is None:
            return Imported(record, record.path, checked.size, length)
        samples = part.samples(checked.sample_rate, checked.samples)
        clip = self._clip(record.path, *part)
        try:
            size = _cut(record.path, clip, samples, checked.modified_ns)
        except (OSError, AudioError, soundfile.SoundFileError) as error:
            return LeftOut(record.source, "its segment cannot be cut out", record.path, str(error))
        return Imported(record, str(clip), size, len(samples) / checked.sample_rate)

    def _clip(self, path: str, start: float, end: float) -> Path:
        """Return the file of a segment: in a folder named as its recording, named by its milliseconds."""
        name = path.removeprefix(self._root).lstrip(os.sep).replace("..", "_")
        return self._clips / name / f"{round(start * 1000):08d}-{round(end * 1000):08d}.flac"


def _check(path: str, known: Checked | None) -> Checked:
    """Return what a recording holds, by decoding it if it isn't as it was when it became known; raise OSError."""
    status = os.stat(path)  # noqa: PTH116 (a Path takes as long as all the rest)
    if known and (known.size, known.modified_ns) == (status.st_size, status.st_mtime_ns):
        return known
    if not stat.S_ISREG(status.st_mode):  # opening a named pipe would wait forever
        return Checked(status.st_size, status.st_mtime_ns, problem="not a file")
    if not status.st_size:
        return Checked(0, status.st_mtime_ns, problem="an empty file")
    try:
        samples, sample_rate = _inspect(path)
        problem = "" if samples else "no samples"
    except (AudioError, soundfile.SoundFileError) as error:
        samples, sample_rate = 0, 0
        problem = _with_kind(str(error).removeprefix(f"{path}: ").partition("\n")[0])
    return Checked(status.st_size, status.st_mtime_ns, samples, sample_rate, problem)


def _inspect(path: str) -> tuple[int, int]:
    audio = inspect_audio(path)
    return audio.samples, audio.sample_rate


def _with_kind(problem: str) -> str:
    """Return a problem as KIND: DETAIL, or KIND alone, of which a kind is the same for all problems that are alike."""
    kind = next((_KINDS[start] for start in _KINDS if problem.startswith(start)), "")
    return f"{kind}: {problem}" if kind else problem


def _cut(path: str, clip: Path, samples: range, modified_ns: int) -> int:
    """Write samples of a recording as FLAC, unless they are there; return its size.

    The segment gets the modification time of its recording, by which it is known to be of that version of it.
    """
    if _is_cut(clip, len(samples), modified_ns):
        return clip.stat().st_size
    clip.parent.mkdir(parents=True, exist_ok=True)
    beside = clip.with_name(f".{clip.name}.part-{os.getpid()}-{threading.get_ident()}")
    try:
        with open_recording(path) as (_, sound):
            write_flac(sound, samples, beside)
        os.utime(beside, ns=(modified_ns, modified_ns))
        beside.replace(clip)
    finally:
        beside.unlink(missing_ok=True)
    return clip.stat().st_size


def _is_cut(clip: Path, frames: int, modified_ns: int) -> bool:
    try:
        return clip.stat().st_mtime_ns == modified_ns and soundfile.info(str(clip)).frames == frames
    except (OSError, soundfile.SoundFileError):
        return False
