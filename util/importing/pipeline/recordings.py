"""Recordings of an import: checked to their end, cut into segments, and converted if ffmpeg must decode them."""

from __future__ import annotations

import os
import stat
import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import soundfile

from ...audio import inspect_audio, open_recording
from ...containers.ffmpeg import container_of
from ...containers.flac import write_flac
from ...errors import AudioError, ImportingError
from ...figures.counted import counted
from ...files.opening import not_found
from ...parts import PartError, clipped, part_of
from .known import Checked
from .records import LeftOut, Record

_LOCKS = 1024
"""Of threads with different recordings, few wait for each other."""
_MOST_KEPT = 10_000
"""Recordings whose check is kept for other threads, until it is among those of earlier imports."""
_KINDS = {"a sample rate": "an unusual sample rate", "no samples by": "no samples"}
"""Kinds of problems whose texts differ from recording to recording, by the beginning of these texts."""


@dataclass(frozen=True)
class Imported:
    """A row of a CSV, without its set."""

    record: Record
    path: str
    """The path of the recording, or of the segment that was cut from it."""
    size: int
    """Bytes."""
    duration: float
    """Seconds."""


class LastOpened:
    """Keeps an MP3 open from one segment to the next, because libsndfile reads all of it whenever it opens it."""

    def __init__(self) -> None:
        self._path = ""
        self._files = ExitStack()
        self._sound: soundfile.SoundFile | None = None

    def __enter__(self) -> LastOpened:
        return self

    def __exit__(self, *error: Any) -> None:
        self._files.close()

    @contextmanager
    def sound(self, path: str) -> Iterator[soundfile.SoundFile]:
        """Yield a reader of a recording. Raise AudioError or soundfile.SoundFileError."""
        if path == self._path:
            yield self._sound
            return
        self._files.close()
        self._path = ""
        with ExitStack() as files:
            _, sound = files.enter_context(open_recording(path))
            if sound.format == "MP3":
                self._path, self._sound, self._files = path, sound, files.pop_all()
            yield sound


class Recordings:
    """Checks recordings, converts some and cuts segments; several threads may use it."""

    def __init__(self, root: str, clips: Path) -> None:
        """Take the folder of the recordings as `root`; segments are written below the folder `clips`."""
        self._root = root
        self._clips = clips
        self._locks = [threading.Lock() for _ in range(_LOCKS)]
        self._last_checked: OrderedDict[str, Checked] = OrderedDict()

    def take(
        self, record: Record, known: Checked | None, opened: LastOpened
    ) -> tuple[Imported | LeftOut, Checked | None]:
        """Return the row of a record, or why it is left out, and what its recording holds, if it exists.

        Raise ImportingError if a clip cannot be written.
        """
        if not record.transcript:
            return LeftOut(record.source, "empty transcript", record.path), known
        try:
            "".join((record.path, record.transcript, record.speaker, *record.columns.values())).encode()
        except UnicodeEncodeError as error:
            return LeftOut(
                record.source, "a name or text that cannot be written as UTF-8", record.path, str(error)
            ), known
        try:
            checked = self._check_once(record.path, known)
            recording = self._decoded(record.path, checked.modified_ns) if checked.by_ffmpeg else record.path
        except (OSError, ValueError, AudioError, soundfile.SoundFileError) as error:  # ValueError: a null character
            reason = getattr(error, "strerror", None) or str(error).removeprefix(f"{record.path}: ")
            return LeftOut(record.source, reason, record.path), None
        if checked.problem:
            kind, _, detail = checked.problem.partition(": ")
            return LeftOut(record.source, kind, record.path, detail), checked
        return self._segment(record, recording, checked, opened), checked

    def _segment(self, record: Record, recording: str, checked: Checked, opened: LastOpened) -> Imported | LeftOut:
        """Return the row of a record: all or a segment of `recording`, the record's own or a converted one."""
        length = checked.samples / checked.sample_rate
        try:
            part = clipped(part_of(record.start, record.duration), length)
        except PartError as error:
            return LeftOut(record.source, error.reason, record.path, error.detail)
        if part is None and record.channel is None:
            size = checked.size if recording == record.path else Path(recording).stat().st_size
            return Imported(record, recording, size, length)
        samples = part.samples(checked.sample_rate, checked.samples) if part else range(checked.samples)
        times = f"{round(part.start * 1000):08d}-{round(part.end * 1000):08d}" if part else "whole"
        of_channel = "" if record.channel is None else f"-channel-{record.channel}"
        clip = self._clips_of(record.path) / f"{times}{of_channel}.flac"
        try:
            size = _cut(recording, clip, samples, checked.modified_ns, opened, record.channel)
        except (AudioError, soundfile.SoundFileError) as error:
            return LeftOut(record.source, "its segment cannot be cut out", record.path, str(error))
        return Imported(record, str(clip), size, len(samples) / checked.sample_rate)

    def _check_once(self, path: str, known: Checked | None) -> Checked:
        """Do the same as `_check`; if several threads have segments of a recording, one decodes it and others wait."""
        with self._locks[hash(path) % _LOCKS]:
            checked = self._last_checked[path] = self._check(path, self._last_checked.get(path, known))
        if len(self._last_checked) > _MOST_KEPT:
            self._last_checked.popitem(last=False)
        return checked

    def _check(self, path: str, known: Checked | None) -> Checked:
        """Return what a recording holds; decode it unless it is unchanged since it was `known`. Raise OSError."""
        try:
            status = os.stat(path)  # noqa: PTH116 (a Path takes as long as all the rest)
        except FileNotFoundError:
            raise not_found(Path(path)) from None
        if known and (known.size, known.modified_ns) == (status.st_size, status.st_mtime_ns):
            return known
        if not stat.S_ISREG(status.st_mode):  # opening a named pipe would wait forever
            return Checked(status.st_size, status.st_mtime_ns, problem="not a file")
        if not status.st_size:
            return Checked(0, status.st_mtime_ns, problem="an empty file")
        try:
            by_ffmpeg = container_of(Path(path)) is not None
            audio = inspect_audio(self._decoded(path, status.st_mtime_ns) if by_ffmpeg else path)
        except (AudioError, soundfile.SoundFileError) as error:
            problem = _with_kind(str(error).removeprefix(f"{path}: ").partition("\n")[0])
            return Checked(status.st_size, status.st_mtime_ns, problem=problem)
        problem = "" if audio.samples else "no samples"
        return Checked(status.st_size, status.st_mtime_ns, audio.samples, audio.sample_rate, problem, by_ffmpeg)

    def _decoded(self, path: str, modified_ns: int) -> str:
        """Convert a recording that ffmpeg would have to decode each time to FLAC, and return the path of the FLAC.

        Starting a program takes as long as decoding a minute of FLAC, and every epoch would do so. Raise AudioError.
        """
        whole = self._clips_of(path) / "whole.flac"
        with LastOpened() as opened:
            _cut(path, whole, None, modified_ns, opened)
        return str(whole)

    def _clips_of(self, path: str) -> Path:
        """Return the folder for the clips of a recording; it has the recording's name.

        That of a recording outside the root is below it, if it is the name of a recording in the root, too.
        """
        path = os.path.normpath(path)
        inside = path.removeprefix(f"{self._root}{os.sep}")
        is_taken = inside == path and os.path.isfile(f"{self._root}{path}")  # noqa: PTH113 (a Path takes longer)
        return self._clips / inside.lstrip(os.sep) / ("outside" if is_taken else "")


