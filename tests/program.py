"""The program as a person runs it, `python -m deepspeech`, over the tiny corpus."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from corpora import TinyCorpus
from fork_server import ForkedProcess, fork_server

FINISHED = "finished.json"


@dataclass(frozen=True)
class Finished:
    """What a finished run left."""

    code: int
    stdout: str
    stderr: str

    @property
    def error(self) -> str:
        """The one line that a person reads after a failure; anything else there is a failure of the test."""
        (line,) = (line for line in self.stderr.splitlines() if not line.startswith(("I ", "W ", "D ")))
        return line


@dataclass(frozen=True)
class Program:
    """Runs the program with a corpus and folders of its own; unless `forked`, it is started as a person does."""

    corpus: TinyCorpus
    folder: Path
    forked: bool = True

    @property
    def checkpoints(self) -> Path:
        """The folder of the checkpoints."""
        return self.folder / "checkpoints"

    def model(self) -> list[str]:
        """Return the flags that say which model."""
        return [
            f"--alphabet_config_path={self.corpus.alphabet}",
            f"--checkpoint_dir={self.checkpoints}",
            f"--summary_dir={self.folder / 'summaries'}",
            "--n_hidden=48",
            "--beam_width=16",
        ]

    def training(self, **flags: object) -> list[str]:
        """Return the flags of a training run."""
        return [
            *self.model(),
            f"--train_files={self.corpus.train}",
            f"--dev_files={self.corpus.dev}",
            "--train_batch_size=4",
            "--dev_batch_size=6",
            "--learning_rate=0.003",
            *(f"--{name}={value}" for name, value in flags.items()),
        ]

    def test_files(self) -> list[str]:
        """Return the flags that make it test, too."""
        return [f"--test_files={self.corpus.test}", "--test_batch_size=4"]

    def start(self, *arguments: str, before: Sequence[str] = ()) -> ForkedProcess | subprocess.Popen[str]:
        """Start the program and go on; its command is the arguments of the command `before`, if there is one."""
        if self.forked and not before:
            return fork_server().start_piped(arguments, str(self.folder))
        command = [*before, sys.executable, "-m", "deepspeech", *arguments]
        return subprocess.Popen(command, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def run(self, *arguments: str) -> Finished:
        """Run the program to its end, at most ten minutes, as the machine may be busy."""
        process = self.start(*arguments)
        try:
            stdout, stderr = process.communicate(timeout=600)
        finally:
            process.kill()
        return Finished(process.wait(), stdout, stderr)


def evaluate(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run `python -m deepspeech.evaluate` in a process of its own, as it sets up logging for good."""
    command = [sys.executable, "-m", "deepspeech.evaluate", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@dataclass(frozen=True)
class Trained:
    """A tiny model that has learned its corpus, and what the program said while it did."""

    program: Program
    finished: Finished

    @classmethod
    def of(cls, corpus: TinyCorpus, folder: Path) -> Trained:
        """Return the model that `train_tiny_model` has trained in a folder, or in the one that this is a copy of."""
        return cls(Program(corpus, folder), Finished(**json.loads((folder / FINISHED).read_text())))


def train_tiny_model(corpus: TinyCorpus, folder: Path) -> None:
    """Train and test on the tiny corpus, with checkpoints, summaries and what was said in `folder`."""
    program = Program(corpus, folder, forked=False)
    finished = program.run(
        *program.training(epoch=80, validation_step=10),
        *program.test_files(),
        "--noearly_stop",
        "--wer_log_pattern=LOG %s %s %f",
        "--summary_secs=1",
        "--fulltrace",
        "--display_step=40",
    )
    assert finished.code == 0, finished.stderr
    (folder / FINISHED).write_text(json.dumps(asdict(finished)))
