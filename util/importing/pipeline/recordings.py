"""Recordings: checked to their ends, and cut where a row is a segment of one."""

from __future__ import annotations

import os
import stat
import threading
from dataclasses import dataclass
from pathlib import Path

import soundfile

from ...audio import inspect_audio
from ...errors import AudioError
from .known import Checked
from .records import LeftOut, Record

SHORTEST = 0.02
"""Seconds of a segment; less is left out."""

TOLERANCE = 0.05
"""Seconds by which a segment may differ from the whole recording and still not be cut out of it."""

_BLOCK = 1 << 16
_KINDS = {"a sample rate": "an unusual sample rate", "no samples by": "no samples"}
"""Kinds of problems whose texts differ from recording to recording, by how these begin."""

_WIDER_THAN_16_BITS = {"PCM_24", "PCM_32", "FLOAT", "DOUBLE"}


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
        end = length if record.duration is None else min(record.start + record.duration, length)
        start = max(record.start, 0.0)
        if start <= TOLERANCE and length - end <= TOLERANCE:
            return Imported(record, record.path, checked.size, length)
        detail = f"{record.start:.3f} to {end:.3f} of {length:.3f} seconds"
        if record.duration is not None and not record.duration > 0:
            return LeftOut(record.source, "a segment that ends where it begins, or before", record.path, detail)
        if start >= length:
            return LeftOut(record.source, "a segment beyond the end of its recording", record.path, detail)
        if end - start < SHORTEST:
            return LeftOut(record.source, f"a segment shorter than {SHORTEST} seconds", record.path, detail)
        first = round(start * checked.sample_rate)
        frames = min(round(end * checked.sample_rate), checked.samples) - first
        clip = self._clip(record.path, start, end)
        try:
            size = _cut(record.path, clip, first, frames, checked.modified_ns)
        except (OSError, soundfile.SoundFileError) as error:
            return LeftOut(record.source, "its segment cannot be cut out", record.path, str(error))
        return Imported(record, str(clip), size, frames / checked.sample_rate)

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
        samples, sample_rate = _decode_mp3(path) if path.lower().endswith(".mp3") else _inspect(path)
        problem = "" if samples else "no samples"
    except (AudioError, soundfile.SoundFileError) as error:
        samples, sample_rate = 0, 0
        problem = _with_kind(str(error).removeprefix(f"{path}: ").partition("\n")[0])
    return Checked(status.st_size, status.st_mtime_ns, samples, sample_rate, problem)


def _inspect(path: str) -> tuple[int, int]:
    audio = inspect_audio(path)
    return audio.samples, audio.sample_rate


def _decode_mp3(path: str) -> tuple[int, int]:
    """Return the samples that an mp3 has, and their rate; the length that its header gives is often an estimate."""
    try:
        with soundfile.SoundFile(path) as sound:
            samples = 0
            while count := len(sound.read(_BLOCK, dtype="float32")):
                samples += count
            return samples, sound.samplerate
    except soundfile.LibsndfileError as error:
        raise AudioError(f"{path}: cannot be read as audio: {error.error_string}") from error


def _with_kind(problem: str) -> str:
    """Return a problem as KIND: DETAIL, or KIND alone, of which a kind is the same for all problems that are alike."""
    kind = next((_KINDS[start] for start in _KINDS if problem.startswith(start)), "")
    return f"{kind}: {problem}" if kind else problem


def _cut(path: str, clip: Path, first: int, frames: int, modified_ns: int) -> int:
    """Write `frames` samples of a recording, from `first` on, as FLAC, unless they are there; return its size."""
    if _is_cut(clip, frames, modified_ns):
        return clip.stat().st_size
    clip.parent.mkdir(parents=True, exist_ok=True)
    beside = clip.with_name(f".{clip.name}.part-{os.getpid()}-{threading.get_ident()}")
    try:
        with soundfile.SoundFile(path) as sound:
            sound.seek(first)
            subtype = "PCM_24" if sound.subtype in _WIDER_THAN_16_BITS else "PCM_16"
            dtype = "int32" if subtype == "PCM_24" else "int16"
            if sound.subtype in {"FLOAT", "DOUBLE"}:
                dtype = "float32"
            with soundfile.SoundFile(
                beside, "w", sound.samplerate, sound.channels, subtype=subtype, format="FLAC"
            ) as segment:
                while frames > 0 and len(block := sound.read(min(frames, _BLOCK), dtype=dtype)):
                    segment.write(block)
                    frames -= len(block)
        beside.replace(clip)
    finally:
        beside.unlink(missing_ok=True)
    return clip.stat().st_size


def _is_cut(clip: Path, frames: int, modified_ns: int) -> bool:
    try:
        return clip.stat().st_mtime_ns >= modified_ns and soundfile.info(str(clip)).frames == frames
    except (OSError, soundfile.SoundFileError):
        return False
