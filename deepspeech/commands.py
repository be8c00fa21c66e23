"""The commands as they are started. Each imports what it needs only here, where an interruption is one line."""

import os
import signal
from importlib import import_module


def train() -> int:
    """Run `deepspeech-train` and return its exit code."""
    return _run("train")


def transcribe() -> int:
    """Run `deepspeech` and return its exit code."""
    return _run("transcribe")


def weights() -> int:
    """Run `deepspeech-weights` and return its exit code."""
    return _run("weights.command")


def evaluate() -> int:
    """Run `python -m deepspeech.evaluate` and return its exit code."""
    return _run("evaluate")


def compare_params() -> int:
    """Run `python -m deepspeech.compare_params` and return its exit code."""
    return _run("compare.params")


def compare_reports() -> int:
    """Run `python -m deepspeech.compare_reports` and return its exit code."""
    return _run("compare.reports")


def import_corpus() -> int:
    """Run `python -m deepspeech.import_corpus` and return its exit code."""
    return _run("importing.corpus")


def align() -> int:
    """Run `python -m deepspeech.align` and return its exit code."""
    return _run("align")


def _run(name: str) -> int:
    earlier = signal.signal(signal.SIGINT, _end)
    main = import_module(f".cli.{name}", __package__).main
    signal.signal(signal.SIGINT, earlier)
    code: int = main()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):  # the work is done; only the interpreter is to end
        signal.signal(number, signal.SIG_IGN)
    return code


def _end(number: int, _frame: object) -> None:
    """End at once, as modules that are being imported may take an exception for a fault of their own."""
    os.write(2, b"deepspeech: interrupted\n")
    os._exit(128 + number)
