"""Endpointing: finding where an utterance of an endless signal ends."""

from .rules import Endpoint, EndpointRules

__all__ = ["Endpoint", "EndpointRules"]
