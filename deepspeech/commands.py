"""The entry points of the commands. They import each program late, so that an interruption prints only one line."""

import atexit
import os
import signal
import sys
from collections.abc import Callable
from importlib import import_module

from .util.errors import DeepSpeechError

PACKAGES_OF_TRAINING = {
    *("absl", "h5py", "progressbar", "python_speech_features", "rapidfuzz", "scipy", "tensorflow"),
}
"""The packages of the extra `train`, by the names under which they are imported."""


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
    """Run `deepspeech-server` and return its exit code; SIGHUP (reload the models) is blocked until it serves."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGHUP})
    return _run("server")


def calibrate() -> int:
    """Run `python -m deepspeech.calibrate` and return its exit code."""
    return _run("confidence.calibrate")


def missing_package(error: ModuleNotFoundError) -> str:
    """Return one line on how to install a missing package of training; raise the error again for any other package."""
    package = (error.name or "").partition(".")[0]
    if package not in PACKAGES_OF_TRAINING:
        raise error
    install = "pip install '.[train]' in the checkout, or pip install 'FILE.whl[train]' for a wheel"
    return f"the package {package} is missing; install what training needs: {install}"


class ProcessEnd:
    """Ends the process after all registered exit functions, without finalizing the interpreter.

    Before Python 3.14, a thread that returns from compiled code during finalization is unwound through that code, and a
    C++ destructor on the way aborts the process. Create this object before any exit function is registered: the first
    one that is registered runs last.
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
    open_closed_streams()
    return ProcessEnd().code_of(lambda: _code_of(name, failure))


def open_closed_streams() -> None:
    """Open the null device for closed streams (`>&-`): else the next file that is opened gets their descriptor."""
    for name in ("stdin", "stdout", "stderr"):  # in the order of their descriptors: open() returns the lowest
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), "r" if name == "stdin" else "w"))


def _code_of(name: str, failure: int) -> int:
    earlier = signal.signal(signal.SIGINT, _end)
    try:
        main = import_module(f".cli.{name}", __package__).main
    except ModuleNotFoundError as error:
        print(f"deepspeech: {missing_package(error)}", file=sys.stderr)
        return failure
    except DeepSpeechError as error:  # the package is not compiled
        print(f"deepspeech: {error}", file=sys.stderr)
        return failure
    signal.signal(signal.SIGINT, earlier)
    code: int = main()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):  # the work is done, only the interpreter must end
        signal.signal(number, signal.SIG_IGN)
    return code


def _end(number: int, _frame: object) -> None:
    """End at once: a module that is being imported may treat an exception as its own failure."""
    os.write(2, b"deepspeech: interrupted\n")
    os._exit(128 + number)
