"""The `deepspeech` command as a process."""

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Client:
    graph: Path

    def command(self, *arguments: object) -> list[str]:
        return [sys.executable, "-m", "deepspeech.cli.transcribe", "--model", str(self.graph), *map(str, arguments)]

    def run(self, *arguments: object, data: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(self.command(*arguments), input=data, capture_output=True, check=False)
