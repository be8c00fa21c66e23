"""Events of the server: its description, and transcripts while they grow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate

from wyoming.asr import Transcript, TranscriptChunk, TranscriptStart, TranscriptStop
from wyoming.event import Event
from wyoming.info import AsrModel, AsrProgram, Attribution, Info

from .... import __version__
from ....util.transcripts import continued
from ...confidence.stability import parts
from ..live.protocol import Final, Partial
from ..models import LoadedModel

NAME = "deepspeech"


def info(models: Sequence[LoadedModel]) -> Info:
    """Return the description of the server and of its models that take live speech."""
    maker = Attribution(NAME, "")
    described = [
        AsrModel(
            name=model.name,
            attribution=maker,
            installed=True,
            description=f"{model.name}, {model.model.sampleRate()} Hz",
            version=None,
            languages=[model.model.language] if model.model.language else [],
        )
        for model in models
        if model.streams
    ]
    program = AsrProgram(
        name=NAME,
        attribution=maker,
        installed=True,
        description="Speech to text with models trained on one's own recordings",
        version=__version__,
        models=described,
        supports_transcript_streaming=True,
        prefers_auto_gain_enabled=False,
        prefers_noise_reduction_enabled=False,
    )
    return Info(asr=[program])


class GrowingTranscript:
    """The transcript of one stretch of audio, as events. Text is sent once it is stable."""

    def __init__(self, language: str | None) -> None:
        self._language = language
        self._finished = ""
        self._told = 0
        """How many parts of the utterance in progress have been sent."""
        self._begun = False

    def grow(self, event: Partial | Final) -> Iterator[Event]:
        """Yield events with the new text."""
        if isinstance(event, Partial):
            stable = len(_single_spaced(event.stable_text))
            yield from self._tell(_single_spaced(event.text), stable, spaced=event.spaced)
            return
        best = event.transcripts[0]
        text = _single_spaced(best.text)
        yield from self._tell(text, len(text), spaced=best.spaced)
        self._told = 0
        self._finished = continued(self._finished, text, spaced=best.spaced)

    def end(self) -> Iterator[Event]:
        """Yield the events that end the transcript, one of which has all of it."""
        yield from self._begin()
        yield Transcript(self._finished, language=self._language).event()
        yield TranscriptStop().event()

    def _begin(self) -> Iterator[Event]:
        if not self._begun:
            self._begun = True
            yield TranscriptStart(language=self._language).event()

    def _tell(self, text: str, stable: int, *, spaced: bool) -> Iterator[Event]:
        """Yield the event with the parts of the first `stable` characters of a text that have not been sent."""
        so_far = parts(text, spaced=spaced)  # of all: the beginning of a word of mixed scripts looks like a word
        so_far = so_far[: sum(end <= stable for end in accumulate(map(len, so_far)))]
        if further := "".join(so_far[self._told :]):
            whole = continued(self._finished, further, spaced=spaced)
            chunk = further if self._told else whole[len(self._finished) :]
            self._told = len(so_far)
            yield from self._begin()
            yield TranscriptChunk(chunk).event()


def _single_spaced(text: str) -> str:
    return " ".join(text.split())
