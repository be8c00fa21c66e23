"""What training and testing found out about a model, kept beside its checkpoints for the card of an export."""

import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from ..util.whole_files import write_whole

FILE_NAME = "findings.json"


@dataclass(frozen=True)
class Findings:
    """Figures about the checkpoints of a folder; zero or empty where nothing was found out."""

    train_utterances: int = 0
    train_hours: float = 0.0
    test_files: tuple[str, ...] = ()
    test_checkpoint: str = ""
    test_utterances: int = 0
    wer: float = 0.0
    cer: float = 0.0
    test_loss: float = 0.0

    @staticmethod
    def read(folder: Path) -> "Findings":
        """What is known in a folder of checkpoints; a missing or damaged file means nothing is."""
        try:
            values = json.loads((folder / FILE_NAME).read_text(encoding="utf-8"))
            return Findings(**{**values, "test_files": tuple(values["test_files"])})
        except (OSError, ValueError, TypeError, KeyError):
            return Findings()


def note(folder: Path, **found: object) -> None:
    """Keep figures, by the names of the fields of Findings, in a folder of checkpoints; raises OSError."""
    findings = replace(Findings.read(folder), **found)  # type: ignore[arg-type]
    write_whole(folder / FILE_NAME, json.dumps(asdict(findings), ensure_ascii=False).encode())
