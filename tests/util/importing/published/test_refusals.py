"""What is said about published corpora that cannot be imported as they are."""

from __future__ import annotations

from pathlib import Path

import pytest
from trees import tone, write

from deepspeech.cli.importing.corpus import main
from deepspeech.util.errors import ImportingError
from deepspeech.util.importing import format_of, import_corpus
from deepspeech.util.importing.pipeline.records import Choices


def test_recordings_that_must_be_unpacked_or_converted_first_are_told(tmp_path: Path) -> None:
    write(tmp_path / "train.json", '{"audio_filepath": "a.wav", "text": "yes"}\n')
    write(tmp_path / "audio_0.tar", "")
    with pytest.raises(ImportingError, match=r"no row .* says why; unpack its archives first, such as .*audio_0\.tar"):
        import_corpus("json_lines", tmp_path / "out", tmp_path, lambda _: None)
    (tmp_path / "train.json").rename(tmp_path / "about.html")
    with pytest.raises(ImportingError, match=r"has no recordings; unpack its archives first, such as .*audio_0\.tar"):
        format_of(tmp_path, Choices())
    write(tmp_path / "01" / "a.pcm", "")
    write(tmp_path / "01" / "a.txt", "예".encode("cp949"))
    with pytest.raises(ImportingError, match=r"has no recordings; convert .* as .*a\.pcm, for example by ffmpeg -f"):
        format_of(tmp_path, Choices())


def test_compressed_recordings_of_the_ldc_are_to_be_converted_first(tmp_path: Path) -> None:
    write(tmp_path / "wsj0" / "si_tr_s" / "01t" / "01to0304.wv1", "NIST_1A")
    write(tmp_path / "wsj0" / "transcrp" / "01to0300.dot", "A word (01to0304)\n")
    with pytest.raises(ImportingError, match=r"convert those such as .*01to0304\.wv1 first, .* sph2pipe -f wav a\.wv1"):
        format_of(tmp_path, Choices())


def test_tiers_of_recordings_without_tiers_are_refused(tmp_path: Path) -> None:
    tone(tmp_path / "a.wav")
    write(tmp_path / "a.txt", "yes")
    choices = Choices(tiers=("words",))
    with pytest.raises(ImportingError, match="has no annotations with tiers; leave out --tier"):
        import_corpus("folder", tmp_path / "out", tmp_path, choices=choices)
    write(tmp_path / "all.jsonl", '{"audio_filepath": "a.wav", "text": "yes"}\n')
    with pytest.raises(ImportingError, match=r"json_lines has no tiers; leave out --tier, or .* the format folder"):
        import_corpus("json_lines", tmp_path / "out", tmp_path, choices=choices)


def test_the_command_says_that_an_imported_corpus_stays_as_it_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tone(tmp_path / "a.wav")
    write(tmp_path / "a.txt", "yes")
    import_corpus("folder", tmp_path / "out", tmp_path, lambda _: None)
    assert main(["folder", "--to", str(tmp_path / "out"), "--split=1:1:1"]) == 0
    assert "out holds an imported corpus, which stays as it is; --from imports" in capsys.readouterr().err
