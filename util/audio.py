"""Recordings on disk: what they hold, and their samples at the sample rate of a model."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

import numpy as np
import numpy.typing as npt
import soundfile
import soxr

from .containers import ffmpeg
from .containers.beginnings import why_no_audio
from .containers.contents import check_contents
from .containers.mp3 import UNKNOWN_LENGTH, RecordingFile, UnmeasuredFile, has_length, seek
from .containers.sizes import check_size
from .errors import AudioError
from .files.opening import opened
from .parts import Part

Samples = npt.NDArray[np.float32]
"""float32 [samples]."""

LOWEST_RATE = 1_000
"""Hz. A header with a lower rate, or with one above HIGHEST_RATE, is treated as damaged."""
HIGHEST_RATE = 1_000_000

LOUDEST = 32.0
"""30 dB above full scale. Larger samples are not loud sound, but integers in a file of floating-point numbers."""

_CHECK_VERSION = 12
"""The version of the check by `inspect_audio`; increase it when the check judges or counts differently."""

_WAV_CONTAINERS = {"WAV", "WAVEX"}
_INTEGER_SUBTYPES = {"PCM_U8", "PCM_16", "PCM_24", "PCM_32"}
_BLOCK = 1 << 16
_PIECE = 1 << 9
"""Samples of a wav that are read to find out whether it may be silent."""
_PIECE_SECONDS = 0.01
"""The same for a part of a recording."""
_STEP = 2.0**-15


@dataclass(frozen=True)
class AudioInfo:
    """What a recording holds, and how to recognize later that the file is still the same."""

    samples: int
    """Per channel, at the file's own rate."""
    sample_rate: int
    """Hz."""
    channels: int
    file_size: int
    """Bytes."""
    modified_ns: int
    """Modification time in nanoseconds."""
    decoded: bool = False
    """Whether the whole recording was decoded for this."""
    silent: bool = False
    """Whether all samples, channels averaged, are equal: nothing was recorded, or the channels cancel each other."""


def inspect_audio(path: str | PathLike[str]) -> AudioInfo:
    """Check that `read_audio` can read all of a recording, and return what the recording holds.

    Of a wav with integer samples, only the header and a piece are read, unless that piece is silent. Everything else is
    decoded to its end, and its samples are counted. As everywhere, ffmpeg, if it is installed, decodes what libsndfile
    cannot read.
    Raise AudioError if the file is missing, unreadable, truncated or without samples.
    """
    with open_recording(path) as (file_descriptor, sound):
        status = os.fstat(file_descriptor)
        samples = sound.frames
        decoded = sound.format not in _WAV_CONTAINERS or sound.subtype not in _INTEGER_SUBTYPES
        silent = False
        if decoded or _may_be_silent(path, sound):
            samples, silent = _length_and_silence(_decoded_blocks(path, sound))
        if samples < 1:
            raise AudioError(f"{path}: no samples")
        return AudioInfo(samples, sound.samplerate, sound.channels, status.st_size, status.st_mtime_ns, decoded, silent)


def reader_version() -> str:
    """Return the versions of this module and of the decoders, on which the result of `inspect_audio` depends."""
    return f"{_CHECK_VERSION} {soundfile.__libsndfile_version__} {ffmpeg.version()}"


def read_audio(path: str | PathLike[str], sample_rate: int, part: Part | None = None) -> Samples:
    """Return a recording as float32 [samples] in [-1, 1] at `sample_rate` Hz, its channels averaged.

    If a `part` is given and the format can be searched, only that part is decoded.
    Raise AudioError if the recording is missing, unreadable, without samples, or shorter than its header or part says.
    """
    with open_recording(path) as (_, sound):
        blocks = list(_decoded_blocks(path, sound) if part is None else _blocks_of_part(path, sound, part))
        file_rate = sound.samplerate
    if not blocks:
        raise AudioError(f"{path}: no samples")
    samples = np.concatenate(blocks)
    if file_rate != sample_rate:
        samples = soxr.resample(samples, file_rate, sample_rate)
    return np.clip(samples, -1, 1, out=samples)


