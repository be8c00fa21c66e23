"""Speech from text with the espeak-ng library, which the package `espeakng-loader` contains with its voices.

espeak-ng keeps its state in global variables: use one `Synthesizer` at a time, from one thread.
"""

import ctypes
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import ImportingError
from ...web.libraries import needs

# Constants of espeak-ng's speak_lib.h.
OUTPUT_SYNCHRONOUS = 2  # speech is handed to the callback before espeak_Synth returns
POSITION_CHARACTER = 1
CHARACTERS_UTF8 = 1
PARAMETER_RATE, PARAMETER_PITCH = 1, 3

SAMPLE_CALLBACK = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_short), ctypes.c_int, ctypes.c_void_p)


@dataclass(frozen=True)
class Delivery:
    """The manner of speaking."""

    voice: str  # a language and, after a '+', a voice variant: en-us+f3
    speed: int  # words a minute; espeak-ng takes 80 to 450
    pitch: int  # 0 to 100 within the voice's own range


class Synthesizer:
    """A running espeak-ng. The same seed and the same calls in the same order give the same samples."""

    def __init__(self, seed: int) -> None:
        self._library, self._data = _load()
        rate = self._library.espeak_Initialize(OUTPUT_SYNCHRONOUS, 0, str(self._data).encode(), 0)
        if rate <= 0:
            raise ImportingError(f"espeak-ng does not start with its voices in {self._data}; reinstall espeakng-loader")
        self.sample_rate: int = rate
        self._blocks: list[NDArray[np.int16]] = []
        self._callback = SAMPLE_CALLBACK(self._receive)  # keeps it alive: espeak-ng holds no reference to it
        self._library.espeak_SetSynthCallback(self._callback)
        self._library.espeak_ng_SetRandSeed(ctypes.c_long(seed))

    def __enter__(self) -> "Synthesizer":
        return self

    def __exit__(self, *error: object) -> None:
        self._library.espeak_Terminate()

    def speak(self, text: str, delivery: Delivery) -> NDArray[np.int16]:
        """Return `text` as mono int16 samples [samples] at `sample_rate`. Raise ImportingError for an unknown voice."""
        self._blocks.clear()
        self._select_voice(delivery.voice)
        self._library.espeak_SetParameter(PARAMETER_RATE, delivery.speed, 0)
        self._library.espeak_SetParameter(PARAMETER_PITCH, delivery.pitch, 0)
        encoded = text.encode() + b"\0"
        status = self._library.espeak_Synth(
            encoded, ctypes.c_size_t(len(encoded)), 0, POSITION_CHARACTER, 0, CHARACTERS_UTF8, None, None
        )
        if status != 0 or not self._blocks:
            raise ImportingError(f"espeak-ng could not say '{text}' with voice {delivery.voice} (status {status})")
        return np.concatenate(self._blocks)

    def _select_voice(self, voice: str) -> None:
        _, _, variant = voice.partition("+")  # espeak-ng itself ignores a variant that does not exist
        known = not variant or (self._data / "voices" / "!v" / variant).is_file()
        if not known or self._library.espeak_SetVoiceByName(voice.encode()) != 0:
            raise ImportingError(f"espeak-ng has no voice '{voice}'; its voices lie in {self._data}")

    def _receive(self, samples: Any, count: int, _events: int | None) -> int:
        if samples and count > 0:
            self._blocks.append(np.ctypeslib.as_array(samples, (count,)).copy())
        return 0  # go on speaking


def _load() -> tuple[ctypes.CDLL, Path]:
    """Return the library and the folder of its voices."""
    try:
        import espeakng_loader
    except ImportError as error:
        raise ImportingError(needs("synthesized speech", ["espeakng-loader"], "synthesis")) from error
    try:
        return ctypes.CDLL(espeakng_loader.get_library_path()), Path(espeakng_loader.get_data_path())
    except (OSError, RuntimeError) as error:
        raise ImportingError(f"espeak-ng cannot be loaded: {error}; reinstall espeakng-loader") from error
