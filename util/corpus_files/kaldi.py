"""Data directories of Kaldi: wav.scp with files, text, and optionally segments and utt2spk.

Of the commands in a wav.scp (lines that end in |), those that only decode a file, or one channel of it, stand for that;
a wav.scp with others is refused. A number behind the times of a segment is its channel, from 0. If utt2spk names an
utterance as its own speaker, the speaker is unknown: Kaldi requires this form for unknown speakers. Relative recordings
are looked for from the directory, the folders above it, as recipes name them from their own folder, and the current
one.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

from ..errors import BadRow, CorpusError
from ..transcripts import Normalizer
from .lines import numbered_lines
from .lookup import Lookup
from .relative_paths import RecipeFolders
from .rows import Entry, Row, Unusable, row_of

RECORDINGS, TEXT = "wav.scp", "text"

_CHANNEL = "\n"
"""Separates a file from the number of a channel; no line has it."""

_FILE = r"(?P<file>[^\s|;&<>$`]+)"
_DECODING = tuple(
    re.compile(rf"(?:\S*/)?{command} ?\|")
    for command in (
        f"flac(?: -[cdfs]+)+ {_FILE}",
        f"sph2pipe(?: -f (?:wav|rif)| -p| -c (?P<channel>[12]))* {_FILE}",
        rf"sox {_FILE}(?: -t wav| -[rb] \w+| -c 1| -e signed(?:-integer)?)* -(?: remix (?P<channel>[1-9]))?",
        rf"ffmpeg(?: -nostdin| -(?:v|loglevel) \w+)* -i {_FILE}(?: -f wav| -(?:ar|ab|ac|acodec) \w+)* (?:-|pipe:1)",
        f"cat {_FILE}",
    )
)
"""Commands of recipes whose output is the sound of a file: all its channels, their mean, or one channel, from 1."""

_IN_ARCHIVE = re.compile(r"\.ark:\d+(\[.*\])?$")
"""Ends the places of recordings in Kaldi's archives."""


def read_rows(path: Path, normalizer: Normalizer | None) -> Iterator[Row | BadRow]:
    """Yield the rows of the directory whose `text` is at `path`. Raise CorpusError."""
    for entry in read_entries(path.parent):
        yield row_of(str(path), entry, normalizer)


def further_columns(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the line of each utterance whose speaker is known, and the speaker. Raise CorpusError."""
    for entry in read_entries(path.parent):
        if isinstance(entry, Entry) and entry.speaker:
            yield entry.line, {"speaker": entry.speaker}


def is_directory_of_kaldi(folder: Path) -> bool:
    """Return whether a folder is a data directory of Kaldi."""
    return (folder / RECORDINGS).is_file()


def read_entries(folder: Path) -> Iterator[Entry | Unusable]:
    """Yield the entry of each line of a directory's `text`. Raise CorpusError."""
    with ExitStack() as files:
        recordings = files.enter_context(Lookup(_read_recordings(folder / RECORDINGS)))
        speakers = files.enter_context(Lookup(read_pairs(folder / "utt2spk")))
        segmented = (folder / "segments").is_file()
        segments = files.enter_context(Lookup(read_pairs(folder / "segments")))
        for number, line in numbered_lines(folder / TEXT):
            name, transcript = _pair(line)
            segment = segments.get(name) if segmented else name
            if segment is None:
                yield Unusable(number, "not in segments", "", name)
                continue
            recording, *times = segment.split() or [""]
            path, _, channel = (recordings.get(recording) or "").partition(_CHANNEL)
            start_and_duration = _read_times(times) if segmented else (None, None)
            only = _channel_of(channel, times)
            if not path:
                yield Unusable(number, "its recording is not in wav.scp", "", recording or name)
            elif start_and_duration is None:
                yield Unusable(number, "malformed times in segments", path, segment)
            else:
                speaker = speakers.get(name) or ""
                start, duration = start_and_duration
                known = "" if speaker == name else speaker
                yield Entry(number, path, transcript, known, start, duration, channel=only)


def _read_recordings(path: Path) -> Iterator[tuple[str, str]]:
    """Yield each name and its file, followed by _CHANNEL and the number of its only channel that counts, if any."""
    folders = RecipeFolders(path.parent)
    for number, line in numbered_lines(path):
        (name, file), channel = _pair(line), None
        if file.endswith("|"):
            match = next(filter(None, (command.fullmatch(" ".join(file.split())) for command in _DECODING)), None)
            if match is None:
                raise CorpusError(
                    f"{path}:{number}: a command that does more than decode a file; write what it prints to a file, "
                    f"and name that: {file}"
                )
            file, channel = match["file"], match.groupdict().get("channel")
        elif _IN_ARCHIVE.search(file):
            raise CorpusError(
                f"{path}:{number}: a recording in an archive, which is not read; give the directory from before the "
                f"archives were made, or write each recording to a file: {file}"
            )
        yield name, folders.find(file) + (f"{_CHANNEL}{channel}" if channel else "")


def read_pairs(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the first word and the rest of each line of a file; nothing if there is none. Raise CorpusError."""
    if path.is_file():
        for _, line in numbered_lines(path):
            yield _pair(line)


def _pair(line: str) -> tuple[str, str]:
    name, rest = (*line.split(maxsplit=1), "")[:2]
    return name, rest.strip()


def _channel_of(chosen: str, times: Sequence[str]) -> int | None:
    """Return the channel that a command chose, from 1, or that follows the times in segments, from 0; None for all."""
    if chosen:
        return int(chosen) - 1
    return int(times[2]) if len(times) > 2 and times[2].isdecimal() else None


def _read_times(times: list[str]) -> tuple[float, float | None] | None:
    """Return start and duration for START and END, where an END of -1 is the recording's; None if malformed."""
    try:
        start, end = (float(time) for time in times[:2])
    except ValueError:
        return None
    if not (math.isfinite(start) and math.isfinite(end)):
        return None
    return start, None if end == -1 else end - start
