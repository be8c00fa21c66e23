"""Checkpoints and summaries: where they are written, and how often."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from xdg import BaseDirectory

from .rows.checks import at_least
from .rows.flag import flag

CHECKPOINTS = "Checkpoints, logs and summaries"


@dataclass(frozen=True)
class CheckpointOptions:
    """Where checkpoints are kept, how often one is written (seconds, 0: only at the end) and how many stay.

    If there is no checkpoint, training begins with the weights of `initial_graph`, if given, but for those of its last
    `drop_source_layers` layers.
    """

    title: ClassVar[str] = CHECKPOINTS
    given_directory: Path | None = flag(
        None,
        "folder of the checkpoints; default: deepspeech/checkpoints in XDG's data",
        name="checkpoint_dir",
        decides_result=False,
    )
    seconds: int = flag(
        600,
        "seconds between checkpoints; 0: only at the end",
        name="checkpoint_secs",
        check=at_least(0),
        decides_result=False,
    )
    max_to_keep: int = flag(5, "checkpoints to keep", check=at_least(1), decides_result=False)
    initial_graph: Path | None = flag(
        None,
        "exported graph to take the initial weights from if there is no checkpoint",
        name="initialize_from_frozen_model",
    )
    drop_source_layers: int = flag(
        0,
        "last layers whose weights are not taken from that graph; 1 for a new alphabet",
        check=at_least(0),
    )

    @property
    def directory(self) -> Path:
        """The folder of the checkpoints."""
        return self.given_directory or data_folder() / "checkpoints"


@dataclass(frozen=True)
class SummaryOptions:
    """TensorBoard summaries: where, how often (seconds, 0: never), and whether to add a full trace each time."""

    title: ClassVar[str] = CHECKPOINTS
    given_directory: Path | None = flag(
        None,
        "folder of the TensorBoard summaries; default: deepspeech/summaries in XDG's data",
        name="summary_dir",
        decides_result=False,
    )
    seconds: int = flag(
        0,
        "seconds between summaries; 0: none are written",
        name="summary_secs",
        check=at_least(0),
        decides_result=False,
    )
    full_trace: bool = flag(False, "add a full trace of a step to each summary", name="fulltrace", decides_result=False)

    @property
    def directory(self) -> Path:
        """The folder of the summaries."""
        return self.given_directory or data_folder() / "summaries"


def data_folder() -> Path:
    """Return the folder in XDG's data for what is written when the user names no folder."""
    return Path(BaseDirectory.xdg_data_home) / "deepspeech"
