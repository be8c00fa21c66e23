"""The server's metrics in Prometheus' text format."""

from __future__ import annotations

from collections.abc import Container, Iterable
from functools import partial

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from .live.protocol import Event, Final
from .models import LoadedModel

NAMESPACE = "deepspeech_server"
"""What the names of all metrics begin with."""

LATENCIES = (0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1, 2, 5, 10)
"""Seconds."""
DURATIONS = (0.1, 0.3, 1, 3, 10, 30, 100, 300, 1000)

FORGETTING = 0.98
"""Factor by which the weight of earlier audio in the real-time factor falls with each new piece."""


class Metrics:
    """The metrics of one server; each has its own lock."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        gauge = partial(Gauge, namespace=NAMESPACE, registry=self._registry)
        counter = partial(Counter, namespace=NAMESPACE, registry=self._registry)
        histogram = partial(Histogram, namespace=NAMESPACE, registry=self._registry)
        self.streams = gauge("streams", "Live streams")
        self.most_streams = gauge("streams_limit", "Most live streams at once")
        self.transcriptions = gauge("transcriptions", "Recordings being transcribed")
        self.waiting = gauge("transcriptions_waiting", "Recordings waiting")
        self.upload_bytes = gauge("upload_bytes", "Bytes of recordings that arrive, wait or are transcribed")
        self.queue_seconds = gauge("queue_seconds", "Seconds that live audio waits to be recognized")
        self.real_time_factor = gauge("real_time_factor", "Seconds of work for a second of live audio")
        told = "Unix time when the model that is served was loaded, in seconds"
        self.loaded_at = gauge("model_loaded_timestamp_seconds", told, ["model"])
        told = "Times that a model could not be loaded again, and the one before it stayed"
        self.reload_failures = counter("model_reload_failures", told, ["model"])
        self.audio_seconds = counter("audio_seconds", "Seconds of audio recognized", ["kind"])
        self.work_seconds = counter("work_seconds", "Seconds of threads for its recognition", ["kind"])
        self.utterances = counter("utterances", "Utterances of live streams", ["reason"])
        self.refused = counter("refused", "Requests refused, and live streams that ended in an error", ["code"])
        told = "Seconds from the arrival of audio to the partial that covers it"
        self.partial_latency = histogram("partial_latency_seconds", told, buckets=LATENCIES)
        told = "Seconds from the end of an utterance to its final"
        self.final_latency = histogram("final_latency_seconds", told, buckets=LATENCIES)
        told = "Seconds from the request to the transcript of a recording"
        self.transcription_seconds = histogram("transcription_seconds", told, buckets=DURATIONS)
        self._newest_audio = self._newest_work = 0.0

    def loaded(self, models: Iterable[LoadedModel], failed: Container[str] = ()) -> None:
        """Take the times when the served models were loaded; count those that could not be loaded again, by name."""
        for each in models:
            self.loaded_at.labels(each.name).set(each.loaded_at)
            self.reload_failures.labels(each.name).inc(each.name in failed)

    def recognized(self, audio_seconds: float, work_seconds: float) -> None:
        """Count a piece of live audio and the time that its recognition took."""
        self.audio_seconds.labels("live").inc(audio_seconds)
        self.work_seconds.labels("live").inc(work_seconds)
        self._newest_audio = FORGETTING * self._newest_audio + audio_seconds
        self._newest_work = FORGETTING * self._newest_work + work_seconds
        if self._newest_audio:
            self.real_time_factor.set(self._newest_work / self._newest_audio)

    def told(self, event: Event, late_seconds: float) -> None:
        """Count an utterance's event of a live stream, this late after the audio or the command that caused it."""
        if isinstance(event, Final):
            self.final_latency.observe(late_seconds)
            self.utterances.labels(event.reason).inc()
        else:
            self.partial_latency.observe(late_seconds)

    def transcribed(self, audio_seconds: float, work_seconds: float) -> None:
        """Count a part of a recording and the time that its recognition took."""
        self.audio_seconds.labels("recording").inc(audio_seconds)
        self.work_seconds.labels("recording").inc(work_seconds)

    def text(self) -> tuple[bytes, str]:
        """Return the metrics as text, and its content type."""
        return generate_latest(self._registry), CONTENT_TYPE_LATEST
