"""Files of other toolkits: they are read, or the error says what to do with them."""

import bz2
import gzip
import lzma
from collections.abc import Callable
from pathlib import Path

import pytest

from deepspeech.util.corpus_files import Row, read_files
from deepspeech.util.errors import CorpusError


def test_a_sample_database_is_named_as_one_and_not_as_a_csv_in_another_encoding(tmp_path: Path) -> None:
    path = tmp_path / "train.SDB"
    path.write_bytes(b'SAMPLEDB\0\0\0\0\0\0\0\x7f{"schema": []}\n\xff\xfe')
    with pytest.raises(CorpusError, match=r"train.SDB: sample databases .*data_set_tool.py train.SDB train.csv"):
        next(read_files([path], None))


def test_a_compressed_manifest_is_said_to_be_one_that_can_be_imported(tmp_path: Path) -> None:
    path = tmp_path / "cuts_train.jsonl.gz"
    path.write_bytes(gzip.compress(b"{}\n"))
    with pytest.raises(CorpusError, match=r"train\.jsonl\.gz: compressed; decompress it, or, .*import_corpus lhotse"):
        next(read_files([path], None))


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, lzma.compress, lambda _: b"\x28\xb5\x2f\xfd\0"])
def test_a_compressed_list_is_not_said_to_be_in_another_encoding(
    tmp_path: Path, compress: Callable[[bytes], bytes]
) -> None:
    path = tmp_path / "train.csv"
    path.write_bytes(compress(b"wav_filename,transcript\na.wav,yes\n"))
    with pytest.raises(CorpusError, match=r"train\.csv: compressed; decompress it"):
        next(read_files([path], None))


def test_a_list_of_shards_is_not_called_malformed(tmp_path: Path) -> None:
    path = tmp_path / "data.list"
    path.write_text("shards/shards_000000000.tar\n")
    (row,) = read_files([path], None)
    assert str(row) == f"{path}:1: a shard, not JSON; give the shards in place of their list"


def test_a_row_may_have_the_path_of_its_recording_in_an_object_as_lists_for_fine_tuning_whisper(tmp_path: Path) -> None:
    path = tmp_path / "train.json"
    path.write_text('{"audio": {"path": "a.wav"}, "sentence": "yes", "duration": 1.5}\n')
    (row,) = read_files([path], None)
    assert isinstance(row, Row) and (row.path, row.transcript) == (str(tmp_path / "a.wav"), "yes")


@pytest.mark.parametrize("ending", ["csv", "tsv"])
def test_a_table_with_other_columns_is_referred_to_the_import(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"train.{ending}"
    path.write_text("ID\twav\twrd\n".replace("\t", "," if ending == "csv" else "\t"))
    with pytest.raises(CorpusError, match=r"no column wav_filename; found: ID, wav, wrd; .*import_corpus table"):
        next(read_files([path], None))
