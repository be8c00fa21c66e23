"""The rows of a Parquet or Arrow file: recordings, transcripts and further columns, as `datasets` writes them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from ....containers.beginnings import GIT_LFS_POINTER, NOT_FETCHED
from ....corpus_files.json_lines import texts_of
from ....corpus_files.speakers import column_name
from ....errors import CorpusError
from ...pipeline.columns import TEXTS

ARROW = ".arrow"
"""The ending of files that `save_to_disk` of `datasets` writes: streams in Arrow's format."""

_AUDIO, _LABEL = "audio", "label"
_ROWS_AT_ONCE = 32


class Row(NamedTuple):
    """A row of a file."""

    audio: bytes
    """The content of the recording's file; empty if the row has none."""
    name: str
    """The name of the recording's file, if it is known."""
    text: str
    columns: dict[str, str]


def read_rows(shard: Path, *, with_audio: bool = True) -> Iterator[Row]:
    """Yield the rows of a Parquet or Arrow file.

    Raise CorpusError if it cannot be read, or no columns hold recordings and transcripts.
    """
    with _reading(shard), _opened(shard) as (schema, batches):
        columns = _Columns.of(schema, shard)
        for batch in batches([*columns.texts, *([columns.audio] if with_audio else [])]):
            for values in batch.to_pylist():
                audio = values.pop(columns.audio, None)
                held = audio if isinstance(audio, Mapping) else {"bytes": audio}
                named = {
                    name: columns.labels[name].get(value) if name in columns.labels else value
                    for name, value in values.items()
                }
                text = named.pop(columns.text) or ""
                others = {column_name(name): value for name, value in texts_of(named).items()}
                yield Row(held["bytes"] or b"", held.get("path") or "", text, others)


@contextmanager
def _opened(shard: Path) -> Iterator[tuple[Any, Callable[[Sequence[str]], Iterator[Any]]]]:
    """Open a file; return its schema, and a function that yields a few rows at a time of these columns."""
    import pyarrow.ipc
    import pyarrow.parquet

    if shard.suffix == ARROW:
        with pyarrow.memory_map(str(shard)) as file, pyarrow.ipc.open_stream(file) as stream:
            yield stream.schema, partial(_rows_of_stream, stream)
    else:
        with pyarrow.parquet.ParquetFile(shard, memory_map=True) as file:
            yield file.schema_arrow, partial(file.iter_batches, _ROWS_AT_ONCE, None)


def _rows_of_stream(stream: Any, columns: Sequence[str]) -> Iterator[Any]:
    for batch in stream:
        for start in range(0, batch.num_rows, _ROWS_AT_ONCE):
            yield batch.select(columns).slice(start, _ROWS_AT_ONCE)


class _Columns(NamedTuple):
    audio: str
    text: str
    texts: list[str]
    """All columns with texts or numbers, `text` among them."""
    labels: Mapping[str, Mapping[int, str]]
    """The names that the numbers of a column stand for."""

    @classmethod
    def of(cls, schema: Any, shard: Path) -> _Columns:
        """Find the columns in a file's schema; raise CorpusError if there are none with recordings and texts."""
        import pyarrow.types as types

        found = ", ".join(schema.names)
        audio = [field.name for field in schema if _holds_files(field)]
        if not audio:
            raise CorpusError(f"{shard}: no column holds recordings; the columns: {found}")
        labels = _labels(schema.metadata or {})
        strings = {column_name(field.name): field.name for field in schema if _is_text(field.type)}
        strings |= {column_name(name): name for name in labels if column_name(name) == _LABEL}
        text = next((strings[name] for name in (*TEXTS, _LABEL) if name in strings), None)
        if text is None:
            raise CorpusError(f"{shard}: no column holds transcripts; the columns: {found}")
        plain = [
            field.name
            for field in schema
            if _is_text(field.type) or types.is_integer(field.type) or types.is_floating(field.type)
        ]
        return cls(_AUDIO if _AUDIO in audio else audio[0], text, plain, labels)


def _labels(metadata: Mapping[bytes, bytes]) -> dict[str, dict[int, str]]:
    """Return the names of labels by column, as `datasets` writes them."""
    try:
        features = json.loads(metadata.get(b"huggingface", b"{}"))["info"]["features"]
        return {name: dict(enumerate(each["names"])) for name, each in features.items() if "names" in each}
    except (ValueError, KeyError, TypeError, AttributeError):
        return {}


def _holds_files(field: Any) -> bool:
    """Return whether a column holds bytes and a path, or is called `audio` and holds bytes."""
    import pyarrow.types as types

    kind = field.type if field.name == _AUDIO else None
    if types.is_struct(field.type):
        kind = next((each.type for each in field.type if each.name == "bytes"), None)
    return kind is not None and bool(types.is_binary(kind) or types.is_large_binary(kind))


def _is_text(kind: Any) -> bool:
    import pyarrow.types as types

    return bool(types.is_string(kind) or types.is_large_string(kind))


@contextmanager
def _reading(shard: Path) -> Iterator[None]:
    """Raise the errors of a damaged file as a CorpusError that names it."""
    from pyarrow.lib import ArrowException

    try:
        yield
    except ArrowException as error:
        with shard.open("rb") as file:
            if file.read(len(GIT_LFS_POINTER)) == GIT_LFS_POINTER:
                raise CorpusError(f"{shard}: {NOT_FETCHED}") from error
        reason = str(error).partition("\n")[0]
        raise CorpusError(f"{shard}: cannot be read ({reason}); download it again") from error
