"""The server's options. Each field of `Limits` is a flag of the command, with its default and its help text."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from ..endpointing import EndpointRules
from ..layers.precision import AUTO

Number = TypeVar("Number", int, float)

PAGE_PORT = 8080
"""The default port."""

LARGEST_LIMIT = 10**9
"""The largest value of a limit; in seconds, 31 years."""


def limit(default: Number, meaning: str, least: float = 1) -> Number:
    """Return a field with its help text and its least allowed value."""
    made: Number = field(default=default, metadata={"help": meaning, "least": least})
    return made


@dataclass(frozen=True)
class Limits:
    """The limits on clients, all of them finite."""

    max_streams: int = limit(20, "live streams at once; further ones are answered 503")
    max_transcriptions: int = limit(2, "recordings transcribed at once; further ones wait")
    max_waiting: int = limit(16, "recordings that wait; further ones are answered 503", least=0)
    max_connections: int = limit(512, "connections at once; further ones are answered 503")
    max_body_megabytes: int = limit(100, "megabytes (2^20 bytes) of an uploaded recording")
    max_file_seconds: float = limit(7200.0, "seconds of audio of a recording")
    max_stream_seconds: float = limit(14400.0, "seconds of audio of a live stream")
    max_silence_seconds: float = limit(600.0, "seconds of audio without a word after which a live stream is closed")
    idle_seconds: float = limit(60.0, "seconds without a message after which a live stream is closed", least=0.1)
    request_seconds: float = limit(120.0, "seconds within which a request must arrive", least=0.1)
    slow_reader_seconds: float = limit(
        10.0, "seconds within which a client must read what was sent; then the connection is cut", least=0.1
    )
    max_unread_messages: int = limit(256, "unread messages of a live stream's client after which the stream is closed")
    max_message_kilobytes: int = limit(256, "kilobytes (2^10 bytes) of a message of a live stream")
    max_messages_per_second: int = limit(500, "messages of a live stream that are read per second; further ones wait")
    max_pending_seconds: float = limit(10.0, "seconds of a live stream's audio that wait; further audio is read later")
    busy_seconds: float = limit(
        1.0, "seconds that live audio may wait for recognition; beyond that, further work is answered 503", least=0.01
    )
    max_hot_words: int = limit(1000, "hot words of a live stream, and keywords[] of a recording", least=0)
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
    """The precision of the network's weights, one of `deepspeech.serving.layers.precision.PRECISIONS`."""


@dataclass(frozen=True)
class ServerOptions:
    """All options of the server."""

    models: tuple[ServedModel, ...]
    """At least one; clients that name none get the first."""
    host: str = "127.0.0.1"
    port: int = PAGE_PORT
    """0: any free port."""
    token: str | None = None
    """The secret that clients must send; required unless the server listens only on loopback."""
    tls_certificate: Path | None = None
    """A PEM file, with the chain."""
    tls_key: Path | None = None
    wyoming_port: int | None = None
    """The port for Wyoming, on the same host; 0: any free port; None: no Wyoming."""
    allowed_hosts: tuple[str, ...] = ()
    """Further names of the server, besides those of this machine and IP addresses."""
    allowed_origins: tuple[str, ...] = ()
    """Origins of other sites' pages that may use the server, such as `https://example.org`."""
    endpoints: EndpointRules = field(default_factory=EndpointRules)
    """When an utterance of a live stream ends by itself."""
    voice_activity: bool = False
    """Whether the network runs only once a detector finds a voice."""
    threads: int = 0
    """Threads that recognize live streams; 0: one for each allowed stream, up to 128."""
    drain_secs: float = 30.0
    """Seconds after SIGTERM in which work in progress may finish."""
    limits: Limits = field(default_factory=Limits)
