"""The columns of a corpus's lists that training does not read: speaker, age, device, ...."""

from __future__ import annotations

from collections.abc import Iterable

from ... import corpus_files


def further_columns(csv_files: Iterable[str]) -> dict[tuple[str, int], dict[str, str]]:
    """Return the further columns of each row, by its file and its first line, as numbered by `read_corpus`.

    Unreadable rows and files have none: these columns are only shown to people, and no result depends on them.
    """
    return {
        (csv_file, line): columns
        for csv_file in csv_files
        for line, columns in corpus_files.columns_by_line(csv_file).items()
    }