def read_audio_blocks(path: str | PathLike[str], sample_rate: int, channel: int | None = None) -> Iterator[Samples]:
    """Yield the samples of `read_audio` in blocks, float32 [block], so that a long recording takes little memory.

    If a `channel` is given, counted from 0, only that one is read. Raise AudioError as `read_audio` does, after the
    blocks before the fault.
    """
    with _decoding(path) as (file_rate, _, decoded):
        resampler = soxr.ResampleStream(file_rate, sample_rate, 1, dtype="float32")
        unchanged = file_rate == sample_rate
        empty = True
        for block in decoded:
            empty = False
            signal = mono(path, block if channel is None else block[:, channel : channel + 1])
            resampled = signal if unchanged else resampler.resample_chunk(signal)
            yield np.clip(resampled, -1, 1)
        if empty:
            raise AudioError(f"{path}: no samples")
        if not unchanged:
            yield np.clip(resampler.resample_chunk(np.zeros(0, np.float32), last=True), -1, 1)


def channel_count(path: str | PathLike[str]) -> int:
    """Return the number of channels of a recording that `read_audio_blocks` reads; raise AudioError."""
    with _decoding(path) as (_, channels, _):
        return channels


def seconds_by_header(path: str | PathLike[str]) -> float | None:
    """Return the length of a recording by its header; None if the header does not give it. Raise AudioError."""
    if ffmpeg.container_of(Path(path)) is not None:
        return None
    with open_recording(path) as (_, sound):
        return sound.frames / sound.samplerate if _tells_length(sound) else None


def is_silent(path: str | PathLike[str], part: Part) -> bool:
    """Return whether all samples of a part of a recording are the same; only a piece is read unless that is silent.

    Return False for formats that would have to be decoded up to the part, such as mp3. Raise AudioError.
    """
    if ffmpeg.container_of(Path(path)) is not None:
        return False
    with open_recording(path) as (_, sound):
        if not sound.seekable():
            return False
        middle = (part.start + part.end) / 2
        pieces = Part(middle, min(middle + _PIECE_SECONDS, part.end)), part
        return all(_length_and_silence(_blocks_of_part(path, sound, each))[1] for each in pieces)


def resampled_length(samples: int, from_rate: int, to_rate: int) -> int:
    """Return how many samples `read_audio` makes of `samples`: rounded to nearest, in soxr's own arithmetic."""
    return int(samples / (from_rate / to_rate) + 0.5)


def mono(path: str | PathLike[str], block: Samples) -> Samples:
    """Return samples, float32 [samples, channels], channels averaged; raise AudioError for values that are no sound."""
    signal: Samples = block.mean(axis=1) if block.shape[1] > 1 else block[:, 0]
    peak = np.abs(signal).max(initial=0)
    if not np.isfinite(peak):
        raise AudioError(f"{path}: samples that are not finite numbers")
    if peak > LOUDEST:
        raise AudioError(f"{path}: samples far beyond full scale, which is 1: integers as floats? divide them by 32768")
    return signal


@contextmanager
def open_recording(path: str | PathLike[str]) -> Iterator[tuple[int, soundfile.SoundFile]]:
    """Open a recording, and yield its file descriptor and a reader of the same open file.

    Formats that ffmpeg decodes are first decoded to their end. Raise AudioError if the file is shorter than its header
    says, or if reading it fails.
    """
    path = Path(path)
    with _opened(path) as file_descriptor:
        container = ffmpeg.container_of_open(file_descriptor)
        with ffmpeg.decoded_whole(path, file_descriptor) if container else _sound_file(file_descriptor) as sound:
            _check_rate(path, sound.samplerate)
            check_size(path, file_descriptor, container or sound.format)
            yield file_descriptor, sound


@contextmanager
def _opened(path: Path) -> Iterator[int]:
    """Open a file and yield its descriptor; errors of libsndfile and the system in the block become AudioError."""
    try:
        file = opened(path)
    except (OSError, ValueError) as error:  # ValueError: a null character in the name
        raise AudioError(f"{path}: {getattr(error, 'strerror', error)}") from error
    try:
        with file:
            if not os.fstat(file.fileno()).st_size and path.is_file():  # a pipe has no size
                raise AudioError(f"{path}: the file is empty")
            try:
                yield file.fileno()
            except soundfile.LibsndfileError as error:
                raise AudioError(f"{path}: {why_no_audio(file.fileno(), error.error_string)}") from error
    except OSError as error:
        raise AudioError(f"{path}: {error.strerror}") from error


