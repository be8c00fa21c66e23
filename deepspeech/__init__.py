"""An end-to-end CTC speech recognizer: train it on your own recordings, then serve it.

from deepspeech import Model

print(Model("output_graph.pb").transcribe("speech.wav").text)
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .serving.aio import AsyncModel, AsyncStream
    from .serving.api import CandidateTranscript, Metadata, Model, Stream, TokenMetadata

__version__ = "1.0.0.dev0"

__all__ = [
    "AsyncModel",
    "AsyncStream",
    "CandidateTranscript",
    "Metadata",
    "Model",
    "Stream",
    "TokenMetadata",
    "version",
]


def version() -> str:
    """Return this package's version."""
    return __version__


def __getattr__(name: str) -> Any:
    """Load the recognizer at its first use, so that importing this package costs nothing."""
    if name.startswith("Async") and name in __all__:
        from .serving import aio

        return getattr(aio, name)
    if name in __all__:
        from .serving import api

        return getattr(api, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """Return the names of this package, also of what is not loaded yet: those that editors and shells complete."""
    return sorted({*globals(), *__all__})
