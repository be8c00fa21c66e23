"""Speech from standard input: raw samples, or a WAV of any rate."""

from __future__ import annotations

import logging
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader

import numpy as np
import numpy.typing as npt
import soxr

from ...errors import AudioError
from ...util.audio import HIGHEST_RATE, LOWEST_RATE, mono
from ...util.containers.beginnings import begins_encoded_recording
from ...util.containers.mpeg_frames import HEADER_BYTES, frame_bytes
from ...util.containers.wav import START_BYTES, WavFormat, is_wav, read_wav_format

logger = logging.getLogger(__name__)

PIPE = "-"
PIPE_BYTES = 1 << 14
"""Bytes read from a pipe at a time: half a second at 16 kHz."""

Array = npt.NDArray[np.float32]


class Pipe:
    """Standard input. An interruption (Ctrl-C) while it is read ends it, so that the text so far is not lost."""

    def __init__(self) -> None:
        self.interrupted = False
        """Whether it was interrupted."""
        self._waiting = False

    def blocks(self, sample_rate: int) -> Iterator[Array]:
        """Yield the samples while they come, float32 [samples] in [-1, 1] at `sample_rate` Hz.

        Raw samples have 16 bits, little-endian, and that rate; the channels of a WAV are averaged. Bytes of an
        incomplete sample at the end are ignored, and a WAV that ends early leads to a warning. Raise AudioError if
        there are no samples, or they cannot be read.
        """
        if sys.stdin is None:
            raise AudioError(f"{PIPE}: standard input is closed")
        pipe = sys.stdin.buffer
        assert isinstance(pipe, BufferedReader)
        empty = True
        try:
            with self._ended_by_interruption():
                for block in self._decoded(pipe, sample_rate):
                    empty = empty and not len(block)
                    yield block
        except OSError as error:
            raise AudioError(f"{PIPE}: cannot be read ({error.strerror})") from error
        if empty and self.interrupted:
            raise KeyboardInterrupt
        if empty:
            raise AudioError(f"{PIPE}: no samples")

    def _decoded(self, pipe: BufferedReader, sample_rate: int) -> Iterator[Array]:
        start = self._read(pipe, START_BYTES)
        to_second_frame = (frame_bytes(start) or 0) + HEADER_BYTES - len(start)
        if to_second_frame > 0:
            start += self._read(pipe, to_second_frame)
        if begins_encoded_recording(start):
            raise AudioError(f"{PIPE}: a recording that is not WAV; give it as a file, or pipe a WAV or raw samples")
        if not is_wav(start):
            raw = WavFormat(sample_rate, channels=1, kind=1, bits=16, data_bytes=None)
            yield from self._samples(pipe, raw, start)
            return
        try:
            wav = read_wav_format(lambda size: self._read(pipe, size))
        except AudioError as error:
            raise AudioError(f"{PIPE}: {error}") from None
        if not LOWEST_RATE <= wav.sample_rate <= HIGHEST_RATE:
            allowed = f"rates from {LOWEST_RATE} to {HIGHEST_RATE} Hz can be read"
            raise AudioError(f"{PIPE}: a sample rate of {wav.sample_rate} Hz; {allowed}")
        samples = self._samples(pipe, wav, b"")
        if wav.sample_rate == sample_rate:
            yield from (np.clip(block, -1, 1) for block in samples)
            return
        resampler = soxr.ResampleStream(wav.sample_rate, sample_rate, 1, dtype="float32")
        for block in samples:
            yield np.clip(resampler.resample_chunk(block), -1, 1)
        yield np.clip(resampler.resample_chunk(np.zeros(0, np.float32), last=True), -1, 1)

    def _samples(self, pipe: BufferedReader, form: WavFormat, left: bytes) -> Iterator[Array]:
        """Yield float32 [samples] from the bytes `left`, which were read before, and from the rest of the input."""
        to_come = form.data_bytes
        while to_come is None or to_come > 0:
            data = self._read(pipe, PIPE_BYTES if to_come is None else min(PIPE_BYTES, to_come), at_once=True)
            to_come = None if to_come is None else to_come - len(data)
            whole = len(left + data) // form.frame_bytes * form.frame_bytes
            block, left = (left + data)[:whole], (left + data)[whole:]
            if block:
                yield mono(PIPE, form.samples(block))
            if not data:
                if to_come and not self.interrupted:
                    missing = to_come / form.frame_bytes / form.sample_rate
                    logger.warning("%s: the WAV ends %.1f s before its header says; was it cut off?", PIPE, missing)
                return

    def _read(self, pipe: BufferedReader, size: int, *, at_once: bool = False) -> bytes:
        """Return `size` bytes, or with `at_once` those that are available first; fewer, or none, at the end."""
        try:
            self._waiting = True
            if self.interrupted:
                return b""
            return pipe.read1(size) if at_once else pipe.read(size)
        except KeyboardInterrupt:
            return b""
        finally:
            self._waiting = False

    @contextmanager
    def _ended_by_interruption(self) -> Iterator[None]:
        """Treat the first interruption as the end of the input, and leave further ones to the handler before."""

        def end(*_arguments: object) -> None:
            self.interrupted = True
            signal.signal(signal.SIGINT, before)
            if self._waiting:
                raise KeyboardInterrupt

        before = signal.getsignal(signal.SIGINT)
        if before is signal.SIG_IGN or threading.current_thread() is not threading.main_thread():
            yield
            return
        signal.signal(signal.SIGINT, end)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)
