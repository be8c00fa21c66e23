"""Standard error without what the MPEG decoder inside libsndfile prints there; it says nothing that our errors do not.

It prints through C's variable `stderr`, in any thread. So that neither the program's own lines nor those of other
libraries wait or are lost, that variable alone is replaced, by a stream that passes on all other lines. The stream is
native code (native_client/standard_error/), as libraries print there while Python's lock cannot be had.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from importlib.util import find_spec


@contextmanager
def without_mpg123s_lines() -> Iterator[None]:
    """Drop the lines of libmpg123 from what libraries print on standard error.

    Do nothing where the C library is not glibc, or the native code has not been built.
    """
    stream = _stream()
    if stream is None:
        yield
        return
    with suppress(OSError):
        ctypes.CDLL("libstdc++.so.6")  # keeps, as std::cerr, what it finds in the variable when it is loaded
    variable = ctypes.c_void_p.in_dll(ctypes.CDLL(None), "stderr")
    before = variable.value
    variable.value = stream
    try:
        yield
    finally:
        variable.value = before


@cache
def _stream() -> int | None:
    """Return the address of C's FILE, one for all of a process's life: another thread may print when the block ends."""
    found = find_spec("deepspeech._standard_error")
    if found is None or found.origin is None:
        return None
    make = ctypes.CDLL(found.origin).deepspeech_stream_without_mpg123
    make.restype = ctypes.c_void_p
    stream: int | None = make()
    return stream
