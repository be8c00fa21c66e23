"""Finds recordings that lists of other toolkits name by paths relative to the folder where their recipes run."""

from __future__ import annotations

import os
from pathlib import Path


class RecipeFolders:
    """The folders in which a list's recordings may be: its own, those above it, and the current one."""

    def __init__(self, folder: Path) -> None:
        """Take the list's own folder."""
        absolute = folder.absolute()
        self._own = str(absolute)
        self._folders = list(dict.fromkeys([self._own, *map(str, absolute.parents), str(Path.cwd())]))

    def find(self, file: str) -> str:
        """Return the absolute path of a recording in the first folder that has it; in the list's own if none has."""
        for folder in self._folders:
            path = os.path.join(folder, file)  # noqa: PTH118 (a Path takes longer)
            if os.path.exists(path):  # noqa: PTH110 (does not raise)
                self._folders.remove(folder)  # the next recording is likely in the same
                self._folders.insert(0, folder)
                return path
        return os.path.join(self._own, file)  # noqa: PTH118
