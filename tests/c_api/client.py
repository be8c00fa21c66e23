"""The shared library of the C interface, in this process."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from deepspeech.serving.transcripts import TimedWord, Transcript

ROOT = Path(__file__).resolve().parents[2]
LIBRARY = ROOT / "build/c_api/libdeepspeech.so"

Samples = npt.NDArray[np.int16]
Tokens = list[tuple[str, int, float]]
"""Texts, frames and seconds."""


class _Token(ctypes.Structure):
    _fields_ = (("text", ctypes.c_char_p), ("timestep", ctypes.c_uint), ("start_time", ctypes.c_float))


class _Candidate(ctypes.Structure):
    _fields_ = (("tokens", ctypes.POINTER(_Token)), ("num_tokens", ctypes.c_uint), ("confidence", ctypes.c_double))


class _Metadata(ctypes.Structure):
    _fields_ = (("transcripts", ctypes.POINTER(_Candidate)), ("num_transcripts", ctypes.c_uint))


class _Word(ctypes.Structure):
    _fields_ = (
        *(("text", ctypes.c_char_p), ("start", ctypes.c_double), ("end", ctypes.c_double)),
        ("confidence", ctypes.c_double),
    )


class _Transcript(ctypes.Structure):
    _fields_ = (
        *(("text", ctypes.c_char_p), ("words", ctypes.POINTER(_Word)), ("num_words", ctypes.c_uint)),
        ("confidence", ctypes.c_double),
    )


class _Transcripts(ctypes.Structure):
    _fields_ = (("transcripts", ctypes.POINTER(_Transcript)), ("num_transcripts", ctypes.c_uint))


_RESULTS: dict[Any, tuple[str, ...]] = {
    ctypes.c_void_p: (
        *("DS_SpeechToText", "DS_IntermediateDecode", "DS_FinishStream", "DS_Version", "DS_ErrorCodeToErrorMessage"),
        "DS_GetModelLanguage",
    ),
    ctypes.POINTER(_Metadata): (
        *("DS_SpeechToTextWithMetadata", "DS_IntermediateDecodeWithMetadata", "DS_FinishStreamWithMetadata"),
    ),
    ctypes.POINTER(_Transcripts): (
        *("DS_SpeechToTextWithWords", "DS_IntermediateDecodeWithWords", "DS_FinishStreamWithWords"),
    ),
    ctypes.c_char_p: ("DS_LastErrorMessage",),
    ctypes.c_uint: ("DS_GetModelBeamWidth",),
    None: (
        *("DS_FreeModel", "DS_FreeStream", "DS_FreeString", "DS_FreeMetadata", "DS_FeedAudioContent"),
        "DS_FreeTranscripts",
    ),
}


class Library:
    """The library's functions; a failure raises RuntimeError with the library's message."""

    def __init__(self, path: Path) -> None:
        self.functions = ctypes.CDLL(str(path))
        for kind, names in _RESULTS.items():
            for name in names:
                getattr(self.functions, name).restype = kind

    def check(self, code: int) -> None:
        if code != 0:
            raise RuntimeError(f"{code:#x}: {self.functions.DS_LastErrorMessage().decode()}")

    def text(self, pointer: int | None) -> str:
        self.check(0 if pointer else self.functions.DS_LastErrorCode())
        text = ctypes.string_at(pointer or 0).decode()
        self.functions.DS_FreeString(ctypes.c_void_p(pointer))
        return text

    def transcripts(self, pointer: Any) -> list[tuple[float, Tokens]]:
        """Return the confidence and the tokens of each transcript."""
        self.check(0 if pointer else self.functions.DS_LastErrorCode())
        found = pointer.contents
        candidates = [found.transcripts[place] for place in range(found.num_transcripts)]
        read = [
            (
                candidate.confidence,
                [(token.text.decode(), token.timestep, token.start_time) for token in _listed(candidate)],
            )
            for candidate in candidates
        ]
        self.functions.DS_FreeMetadata(pointer)
        return read

    def transcripts_with_words(self, pointer: Any) -> list[Transcript]:
        """Return transcripts in the Python package's classes."""
        self.check(0 if pointer else self.functions.DS_LastErrorCode())
        found = pointer.contents
        read = [_transcript(found.transcripts[place]) for place in range(found.num_transcripts)]
        self.functions.DS_FreeTranscripts(pointer)
        return read


