"""The published DeepSpeech 0.9.3 client, within this process: an independent reader of exported graphs."""

from __future__ import annotations

import ctypes
import importlib.util
import os
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt


class _Token(ctypes.Structure):
    _fields_ = (("text", ctypes.c_char_p), ("timestep", ctypes.c_uint), ("start_time", ctypes.c_float))


class _Candidate(ctypes.Structure):
    _fields_ = (("tokens", ctypes.POINTER(_Token)), ("token_count", ctypes.c_uint), ("confidence", ctypes.c_double))


class _Metadata(ctypes.Structure):
    _fields_ = (("candidates", ctypes.POINTER(_Candidate)), ("candidate_count", ctypes.c_uint))


class PublishedClient:
    """A model in the client's library, which `published_client.py` of the shared tools fetches."""

    def __init__(self, tools: Path, model: Path, scorer: Path | None = None) -> None:
        self._library = load_library(tools)
        self._model = ctypes.c_void_p()
        _check(self._library.DS_CreateModel(os.fsencode(model), ctypes.byref(self._model)))
        if scorer is not None:
            _check(self._library.DS_EnableExternalScorer(self._model, os.fsencode(scorer)))

    def __enter__(self) -> PublishedClient:
        return self

    def __exit__(self, *_: object) -> None:
        self._library.DS_FreeModel(self._model)

    def stt(self, samples: npt.NDArray[np.int16]) -> str:
        data = samples.tobytes()
        return _text(self._library, self._library.DS_SpeechToText(self._model, data, ctypes.c_uint(len(samples))))

    def hypotheses(self, samples: npt.NDArray[np.int16], count: int) -> list[tuple[str, float]]:
        """Return up to `count` texts and their confidences, best first."""
        data, size = samples.tobytes(), ctypes.c_uint(len(samples))
        metadata = self._library.DS_SpeechToTextWithMetadata(self._model, data, size, ctypes.c_uint(count))
        found = metadata.contents
        candidates = [found.candidates[place] for place in range(found.candidate_count)]
        result = [
            (
                b"".join(candidate.tokens[place].text for place in range(candidate.token_count)).decode(),
                candidate.confidence,
            )
            for candidate in candidates
        ]
        self._library.DS_FreeMetadata(metadata)
        return result

    def setBeamWidth(self, beam_width: int) -> None:  # noqa: N802 - as the published package has it
        _check(self._library.DS_SetModelBeamWidth(self._model, ctypes.c_uint(beam_width)))

    def createStream(self) -> PublishedStream:  # noqa: N802
        handle = ctypes.c_void_p()
        _check(self._library.DS_CreateStream(self._model, ctypes.byref(handle)))
        return PublishedStream(self._library, handle)

    def stream(self, samples: npt.NDArray[np.int16], step: int) -> str:
        """Return the text of samples that are fed `step` at a time."""
        stream = self.createStream()
        for start in range(0, len(samples), step):
            stream.feedAudioContent(samples[start : start + step])
        return stream.finishStream()


class PublishedStream:
    """One utterance whose audio comes bit by bit; the methods are named as in the published package."""

    def __init__(self, library: Any, handle: ctypes.c_void_p) -> None:
        self._library = library
        self._handle = handle

    def feedAudioContent(self, samples: npt.NDArray[np.int16]) -> None:  # noqa: N802
        self._library.DS_FeedAudioContent(self._handle, samples.tobytes(), ctypes.c_uint(len(samples)))

    def intermediateDecode(self) -> str:  # noqa: N802
        return _text(self._library, self._library.DS_IntermediateDecode(self._handle))

    def finishStream(self) -> str:  # noqa: N802
        return _text(self._library, self._library.DS_FinishStream(self._handle))

    def freeStream(self) -> None:  # noqa: N802
        self._library.DS_FreeStream(self._handle)


def _text(library: Any, pointer: int) -> str:
    text = ctypes.string_at(pointer).decode()
    library.DS_FreeString(ctypes.c_void_p(pointer))
    return text


def _check(status: int) -> None:
    assert status == 0, f"the published client refused it: error 0x{status:x}"


def load_library(tools: Path) -> Any:
    """Return the client's library, and fetch it first if it is not there."""
    specification = importlib.util.spec_from_file_location("published_client", tools / "published_client.py")
    assert specification is not None and specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    cache = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "deepspeech-0.9.3-client"
    library = module.library(cache)
    library.DS_SpeechToText.restype = ctypes.c_void_p
    library.DS_FinishStream.restype = ctypes.c_void_p
    library.DS_IntermediateDecode.restype = ctypes.c_void_p
    library.DS_SpeechToTextWithMetadata.restype = ctypes.POINTER(_Metadata)
    return library