def _check_rate(path: Path, sample_rate: int) -> None:
    if not LOWEST_RATE <= sample_rate <= HIGHEST_RATE:
        raise AudioError(f"{path}: a sample rate of {sample_rate} Hz; {LOWEST_RATE} to {HIGHEST_RATE} Hz can be read")


@contextmanager
def _decoding(path: str | PathLike[str]) -> Iterator[tuple[int, int, Iterator[Samples]]]:
    """Open a recording, and yield its rate in Hz, its channels, and its samples as float32 [block, channels]."""
    path = Path(path)
    with _opened(path) as file_descriptor:
        if (container := ffmpeg.container_of_open(file_descriptor)) is not None:
            check_size(path, file_descriptor, container)
            with ffmpeg.decoded_by_ffmpeg(path, file_descriptor) as (wav, blocks):
                yield wav.sample_rate, wav.channels, blocks
            return
    with open_recording(path) as (_, sound):
        yield sound.samplerate, sound.channels, _blocks_of_channels(path, sound)


def _sound_file(file_descriptor: int) -> soundfile.SoundFile:
    """Return an open recording; an mp3 without a known length is read to its true end."""
    sound = RecordingFile(file_descriptor, closefd=False)
    if sound.format != "MP3" or has_length(file_descriptor):
        return sound
    sound.close()
    return RecordingFile(UnmeasuredFile(file_descriptor))


def _tells_length(sound: soundfile.SoundFile) -> bool:
    """Return whether the header gives the length; some mp3s, and FLAC that was written to a pipe, lack it."""
    return sound.frames < UNKNOWN_LENGTH and not isinstance(sound.name, UnmeasuredFile)


def _decoded_blocks(path: str | PathLike[str], sound: soundfile.SoundFile) -> Iterator[Samples]:
    """Yield the samples as float32 [block], channels averaged; raise AudioError if they end early or are not finite."""
    return (mono(path, block) for block in _blocks_of_channels(path, sound))


def _blocks_of_channels(path: str | PathLike[str], sound: soundfile.SoundFile) -> Iterator[Samples]:
    """Yield the samples as float32 [block, channels]; raise AudioError if they end early or the file is damaged."""
    check_contents(path, sound.name, sound.format)
    decoded = 0
    while len(block := _next_block(path, sound)):
        decoded += len(block)
        yield block
    if decoded < sound.frames and _tells_length(sound):
        raise AudioError(f"{path}: truncated: {decoded} samples of the {sound.frames} that its header promises")


def _blocks_of_part(path: str | PathLike[str], sound: soundfile.SoundFile, part: Part) -> Iterator[Samples]:
    """Yield the samples of a part as `_decoded_blocks` does; formats without seeking are decoded up to the part."""
    samples = part.samples(sound.samplerate, sys.maxsize)
    try:
        seek(sound, samples.start)
    except soundfile.LibsndfileError as error:
        raise AudioError(f"{path}: ends before {part.start:.3f} seconds") from error
    missing = samples.stop - samples.start
    while missing and len(block := _next_block(path, sound, missing)):
        missing -= len(block)
        yield mono(path, block)
    if missing and samples.stop < sys.maxsize:
        raise AudioError(f"{path}: ends before {part.end:.3f} seconds")


def _length_and_silence(blocks: Iterable[Samples]) -> tuple[int, bool]:
    """Return the number of samples, and whether they all lie within one 16-bit step."""
    length, lowest, highest = 0, np.inf, -np.inf
    for block in blocks:
        length += len(block)
        lowest, highest = min(lowest, block.min()), max(highest, block.max())
    return length, bool(highest - lowest < _STEP)


def _may_be_silent(path: str | PathLike[str], sound: soundfile.SoundFile) -> bool:
    """Return whether all samples of a piece from the middle of a wav, channels averaged, are the same."""
    sound.seek(sound.frames // 2)
    piece = _next_block(path, sound, _PIECE)
    sound.seek(0)
    return not len(piece) or _length_and_silence([mono(path, piece)])[1]


def _next_block(path: str | PathLike[str], sound: soundfile.SoundFile, most: int = _BLOCK) -> Samples:
    """Return the next samples, float32 [block, channels], none at the end; raise AudioError if that fails."""
    try:
        block: Samples = sound.read(min(most, _BLOCK), dtype="float32", always_2d=True)
    except soundfile.LibsndfileError as error:
        raise AudioError(f"{path}: truncated or damaged: it cannot be decoded to its end") from error
    return block
