"""Recordings that libsndfile does not read (MP4, WebM, AAC, …), decoded by the program ffmpeg if it is installed."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from os import SEEK_END
from pathlib import Path
from typing import IO

import numpy as np
import numpy.typing as npt

from ..errors import AudioError
from .wav import START_BYTES, WavFormat, is_wav, read_wav_format

PROGRAM = "ffmpeg"
BLOCK = 1 << 16
"""Samples of each channel that are read at a time."""
MESSAGE_BYTES = 1 << 16
"""Of ffmpeg's messages that are looked at."""

CONTAINERS = {
    b"\x1aE\xdf\xa3": "WebM or Matroska",
    b"0&\xb2u\x8ef\xcf\x11": "WMA",
    b"#!AMR": "AMR",
    b"\xff\xf1": "AAC",
    b"\xff\xf9": "AAC",
    b"FLV\x01": "FLV",
    b"\x00\x00\x01\xba": "MPEG video",
}
"""What files begin with that are left to ffmpeg; lists of other files, which it reads too, are not among them."""

ENDED_EARLY = "File ended prematurely"
"""What ffmpeg says of a WebM or Matroska file that is cut off, though it exits as it does for a whole one."""

NO_TRACK = "matches no streams"
"""What ffmpeg says of a file without an audio track."""

Samples = npt.NDArray[np.float32]


def container_of(path: Path) -> str | None:
    """Return the name of a file's container if libsndfile does not read it and ffmpeg does; None for other files."""
    try:
        with path.open("rb") as file:
            start = file.read(START_BYTES)
    except (OSError, ValueError):
        return None
    if start[4:8] == b"ftyp":
        return "MP4"
    if start[:4] == b"RIFF" and start[8:] == b"AVI ":
        return "AVI"
    return next((name for first, name in CONTAINERS.items() if start.startswith(first)), None)


@contextmanager
def decoded_by_ffmpeg(path: Path) -> Iterator[tuple[WavFormat, Iterator[Samples]]]:
    """Yield the format and the blocks, float32 [samples, channels], of a file's first audio track.

    Raise AudioError, also where the blocks are read, if ffmpeg is not installed or cannot decode the file.
    """
    program = shutil.which(PROGRAM)
    if program is None:
        raise AudioError(
            f"{path}: {container_of(path)} is decoded by {PROGRAM}, which is not installed; "
            "install it, or convert the recording to WAV or FLAC"
        )
    # `file:` keeps a name from being taken for an address or a flag, and the list of protocols from leading elsewhere.
    command = [program, "-nostdin", "-loglevel", "error", "-protocol_whitelist", "file,pipe", "-i", f"file:{path}"]
    command += ["-map", "0:a:0", "-f", "wav", "-codec:a", "pcm_f32le", "pipe:1"]
    with (
        tempfile.TemporaryFile() as messages,
        subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=messages) as process,
    ):
        assert process.stdout is not None
        try:
            if not is_wav(process.stdout.read(START_BYTES)):
                raise _failure(path, process, messages)
            wav = read_wav_format(process.stdout.read)
            yield wav, _blocks(path, wav, process, messages)
        finally:
            process.kill()


def _blocks(path: Path, wav: WavFormat, process: subprocess.Popen[bytes], messages: IO[bytes]) -> Iterator[Samples]:
    assert process.stdout is not None
    while data := process.stdout.read(BLOCK * wav.frame_bytes):
        yield wav.samples(data[: len(data) // wav.frame_bytes * wav.frame_bytes])
    if process.wait():
        raise _failure(path, process, messages)
    if any(ENDED_EARLY in line for line in _said(messages)):
        raise AudioError(f"{path}: truncated: {PROGRAM} says that the file ends early")


def _failure(path: Path, process: subprocess.Popen[bytes], messages: IO[bytes]) -> AudioError:
    process.wait()
    said = _said(messages)
    if any(NO_TRACK in line for line in said):
        return AudioError(f"{path}: holds no sound, as a video without an audio track")
    reason = f": {said[-1].removeprefix(f'file:{path}: ')}" if said else ""
    return AudioError(f"{path}: {PROGRAM} cannot decode it{reason}")


def _said(messages: IO[bytes]) -> list[str]:
    """Return the lines of the end of the messages."""
    messages.seek(max(0, messages.seek(0, SEEK_END) - MESSAGE_BYTES))
    return messages.read().decode("utf-8", "replace").splitlines()
