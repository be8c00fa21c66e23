"""Recordings that libsndfile does not read well (MP4, WebM, AAC, …), decoded by ffmpeg if that is installed."""

from __future__ import annotations

import os
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
import soundfile

from ..errors import AudioError, StorageError
from ..files.opening import opened
from .ogg import format_for_ffmpeg
from .wav import MP3, START_BYTES, WavFormat, codec_of, is_wav, read_wav_format

PROGRAM = "ffmpeg"
BLOCK = 1 << 16
"""Samples of each channel that are read at a time."""
MESSAGE_BYTES = 1 << 16
"""Bytes of ffmpeg's messages that are searched."""

CONTAINERS = {
    b"\x1aE\xdf\xa3": "WebM or Matroska",
    b"0&\xb2u\x8ef\xcf\x11": "WMA",
    b"#!AMR": "AMR",
    b"\xff\xf1": "AAC",
    b"\xff\xf9": "AAC",
    b"FLV\x01": "FLV",
    b"\x00\x00\x01\xba": "MPEG video",
}
"""The first bytes of the formats that ffmpeg decodes. Lists of other files, which it also reads, are left out."""

READERS = "aac,amr,asf,avi,caf,flv,matroska,mov,mpeg,ogg,wav"
"""ffmpeg's readers of these formats. Others, also chosen by a file's content, would open files that a list names."""

MP3_IN_WAV = "MP3 in a WAV"

CAF_READ_BY_LIBSNDFILE = (b"lpcm", b"alaw", b"ulaw", b"alac")
"""The formats of samples in a CAF that libsndfile reads; recorders of iOS also write IMA4, AAC and Opus."""
_CAF_FORMAT = 28
"""Bytes before the format in a CAF."""

NO_TRACK = "matches no streams"
"""ffmpeg's message, with advice on its flags, for a file without an audio track."""
ENDED_EARLY = ("File ended prematurely", ": partial file")
"""ffmpeg's messages for a WebM, Matroska or MP4 file that is cut off; its exit code is that of a whole file."""

LEFT_OUT = (
    "Error while decoding stream",
    "to decoder: ",
    "Decoding error",
    "bits left",
    "EBML number",
    "Invalid length 0x",
    "exceeds containing master element",
    "packet_obj_size",
    "ff asf skip",
    "ff asf bad header",
)
"""Messages of ffmpeg 5 to 9 for data that it cannot decode in the middle of a file; it continues after them."""

Samples = npt.NDArray[np.float32]


def container_of(path: Path) -> str | None:
    """Return the name of a file's container if libsndfile does not read it well and ffmpeg does; None for others."""
    try:
        with opened(path) as file:
            return container_of_open(file.fileno())
    except (OSError, ValueError):
        return None


def container_of_open(file_descriptor: int) -> str | None:
    """Return what `container_of` returns, of an open file. Raise OSError."""
    start = os.pread(file_descriptor, START_BYTES, 0)
    if start[4:8] == b"ftyp":
        return "MP4"
    if start[:4] == b"RIFF" and start[8:] == b"AVI ":
        return "AVI"
    if is_wav(start) and codec_of(file_descriptor) == MP3:
        return MP3_IN_WAV
    if start.startswith(b"caff") and os.pread(file_descriptor, 4, _CAF_FORMAT) not in (b"", *CAF_READ_BY_LIBSNDFILE):
        return "CAF"
    if start.startswith(b"OggS"):
        return format_for_ffmpeg(file_descriptor)
    return next((name for first, name in CONTAINERS.items() if start.startswith(first)), None)


def version() -> str:
    """Return what identifies the installed ffmpeg, without starting it; empty if there is none."""
    program = shutil.which(PROGRAM)
    if program is None:
        return ""
    status = Path(program).stat()
    return f"{status.st_size} {status.st_mtime_ns}"


