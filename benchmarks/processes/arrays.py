"""Sends arrays between processes, over their standard input and output. Needs only NumPy."""

import io
import struct
from collections.abc import Mapping
from typing import IO, Any

import numpy as np

_LENGTH = struct.Struct("<Q")


def send(stream: IO[bytes], **arrays: Any) -> None:
    """Send named arrays as one message."""
    content = io.BytesIO()
    np.savez(content, **arrays)
    stream.write(_LENGTH.pack(len(content.getbuffer())))
    stream.write(content.getbuffer())
    stream.flush()


def receive(stream: IO[bytes]) -> Mapping[str, Any] | None:
    """Return the arrays of the next message; None if the other side has ended."""
    length = stream.read(_LENGTH.size)
    if len(length) < _LENGTH.size:
        return None
    with np.load(io.BytesIO(stream.read(*_LENGTH.unpack(length)))) as arrays:
        return dict(arrays)
