"""Command lines of programs: arguments, and errors that are one line and exit code 1."""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

from ..errors import DeepSpeechError, FlagError


class ArgumentParser(argparse.ArgumentParser):
    """An argument parser whose errors are `FlagError`s, and whose help begins with the script's own docstring."""

    def __init__(self, description: str | None) -> None:
        super().__init__(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)

    def error(self, message: str) -> NoReturn:
        """Raise `FlagError` instead of printing the usage and exiting with code 2."""
        raise FlagError(f"{message} (--help lists the arguments)")


def run(main: Callable[[], None]) -> NoReturn:
    """Run `main` and exit: 0 when it returns, 1 with one line on stderr when it fails, 130 when it is interrupted."""
    try:
        main()
    except (DeepSpeechError, OSError) as error:
        sys.exit(f"{Path(sys.argv[0]).name}: error: {' '.join(str(error).split())}")
    except KeyboardInterrupt:
        sys.exit(130)
    sys.exit(0)
