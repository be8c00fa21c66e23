"""What every script of this folder shares: arguments, progress bars, and errors that are one line and exit code 1."""

import argparse
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import NoReturn

import progressbar


class ScriptError(Exception):
    """The script cannot go on; the message is one line that says what was wrong, where, and what to do."""


class ArgumentParser(argparse.ArgumentParser):
    """An argument parser whose errors are `ScriptError`s, and whose help begins with the script's own docstring."""

    def __init__(self, description: str | None) -> None:
        super().__init__(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)

    def error(self, message: str) -> NoReturn:
        """Raise `ScriptError` instead of printing the usage and exiting with code 2."""
        raise ScriptError(f"{message} (--help lists the arguments)")


def run(main: Callable[[], None]) -> NoReturn:
    """Run `main` and exit: 0 when it returns, 1 with one line on stderr when it fails, 130 when it is interrupted."""
    try:
        main()
    except (ScriptError, OSError) as error:
        sys.exit(f"{Path(sys.argv[0]).name}: error: {' '.join(str(error).split())}")
    except KeyboardInterrupt:
        sys.exit(130)
    sys.exit(0)


def report(message: str) -> None:
    """Print one line of news to stderr; stdout is kept for results."""
    print(message, file=sys.stderr, flush=True)


class Progress:
    """A progress bar on stderr, drawn only where stderr is a terminal; `total` counts what `advance` is given."""

    def __init__(self, title: str, total: int | None) -> None:
        length: int | type[progressbar.UnknownLength] = progressbar.UnknownLength if total is None else total
        self._bar = progressbar.ProgressBar(max_value=length, prefix=f"{title} ") if sys.stderr.isatty() else None
        self._done = 0

    def __enter__(self) -> "Progress":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.finish(dirty=kind is not None)

    def advance(self, count: int = 1) -> None:
        """Count `count` more of the total as done."""
        self._done += count
        if self._bar is not None:
            self._bar.update(self._done)


@contextmanager
def written_whole(path: Path) -> Iterator[Path]:
    """Yield a path beside `path` to write to; it takes the place of `path` when the block ends without an error."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    try:
        yield beside
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


@contextmanager
def folder_written_whole(path: Path) -> Iterator[Path]:
    """Yield a new folder beside `path`; it takes the place of `path` only when the block ends without an error."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix=f".{path.name}.", dir=path.parent) as parent:
        beside = Path(parent, "new")
        beside.mkdir()
        yield beside
        if path.exists():
            path.rename(Path(parent, "old"))
        beside.rename(path)
