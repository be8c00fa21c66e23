"""Importing corpora: each, by its name, becomes CSVs and recordings in a folder.

`import_corpus("fsdd", out)` writes OUT/train.csv, OUT/dev.csv and OUT/test.csv, for most corpora. A new corpus is a
module beside this one, with a function `import_corpus(out, source, report)`, and a line in `MODULES`.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from ..errors import ImportingError
from ..progress import Report
from ..progress import report as report_to_stderr

MODULES = {
    "demo": "demo",
    "fsdd": "fsdd",
    "ldc93s1": "ldc93s1",
    "yesno": "yesno",
}
"""The module of each corpus; it is imported when its corpus is."""


def import_corpus(name: str, out: Path, source: Path | None = None, report: Report = report_to_stderr) -> None:
    """Import the corpus of this name into the folder `out`; what is there already and whole is not fetched again.

    `source` is the folder of its recordings; without one they are downloaded, or synthesized. Each corpus's module says
    what it writes. Raise DeepSpeechError, mostly an ImportingError.
    """
    if name not in MODULES:
        raise ImportingError(f"there is no corpus {name!r}; there are {', '.join(sorted(MODULES))}")
    module = import_module(f".{MODULES[name]}", __name__)
    try:
        module.import_corpus(out, source, report)
    except OSError as error:
        raise ImportingError(f"the corpus {name} cannot be imported into {out}: {error}") from error
