"""Sample databases of DeepSpeech and Coqui STT, which are not read."""

from pathlib import Path

import pytest

from deepspeech.util.corpus_files import read_files
from deepspeech.util.errors import CorpusError


def test_a_sample_database_is_named_as_one_and_not_as_a_csv_in_another_encoding(tmp_path: Path) -> None:
    path = tmp_path / "train.SDB"
    path.write_bytes(b'SAMPLEDB\0\0\0\0\0\0\0\x7f{"schema": []}\n\xff\xfe')
    with pytest.raises(CorpusError, match=r"train.SDB: sample databases .*data_set_tool.py train.SDB train.csv"):
        next(read_files([path], None))
