"""The audio that the Python interface accepts: what DeepSpeech 0.9.3's converter accepted, and raw bytes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeGuard

import numpy as np
import numpy.typing as npt

from ...errors import SamplesShapeError, SamplesTypeError
from ...util.audio import LOUDEST
from ...util.containers.beginnings import begins_encoded_recording
from ...util.containers.wav import START_BYTES, is_wav

Samples = npt.NDArray[np.integer] | Sequence[int]
"""int16 [samples], or another form of them, such as bytes or an `array`; see `as_samples`."""

BYTE_FORMATS = ("B", "b", "c")
INT16 = np.iinfo(np.int16)
OF_FLOATS = "of floats in [-1, 1], make them by (32767 * samples).astype(numpy.int16)"
"""What to do with the samples that most Python libraries of audio return."""
NO_NUMBERS = "OSU"
"""NumPy's letters for the types of arrays of objects, bytes and texts."""
FIRST_BYTES = 4096
"""The bytes that show whether they are those of a file; two frames of MP3 are shorter."""
OF_FILES = "transcribe takes the path of a file, transcribe_many a list of paths"
"""What to call for a recording that is not an array of samples, such as a path."""


def as_samples(audio: Samples) -> npt.NDArray[np.int16]:
    """Return audio as int16 [samples], without a copy if it has this form already.

    It may be an array of a type whose values int16 can hold (int8, uint8, int16 of either byte order); a list or
    another sequence of integers; an `array` or another buffer of such a type; or a buffer of bytes, such as `bytes`,
    with two little-endian bytes for each sample. Raise SamplesTypeError for another type, and SamplesShapeError for
    audio that is not one channel, ends in half a sample, or has numbers that int16 cannot hold.
    """
    buffer = None if isinstance(audio, np.ndarray) else _buffer(audio)
    if _is_of_bytes(buffer):
        if buffer.nbytes % 2:
            raise SamplesShapeError(f"audio of {buffer.nbytes} bytes ends in half a sample of 16 bits")
        return np.frombuffer(buffer if buffer.contiguous else bytes(buffer), "<i2").astype(np.int16, copy=False)
    is_array = isinstance(audio, np.ndarray) or buffer is not None or hasattr(audio, "__array__")
    samples = _array(audio)
    empty = not is_array and not samples.size  # a list without numbers has no type
    if not empty and ((is_array and not _fits(samples)) or samples.dtype.kind not in "iu"):
        how = {"f": OF_FLOATS, **dict.fromkeys(NO_NUMBERS, OF_FILES)}.get(samples.dtype.kind)
        raise SamplesTypeError(f"audio must be int16 samples, not {_kind(audio, samples)}{f'; {how}' if how else ''}")
    if samples.ndim != 1:
        raise SamplesShapeError(f"audio must be one channel [samples], not an array of shape {samples.shape}")
    if not empty and not _fits(samples) and (samples.min() < INT16.min or samples.max() > INT16.max):
        raise SamplesShapeError(f"audio must be numbers from {INT16.min} to {INT16.max}")
    return samples.astype(np.int16, copy=False)


def as_recording(audio: Samples) -> npt.NDArray[np.int16]:
    """Return a whole recording as int16 [samples]; raise what `as_samples` raises.

    Raise SamplesTypeError also for the bytes of a file, which would be taken as samples at the model's rate.
    """
    buffer = None if isinstance(audio, np.ndarray) else _buffer(audio)
    if _is_of_bytes(buffer) and buffer.ndim == 1:
        start = bytes(buffer[:FIRST_BYTES])
        if is_wav(start[:START_BYTES]) or begins_encoded_recording(start):
            raise SamplesTypeError(f"audio must be int16 samples, not the bytes of a recorded file; {OF_FILES}")
    return as_samples(audio)


def as_signal(audio: Samples) -> npt.NDArray[np.float32]:
    """Return audio as float32 [samples] in [-1, 1); raise SamplesError as `as_samples` does."""
    return as_samples(audio).astype(np.float32) / np.float32(1 << 15)


def checked_signal(signal: npt.ArrayLike) -> npt.NDArray[np.float32]:
    """Return a signal as float32 [samples], which are in [-1, 1].

    Raise SamplesTypeError for integers, such as 16-bit samples, and SamplesShapeError for anything but one channel, and
    for numbers that are not finite or far beyond full scale, which files are refused for, too.
    """
    samples = _array(signal)
    if samples.dtype.kind != "f":
        raise SamplesTypeError(f"a signal must be float32 samples in [-1, 1], not {_kind(signal, samples)}")
    if samples.ndim != 1:
        raise SamplesShapeError(f"a signal must be one channel [samples], not an array of shape {samples.shape}")
    if not (peak := np.abs(samples).max(initial=0)) <= LOUDEST:  # which is also true for NaN
        told = f"a signal must be float32 samples in [-1, 1], but its highest magnitude is {peak:g}"
        raise SamplesShapeError(f"{told}; divide integers as floats by 32768" if np.isfinite(peak) else told)
    return samples.astype(np.float32, copy=False)


def _fits(samples: npt.NDArray[Any]) -> bool:
    """Return whether int16 can hold all numbers of an array's type."""
    return np.can_cast(samples.dtype, np.int16, "safe")


def _buffer(audio: Any) -> memoryview | None:
    """Return the buffer of an object; None if it has none."""
    try:
        return memoryview(audio)
    except (TypeError, ValueError, BufferError):
        return None


def _is_of_bytes(buffer: memoryview | None) -> TypeGuard[memoryview]:
    """Return whether a buffer has bytes, and no numbers of 16 bits."""
    return buffer is not None and buffer.format in BYTE_FORMATS


def _array(audio: Any) -> npt.NDArray[Any]:
    try:
        return np.asarray(audio)
    except (ValueError, OverflowError) as error:  # lists of lists that are not of the same length
        raise SamplesShapeError(f"audio must be one channel [samples]: {error}") from error
    except (TypeError, RuntimeError) as error:
        raise SamplesTypeError(f"audio must be an array of samples, not {type(audio).__name__}: {error}") from error


def _kind(audio: Any, samples: npt.NDArray[Any]) -> str:
    """Return a description of a value that was given instead of samples."""
    kind = "an array" if isinstance(audio, np.ndarray) else f"a value of type {type(audio).__name__}"
    return kind if samples.dtype.kind in NO_NUMBERS or not samples.ndim else f"{kind} of {samples.dtype}"
