"""What a corpus's lists say of their utterances beside what training reads: speaker, age, device, ...."""

from __future__ import annotations

from collections.abc import Iterable

from ... import corpus_files


def further_columns(csv_files: Iterable[str]) -> dict[tuple[str, int], dict[str, str]]:
    """Return the further columns of each row, by its file and the line that it starts in, as `read_corpus` counts.

    A row or a file that cannot be read has none: these columns are told to a person, and no result depends on them.
    """
    return {
        (csv_file, line): columns for csv_file in csv_files for line, columns in corpus_files.further_columns(csv_file)
    }
