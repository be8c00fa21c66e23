"""Standard error without what the MPEG decoder inside libsndfile prints there; it says nothing that our errors do not.

It prints through C's variable `stderr`, in any thread. So that neither the program's own lines nor those of other
libraries wait or are lost, that variable alone is replaced, by a stream that passes on all other lines.
"""

from __future__ import annotations

import ctypes
import os
import platform
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache

_OF_MPG123 = re.compile(
    rb"\s*(\[src/libmpg123/|mpg123: "
    rb"|Note: (Illegal Audio-MPEG|Trying to resync|Skipped \d|Hit end of|Frankenstein|missing \d)"
    rb"|Warning: (Xing |Real sample count|Encountered more data))"
)
_UNBUFFERED = 2

_Write = ctypes.CFUNCTYPE(ctypes.c_ssize_t, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)


class _Functions(ctypes.Structure):
    """What a stream does: `cookie_io_functions_t` of fopencookie(3)."""

    _fields_ = (("read", ctypes.c_void_p), ("write", _Write), ("seek", ctypes.c_void_p), ("close", ctypes.c_void_p))


@contextmanager
def without_mpg123s_lines() -> Iterator[None]:
    """Drop the lines of libmpg123 from what libraries print on standard error.

    Do nothing where the C library is not glibc.
    """
    if platform.libc_ver()[0] != "glibc":
        yield
        return
    with suppress(OSError):
        ctypes.CDLL("libstdc++.so.6")  # keeps, as std::cerr, what it finds in the variable when it is loaded
    variable = ctypes.c_void_p.in_dll(ctypes.CDLL(None), "stderr")
    before = variable.value
    variable.value = _filter().stream or before
    try:
        yield
    finally:
        variable.value = before


@dataclass(frozen=True)
class _Filter:
    stream: int | None
    """The address of C's FILE; None if there is no memory for it."""
    functions: _Functions
    """What it calls, which must live as long as it does."""


@cache
def _filter() -> _Filter:
    """Return the stream, one for all of a process's life, as another thread may be printing when the block ends."""
    libc = ctypes.CDLL(None)
    libc.fopencookie.restype = ctypes.c_void_p
    libc.fopencookie.argtypes = (ctypes.c_void_p, ctypes.c_char_p, _Functions)
    libc.setvbuf.argtypes = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t)
    functions = _Functions(None, _Write(_pass_on), None, None)
    stream = libc.fopencookie(None, b"w", functions)
    if stream is not None:
        libc.setvbuf(stream, None, _UNBUFFERED, 0)
    return _Filter(stream, functions)


def _pass_on(_cookie: int | None, start: int, size: int) -> int:
    """Print `size` bytes at the address `start`, a line or some, unless they are libmpg123's."""
    printed = ctypes.string_at(start, size)
    if not _OF_MPG123.match(printed):
        try:
            os.write(2, printed)
        except OSError:
            return 0
    return size
