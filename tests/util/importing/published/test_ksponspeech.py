"""KsponSpeech."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import soundfile
from running import files_no_larger_than
from trees import Import, tone, write

from deepspeech.util.errors import ImportingError
from deepspeech.util.importing import format_of, import_corpus
from deepspeech.util.importing.pipeline.records import Choices

SAMPLES = np.arange(800, dtype="<i2")


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    folder = tmp_path / "corpus"
    parts = (
        ("train", "Kspon_01/a"),
        ("dev", "Kspon_01/b"),
        ("eval_clean", "Kspon_eval/eval_clean/c"),
    )
    for part, name in parts:
        write(folder / f"{name}.pcm", SAMPLES.tobytes() + b"\0")
        write(folder / "scripts" / f"{part}.trn", f"{name}.pcm :: n/ 작은+ (3)/(세) 번 그* 문/ b/\n")
    return folder


def test_recordings_of_ksponspeech_get_a_header_and_texts_are_what_is_said(corpus: Path) -> None:
    assert format_of(corpus, Choices()) == "ksponspeech"
    done = Import("ksponspeech", corpus, corpus.with_name("out"))
    assert done.transcripts == dict.fromkeys(("a.flac", "b.flac", "c.flac"), "작은 세 번 그 문")
    assert done.sets == {"train": {"a.flac"}, "dev": {"b.flac"}, "test": {"c.flac"}}
    samples, rate = soundfile.read(done.out / done.rows("train")[0]["wav_filename"], dtype="int16")
    assert rate == 16000
    assert np.array_equal(samples, SAMPLES)


def test_missing_recordings_of_ksponspeech_are_listed_and_converted_ones_are_used(corpus: Path) -> None:
    (corpus / "Kspon_01" / "a.pcm").unlink()
    tone(corpus / "Kspon_01" / "b.wav")
    done = Import("ksponspeech", corpus, corpus.with_name("out"), Choices(split=(1, 1, 1)))
    assert set(done.transcripts) == {"b.wav", "c.flac"}
    assert done.left_out == {"train.trn:1": "no recording of this name in the folder"}


def test_a_full_disk_is_reported_and_leaves_no_part_of_a_recording(corpus: Path) -> None:
    noise = np.random.default_rng(1).integers(-9999, 9999, 8000, dtype="<i2")
    write(corpus / "Kspon_01" / "b.pcm", noise.tobytes())  # of the first list
    out = corpus.with_name("out")
    with files_no_larger_than(4000), pytest.raises(ImportingError, match=r"out: File too large$"):
        import_corpus("ksponspeech", out, corpus)
    assert not [path for path in out.rglob("*") if path.is_file()]
