"""Figures from a model's training and test, stored beside its checkpoints for the model card of an export."""

import json
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path

from ..util.files.whole_files import write_text_whole

FILE_NAME = "model_figures.json"
EARLIER_FILE_NAME = "findings.json"
"""The file's name in earlier versions; it is still read."""


@dataclass(frozen=True)
class ModelFigures:
    """Figures about the checkpoints of a folder; zero or empty if unknown."""

    train_utterances: int = 0
    train_hours: float = 0.0
    test_files: tuple[str, ...] = ()
    test_checkpoint: str = ""
    """Or the checkpoints whose mean was tested, separated by commas."""
    test_utterances: int = 0
    test_limit: int = 0
    language_model: str = ""
    wer: float = 0.0
    cer: float = 0.0
    test_loss: float = 0.0

    @staticmethod
    def read(folder: Path) -> "ModelFigures":
        """Return the figures in a folder of checkpoints; those of a missing or damaged file are zero or empty."""
        for name in (FILE_NAME, EARLIER_FILE_NAME):
            try:
                values = json.loads((folder / name).read_text(encoding="utf-8"))
                figures = ModelFigures(**{**values, "test_files": tuple(values["test_files"])})
            except (OSError, ValueError, TypeError, KeyError):
                continue
            if figures._is_valid:
                return figures
        return ModelFigures()

    @property
    def _is_valid(self) -> bool:
        pairs = [(getattr(self, each.name), each.default) for each in fields(self)]
        return all(isinstance(name, str) for name in self.test_files) and all(
            isinstance(value, (int, float) if isinstance(default, float) else type(default)) for value, default in pairs
        )


def keep_figures(folder: Path, **changes: object) -> None:
    """Write changed figures, named as the fields of ModelFigures, to a folder of checkpoints; raise OSError."""
    figures = replace(ModelFigures.read(folder), **changes)  # type: ignore[arg-type]
    write_text_whole(folder / FILE_NAME, json.dumps(asdict(figures), ensure_ascii=False))
