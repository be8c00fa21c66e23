"""The flags for the end of an utterance, and the utterances of a signal as lines of text."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from dataclasses import fields

import numpy as np
import numpy.typing as npt

from ...errors import AudioError, FlagError, ModelError
from ...serving.api import Model
from ...serving.endpointing import EndpointRules
from ...serving.endpointing.voice_activity import VoiceActivity
from .live_text import LiveText

CHUNK_SECONDS = 0.1
"""The default length of the pieces in which audio is fed."""

_HELP = {
    "silence_after_words": "seconds of silence that end an utterance with words; 0: never",
    "silence_without_words": "seconds of silence that end an utterance without words; 0: never",
    "longest_utterance": "seconds after which an utterance ends at its last long pause; 0: never",
}


def add_endpoint_flags(parser: argparse.ArgumentParser, effect: str = "") -> None:
    """Add a flag for each rule, with `effect` at the end of its help, and one for the voice activity detector."""
    defaults = EndpointRules()
    for field in fields(EndpointRules):
        default = getattr(defaults, field.name)
        text = f"{_HELP[field.name]} (default: {default:g}){effect}"
        parser.add_argument(f"--endpoint_{field.name}", type=float, metavar="SECONDS", help=text)
    parser.add_argument(
        "--voice_activity",
        action="store_true",
        help="run the network only once silero-vad detects a voice; needs the extra voice_activity",
    )


def endpoint_rules(options: argparse.Namespace) -> EndpointRules | None:
    """Return the rules of the flags; None if no flag asks for utterances. Raise FlagError for a wrong value."""
    given = _given(options)
    return rules_of(options) if given or options.stream or options.voice_activity else None


def rules_of(options: argparse.Namespace) -> EndpointRules:
    """Return the rules of the flags, or the defaults if they are not given. Raise FlagError for a wrong value."""
    try:
        return EndpointRules(**_given(options))
    except ModelError as error:
        raise FlagError(f"--endpoint_{error}") from None


def _given(options: argparse.Namespace) -> dict[str, float]:
    values = {field.name: getattr(options, f"endpoint_{field.name}") for field in fields(EndpointRules)}
    return {name: value for name, value in values.items() if value is not None}


def voice_activity(options: argparse.Namespace) -> VoiceActivity | None:
    """Return the detector if the flags ask for it; raise FlagError if it is not installed."""
    try:
        return VoiceActivity() if options.voice_activity else None
    except ModelError as error:
        raise FlagError(f"--voice_activity: {error}") from None


def print_utterances(
    model: Model,
    blocks: Iterable[npt.NDArray[np.float32]],
    rules: EndpointRules,
    voice: VoiceActivity | None,
    chunk: int | None,
    live: LiveText,
) -> None:
    """Print each utterance of a signal, float32 [samples] in [-1, 1], when it ends, unless it is empty.

    With a `chunk`, the number of samples that are fed at a time, a terminal also shows the text while it changes. If
    the signal cannot be read to its end, print the utterance so far before the AudioError is raised.
    """
    recognition = model.recognition(rules, voice)
    step = chunk or int(CHUNK_SECONDS * model.sampleRate())
    pieces = (block[start : start + step] for block in blocks for start in range(0, len(block), step))
    try:
        for piece in pieces:
            recognition.feed(piece)
            while recognition.endpoint() is not None:
                following = recognition.following()
                live.finish(recognition.finish()[0].text)
                recognition = following
            if chunk:
                live.show(recognition.peek()[0].text)
    except AudioError:
        live.finish(recognition.finish()[0].text)
        raise
    live.finish(recognition.finish()[0].text)
