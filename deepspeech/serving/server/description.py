"""The OpenAPI description of the server."""

from __future__ import annotations

from typing import Any

from ... import __version__
from .options import Limits

JSON = "application/json"


def describe(_limits: Limits) -> dict[str, Any]:
    """Return the description, as a value for JSON."""
    return {
        "openapi": "3.1.0",
        "info": {"title": "DeepSpeech server", "version": __version__},
        "security": [{"token": []}, {}],
        "paths": {},
        "components": {"securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
    }