class CModel:
    """A model of the library, with the methods of the Python package's `Model`."""

    def __init__(self, library: Library, path: Path, precision: str | None = None) -> None:
        self.library, self.call = library, library.functions
        self.handle = ctypes.c_void_p()
        file, place = os.fsencode(path), ctypes.byref(self.handle)
        if precision is None:
            library.check(self.call.DS_CreateModel(file, place))
        else:
            library.check(self.call.DS_CreateModelWithPrecision(file, precision.encode(), place))

    def __enter__(self) -> CModel:
        return self

    def __exit__(self, *_: object) -> None:
        self.call.DS_FreeModel(self.handle)

    def enableExternalScorer(self, path: Path) -> None:  # noqa: N802
        self.library.check(self.call.DS_EnableExternalScorer(self.handle, os.fsencode(path)))

    def setScorerAlphaBeta(self, alpha: float, beta: float) -> None:  # noqa: N802
        code = self.call.DS_SetScorerAlphaBeta(self.handle, ctypes.c_float(alpha), ctypes.c_float(beta))
        self.library.check(code)

    def addHotWord(self, word: str, boost: float) -> None:  # noqa: N802
        self.library.check(self.call.DS_AddHotWord(self.handle, word.encode(), ctypes.c_float(boost)))

    def stt(self, samples: Samples) -> str:
        return self.library.text(self.call.DS_SpeechToText(self.handle, *_audio(samples)))

    def transcripts(self, samples: Samples, count: int) -> list[tuple[float, Tokens]]:
        metadata = self.call.DS_SpeechToTextWithMetadata(self.handle, *_audio(samples), ctypes.c_uint(count))
        return self.library.transcripts(metadata)

    def candidates(self, samples: Samples, count: int) -> list[Transcript]:
        found = self.call.DS_SpeechToTextWithWords(self.handle, *_audio(samples), ctypes.c_uint(count))
        return self.library.transcripts_with_words(found)

    def streamed_words(self, samples: Samples, count: int) -> tuple[list[Transcript], list[Transcript]]:
        """Return the transcripts of a stream before it is finished, and those after."""
        stream, wanted = ctypes.c_void_p(), ctypes.c_uint(count)
        self.library.check(self.call.DS_CreateStream(self.handle, ctypes.byref(stream)))
        self.call.DS_FeedAudioContent(stream, *_audio(samples))
        so_far = self.library.transcripts_with_words(self.call.DS_IntermediateDecodeWithWords(stream, wanted))
        return so_far, self.library.transcripts_with_words(self.call.DS_FinishStreamWithWords(stream, wanted))

    def streamed(self, samples: Samples, size: int, count: int = 1) -> list[tuple[float, Tokens]]:
        """Return the transcripts of samples that are fed `size` at a time, with partial transcripts in between."""
        stream = ctypes.c_void_p()
        self.library.check(self.call.DS_CreateStream(self.handle, ctypes.byref(stream)))
        for start in range(0, len(samples), size):
            self.call.DS_FeedAudioContent(stream, *_audio(samples[start : start + size]))
            if start % (16 * size) == 0:
                self.library.text(self.call.DS_IntermediateDecode(stream))
        return self.library.transcripts(self.call.DS_FinishStreamWithMetadata(stream, ctypes.c_uint(count)))


def _audio(samples: Samples) -> tuple[bytes, ctypes.c_uint]:
    return samples.tobytes(), ctypes.c_uint(len(samples))


def _listed(candidate: _Candidate) -> list[_Token]:
    return [candidate.tokens[place] for place in range(candidate.num_tokens)]


def _transcript(found: _Transcript) -> Transcript:
    words = [found.words[place] for place in range(found.num_words)]
    timed = tuple(TimedWord(word.text.decode(), word.start, word.end, word.confidence) for word in words)
    return Transcript(found.text.decode(), timed, found.confidence)