@contextmanager
def decoded_by_ffmpeg(path: Path, file_descriptor: int) -> Iterator[tuple[WavFormat, Iterator[Samples]]]:
    """Yield the format and the blocks, float32 [samples, channels], of the first audio track of an open file.

    Raise AudioError, naming `path`, if ffmpeg is not installed or cannot decode the file; also while blocks are read.
    """
    program = shutil.which(PROGRAM)
    if program is None:
        raise AudioError(
            f"{path}: {container_of_open(file_descriptor)} is decoded by {PROGRAM}, which is not installed; "
            "install it, or convert the recording to WAV or FLAC"
        )
    # Its number opens exactly this file, even without a path, and ffmpeg cannot mistake a name for a flag. The lists of
    # readers and protocols keep the file's content from referring to other files and to the network.
    name = f"file:/dev/fd/{file_descriptor}"
    command = [program, "-nostdin", "-loglevel", "error"]
    command += ["-protocol_whitelist", "file,pipe", "-format_whitelist", READERS, "-i", name]
    command += ["-map", "0:a:0", "-f", "wav", "-codec:a", "pcm_f32le", "pipe:1"]
    with (
        tempfile.TemporaryFile() as messages,
        subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=messages,
            pass_fds=(file_descriptor,),
        ) as process,
    ):
        assert process.stdout is not None
        try:
            if not is_wav(process.stdout.read(START_BYTES)):
                raise _failure(path, process, messages)
            wav = read_wav_format(process.stdout.read)
            yield wav, _blocks(path, wav, process, messages)
        finally:
            process.kill()


@contextmanager
def decoded_whole(path: Path, file_descriptor: int) -> Iterator[soundfile.SoundFile]:
    """Decode an open file with ffmpeg into a temporary file, and yield a reader of its samples.

    Raise AudioError, or StorageError if the temporary file cannot be written, which is no fault of the recording.
    """
    with decoded_by_ffmpeg(path, file_descriptor) as (wav, blocks), tempfile.TemporaryFile() as file:
        try:
            for block in blocks:
                file.write(block.data)
            file.seek(0)
        except OSError as error:
            raise StorageError(
                f"{path}: cannot be decoded into the folder {tempfile.gettempdir()}: {error.strerror}; make room "
                "there, or let TMPDIR name another folder"
            ) from error
        samples = {"format": "RAW", "subtype": "FLOAT", "endian": "LITTLE"}
        with soundfile.SoundFile(file.fileno(), "r", wav.sample_rate, wav.channels, closefd=False, **samples) as sound:
            yield sound


def _blocks(path: Path, wav: WavFormat, process: subprocess.Popen[bytes], messages: IO[bytes]) -> Iterator[Samples]:
    assert process.stdout is not None
    while data := process.stdout.read(BLOCK * wav.frame_bytes):
        yield wav.samples(data[: len(data) // wav.frame_bytes * wav.frame_bytes])
    if process.wait():
        raise _failure(path, process, messages)
    said = _said(messages)
    if any(words in line for line in said for words in ENDED_EARLY):
        raise AudioError(f"{path}: truncated: {PROGRAM} says that the file ends early")
    if any(words in line for line in said for words in LEFT_OUT):
        raise AudioError(f"{path}: damaged or truncated: {PROGRAM} leaves out what it cannot decode")


def _failure(path: Path, process: subprocess.Popen[bytes], messages: IO[bytes]) -> AudioError:
    process.wait()
    said = _said(messages)
    if any(NO_TRACK in line for line in said):
        return AudioError(f"{path}: holds no sound, as a video without an audio track")
    reason = f": {said[-1].rpartition('/dev/fd/')[2].lstrip('0123456789:').strip()}" if said else ""
    return AudioError(f"{path}: {PROGRAM} cannot decode it{reason}")


def _said(messages: IO[bytes]) -> list[str]:
    """Return the last lines of the messages."""
    messages.seek(max(0, messages.seek(0, SEEK_END) - MESSAGE_BYTES))
    return messages.read().decode("utf-8", "replace").splitlines()
