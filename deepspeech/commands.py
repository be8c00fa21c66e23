"""The commands as they are started. Each imports what it needs only here, where an interruption is one line."""

import atexit
import os
import signal
import sys
from collections.abc import Callable
from importlib import import_module

PACKAGES_OF_TRAINING = {
    *("absl", "h5py", "progressbar", "python_speech_features", "rapidfuzz", "scipy", "tensorflow"),
}
"""What the extra `train` installs, by the names under which it is imported."""


def train() -> int:
    """Run `deepspeech-train` and return its exit code."""
    return _run("train")


def transcribe() -> int:
    """Run `deepspeech` and return its exit code."""
    return _run("transcribe")


def weights() -> int:
    """Run `deepspeech-weights` and return its exit code."""
    return _run("weights.command", failure=2 if sys.argv[1:2] == ["compare"] else 1)


def evaluate() -> int:
    """Run `python -m deepspeech.evaluate` and return its exit code."""
    return _run("evaluate")


def compare_params() -> int:
    """Run `python -m deepspeech.compare_params` and return its exit code."""
    return _run("compare.params", failure=2)


def compare_reports() -> int:
    """Run `python -m deepspeech.compare_reports` and return its exit code."""
    return _run("compare.reports")


def import_corpus() -> int:
    """Run `python -m deepspeech.import_corpus` and return its exit code."""
    return _run("importing.corpus")


def write_shards() -> int:
    """Run `python -m deepspeech.write_shards` and return its exit code."""
    return _run("importing.shards")


def cut_words() -> int:
    """Run `python -m deepspeech.cut_words` and return its exit code."""
    return _run("importing.words")


def align() -> int:
    """Run `python -m deepspeech.align` and return its exit code."""
    return _run("align")


def server() -> int:
    """Run `deepspeech-server` and return its exit code; SIGHUP, to reload its models, waits until it serves them."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGHUP})
    return _run("server")


def calibrate() -> int:
    """Run `python -m deepspeech.calibrate` and return its exit code."""
    return _run("confidence.calibrate")


def missing_package(error: ModuleNotFoundError) -> str:
    """Return in one line what to install for a package of training's; raise the error again if it is of no extra."""
    package = (error.name or "").partition(".")[0]
    if package not in PACKAGES_OF_TRAINING:
        raise error
    install = "pip install '.[train]' in the checkout, or of a wheel pip install 'FILE.whl[train]'"
    return f"the package {package} is missing; install what training needs: {install}"


class ProcessEnd:
    """Ends the process after all that is registered for its exit, without taking the interpreter down.

    Before Python 3.14, a thread that comes back from compiled code while the interpreter is taken down is unwound
    through that code, and a destructor of C++ on the way aborts the process. Create one before anything else registers
    something: what is registered first runs last.
    """

    def __init__(self) -> None:
        """Change nothing for a process that ends without a code."""
        self._code: int | None = None
        atexit.register(self._end)

    def code_of(self, main: Callable[[], int]) -> int:
        """Run a program; return its exit code, with which the process ends."""
        self._code = main()
        return self._code

    def _end(self) -> None:
        if self._code is None:
            return
        try:
            for stream in (sys.stdout, sys.stderr):
                if stream is not None:
                    stream.flush()
        except (OSError, ValueError):
            return  # Python flushes once more, and reports it
        os._exit(self._code)


def _run(name: str, failure: int = 1) -> int:
    _open_closed_streams()
    return ProcessEnd().code_of(lambda: _code_of(name, failure))


def _open_closed_streams() -> None:
    """Let output that was closed, as by `>&-`, go nowhere: the next file to be opened would take its descriptor."""
    for name in ("stdin", "stdout", "stderr"):  # in the order of their descriptors, of which the lowest is taken
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), "r" if name == "stdin" else "w"))


def _code_of(name: str, failure: int) -> int:
    earlier = signal.signal(signal.SIGINT, _end)
    try:
        main = import_module(f".cli.{name}", __package__).main
    except ModuleNotFoundError as error:
        print(f"deepspeech: {missing_package(error)}", file=sys.stderr)
        return failure
    signal.signal(signal.SIGINT, earlier)
    code: int = main()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):  # the work is done; only the interpreter is to end
        signal.signal(number, signal.SIG_IGN)
    return code


def _end(number: int, _frame: object) -> None:
    """End at once, as modules that are being imported may take an exception for a fault of their own."""
    os.write(2, b"deepspeech: interrupted\n")
    os._exit(128 + number)
