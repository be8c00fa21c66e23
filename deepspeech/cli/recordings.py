"""The input of the `deepspeech` command: recordings, folders of them, or a pipe."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..errors import AudioError, FlagError
from ..util.containers.endings import LISTED, is_recording
from ..util.files.user_paths import user_path
from .arguments import EMPTY_PATH
from .utterances.pipe import PIPE, Pipe


@dataclass(frozen=True)
class Recording:
    """A recording, or what comes from standard input if `path` is None; `name` is where output for it goes."""

    path: Path | None
    name: Path
    pipe: Pipe | None = None

    def __str__(self) -> str:
        return PIPE if self.path is None else str(self.path)


def recordings(given: Sequence[str]) -> list[Recording]:
    """Return the recordings that files, folders and `-` stand for.

    Raise AudioError for a folder without any, and FlagError for an empty path.
    """
    found = []
    for text in given:
        if not text:
            raise FlagError(f"--audio: {EMPTY_PATH}")
        path = user_path(text)
        if text == PIPE:
            found.append(Recording(None, Path("stdin"), Pipe()))
        elif path.is_dir():
            inside = sorted(entry for entry in path.rglob("*") if _is_recording(entry, path))
            if not inside:
                raise AudioError(f"{path}: holds no recordings; their names end in {LISTED}")
            found += [Recording(entry, entry.relative_to(path)) for entry in inside]
        else:
            found.append(Recording(path, Path(path.name)))
    if sum(recording.path is None for recording in found) > 1:
        raise FlagError("--audio: - can be given once")
    return found


def _is_recording(entry: Path, folder: Path) -> bool:
    """Return whether what is in a folder is taken for a recording: a file, as far as its name tells, and not hidden.

    Systems keep notes on recordings beside them: macOS in `._a.wav`, some file servers in a folder `a.wav`.
    """
    hidden = any(part.startswith(".") for part in entry.relative_to(folder).parts)
    return is_recording(entry.name) and not hidden and not entry.is_dir()
