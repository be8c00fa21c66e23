"""Writing flatbuffers."""

from typing import Any


def aligned_bytes(builder: Any, content: bytes | memoryview, alignment: int) -> int:
    """Write a vector of bytes, aligned to a multiple of `alignment`, into a `flatbuffers.Builder`; return its place.

    The library's own vectors of bytes are not aligned, and are written byte by byte.
    """
    builder.StartVector(1, len(content), alignment)
    builder.head -= len(content)
    builder.Bytes[builder.head : builder.head + len(content)] = content
    place: int = builder.EndVector()
    return place