def _with_kind(problem: str) -> str:
    """Return a problem as KIND: DETAIL, or KIND alone; similar problems have the same kind."""
    kind = next((_KINDS[start] for start in _KINDS if problem.startswith(start)), "")
    return f"{kind}: {problem}" if kind else problem


def _cut(
    path: str, clip: Path, samples: range | None, modified_ns: int, opened: LastOpened, channel: int | None = None
) -> int:
    """Write samples of a recording, or all of them, as FLAC, unless the clip exists; return its size.

    Only one channel is written, counted from 0, if it is given. The clip gets the modification time of its recording,
    to show that it is of this version. Raise ImportingError if it cannot be written, and AudioError or
    soundfile.SoundFileError for the recording.
    """
    if _is_cut(clip, samples, modified_ns):
        return clip.stat().st_size
    beside = clip.with_name(f".{clip.name}.part-{os.getpid()}-{threading.get_ident()}")
    with _writing(clip):
        clip.parent.mkdir(parents=True, exist_ok=True)
        try:
            with opened.sound(path) as sound, _writing(clip), beside.open("wb") as file:
                if channel is not None and channel >= sound.channels:
                    raise AudioError(
                        f"there is no channel {channel + 1}, as it has {counted(sound.channels, 'channel')}"
                    )
                write_flac(sound, range(sound.frames) if samples is None else samples, file, channel)
            os.utime(beside, ns=(modified_ns, modified_ns))
            beside.replace(clip)
        finally:
            beside.unlink(missing_ok=True)
        return clip.stat().st_size


@contextmanager
def _writing(clip: Path) -> Iterator[None]:
    """Raise ImportingError if a clip cannot be written: the recording is not at fault, so it is not left out."""
    try:
        yield
    except OSError as error:
        raise ImportingError(
            f"{clip}: cannot be written: {error.strerror or error}; correct that, and run the same command again"
        ) from error


def _is_cut(clip: Path, samples: range | None, modified_ns: int) -> bool:
    try:
        if clip.stat().st_mtime_ns != modified_ns:
            return False
        frames: int = soundfile.info(str(clip)).frames
        return frames > 0 if samples is None else frames == len(samples)
    except (OSError, soundfile.SoundFileError):
        return False
