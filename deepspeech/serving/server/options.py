"""What the server can be told. Each field of `Limits` is a flag of the command, with its default and meaning."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from ..endpointing import EndpointRules
from ..layers.precision import AUTO

Number = TypeVar("Number", int, float)

PAGE_PORT = 8080
"""The port if none is given."""

LARGEST_LIMIT = 10**9
"""No limit is larger; so many seconds are 31 years."""


def limit(default: Number, meaning: str, least: float = 1) -> Number:
    """Return a field with its meaning, and the least value that it may have."""
    made: Number = field(default=default, metadata={"help": meaning, "least": least})
    return made


@dataclass(frozen=True)
class Limits:
    """What clients may ask of the server. Nothing is unlimited."""

    max_streams: int = limit(20, "live streams at once; further ones are answered 503")
    max_transcriptions: int = limit(2, "recordings transcribed at once; further ones wait")
    max_waiting: int = limit(16, "recordings that wait; further ones are answered 503", least=0)
    max_connections: int = limit(512, "connections at once; further ones are answered 503")
    max_body_megabytes: int = limit(100, "megabytes (2^20 bytes) of a recording that is sent")
    max_file_seconds: float = limit(7200.0, "seconds of audio of a recording")
    max_stream_seconds: float = limit(14400.0, "seconds of audio of a live stream")
    max_silence_seconds: float = limit(600.0, "seconds of audio without a word after which a live stream is closed")
    idle_seconds: float = limit(60.0, "seconds without a message after which a live stream is closed", least=0.1)
    request_seconds: float = limit(120.0, "seconds in which a request must have arrived", least=0.1)
    slow_reader_seconds: float = limit(
        10.0, "seconds in which a client must read what was sent; a connection is cut after them", least=0.1
    )
    max_unread_messages: int = limit(256, "messages that a live stream's client leaves unread before it is closed")
    max_message_kilobytes: int = limit(256, "kilobytes (2^10 bytes) of a message of a live stream")
    max_messages_per_second: int = limit(500, "messages a second that are read of a live stream; further ones wait")
    max_pending_seconds: float = limit(10.0, "seconds of a live stream's audio that wait; further audio is read later")
    busy_seconds: float = limit(
        1.0, "seconds that audio waits to be recognized above which further work is answered 503", least=0.01
    )
    max_hot_words: int = limit(1000, "hot words of a live stream", least=0)
    max_beam_width: int = limit(1024, "beam width that a live stream may choose")
    max_alternatives: int = limit(20, "alternatives that a live stream may ask for")


@dataclass(frozen=True)
class ServedModel:
    """A model under a name."""

    name: str
    path: Path
    scorer: Path | None = None
    """A language model: a scorer package or a KenLM file."""
    precision: str = AUTO
    """Of the network's weights, one of `deepspeech.serving.layers.precision.PRECISIONS`."""


@dataclass(frozen=True)
class ServerOptions:
    """Everything that the server can be told."""

    models: tuple[ServedModel, ...]
    """At least one; the first is taken where a client names none."""
    host: str = "127.0.0.1"
    port: int = PAGE_PORT
    """0: any that is free."""
    token: str | None = None
    """What clients must show; needed beyond loopback."""
    tls_certificate: Path | None = None
    """A PEM file, with the chain."""
    tls_key: Path | None = None
    wyoming_port: int | None = None
    """Where clients of Wyoming connect, at the same host; 0: any that is free; None: nowhere."""
    allowed_hosts: tuple[str, ...] = ()
    """Names under which clients may address the server, beside those of this machine and numeric addresses."""
    allowed_origins: tuple[str, ...] = ()
    """Origins of foreign pages that may use the server, as `https://example.org`."""
    endpoints: EndpointRules = field(default_factory=EndpointRules)
    """When an utterance of a live stream ends by itself."""
    voice_activity: bool = False
    """Whether the network rests until a detector hears a voice."""
    threads: int = 0
    """Threads that recognize; 0: one for each that is let in, up to 128."""
    drain_secs: float = 30.0
    """Seconds that are left, after SIGTERM, to what has been begun."""
    limits: Limits = field(default_factory=Limits)
