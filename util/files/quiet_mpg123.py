"""Suppresses the lines that the MPEG decoder inside libsndfile prints to standard error; our errors say the same.

The decoder prints through C's variable `stderr`, in any thread. Only this variable is replaced, by a stream that passes
all other lines on, so lines of the program and of other libraries are neither delayed nor lost. The stream is native
code (native_client/standard_error/), because libraries print while Python's lock is not available.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from importlib.util import find_spec


@contextmanager
def without_mpg123s_lines() -> Iterator[None]:
    """Drop the lines of libmpg123 from the output of libraries to standard error.

    Do nothing if the C library is not glibc, or if the native code has not been built.
    """
    stream = _stream()
    if stream is None:
        yield
        return
    with suppress(OSError):
        ctypes.CDLL("libstdc++.so.6")  # load it first: its std::cerr keeps the value that the variable has at loading
    variable = ctypes.c_void_p.in_dll(ctypes.CDLL(None), "stderr")
    before = variable.value
    variable.value = stream
    try:
        yield
    finally:
        variable.value = before


@cache
def _stream() -> int | None:
    """Return the address of C's FILE. It lives as long as the process, as another thread may print after the block."""
    found = find_spec("deepspeech._standard_error")
    if found is None or found.origin is None:
        return None
    make = ctypes.CDLL(found.origin).deepspeech_stream_without_mpg123
    make.restype = ctypes.c_void_p
    stream: int | None = make()
    return stream
