"""NCHLT, Tuda-De and MGB-2."""

from __future__ import annotations

from pathlib import Path

import pytest
from trees import Import, tone, write

from deepspeech.util.errors import ImportingError
from deepspeech.util.importing import format_of
from deepspeech.util.importing.pipeline.records import NO_TRANSCRIPT, Choices


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "corpus"


def imported(name: str, folder: Path) -> Import:
    assert format_of(folder, Choices()) == name
    return Import(name, folder, folder.with_name("out"))


@pytest.mark.parametrize("above", [True, False])
def test_nchlt_is_read_from_its_folder_or_the_one_above(above: bool, folder: Path) -> None:
    corpus = folder / "nchlt_zul"
    for part, speakers in (("trn", ("001", "002")), ("tst", ("500",))):
        text = '<?xml version="1.0" encoding="utf-8"?>\n<corpus>\n'
        for speaker in speakers:
            tone(corpus / "audio" / speaker / f"nchlt_zul_{speaker}m_0001.wav")
            recording = f'<recording audio="nchlt_zul/audio/{speaker}/nchlt_zul_{speaker}m_0001.wav" duration="1">'
            text += f'<speaker id="{speaker}">{recording}\n<orth>yebo</orth>\n</recording><recording/></speaker>'
        write(corpus / "transcriptions" / f"nchlt_zul.{part}.xml", text + "</corpus>")
    done = imported("nchlt", folder if above else corpus)
    assert {(row["speaker"], row["transcript"]) for row in done.all_rows} == {
        (speaker, "yebo") for speaker in ("001", "002", "500")
    }
    assert done.sets["test"] == {"nchlt_zul_500m_0001.wav"}
    assert set(done.left_out.values()) == {"no audio"}


@pytest.mark.parametrize("name", ["nchlt", "mgb"])
@pytest.mark.parametrize("encoding", ["utf-8", "shift_jis", "unknown"])
def test_xml_that_cannot_be_read_is_named(name: str, encoding: str, folder: Path) -> None:
    text = f'<?xml version="1.0" encoding="{encoding}"?><segments><segment starttime="0">'
    write(folder / "transcriptions" / "a.trn.xml", text)
    with pytest.raises(ImportingError, match=r"a\.trn\.xml: cannot be read as XML"):
        Import(name, folder, folder.with_name("out"))


def test_tuda_de_has_one_row_for_each_text(folder: Path) -> None:
    for part in ("train", "dev", "test"):
        for microphone in ("Kinect-Beam", "Kinect-RAW", "Yamaha")[part == "dev" :]:
            tone(folder / part / f"2014-03-17_{microphone}.wav")
        texts = "<sentence>Es ist 5.</sentence><cleaned_sentence>Es ist fünf</cleaned_sentence>"
        write(folder / part / "2014-03-17.xml", f"<recording><speaker_id>{part}1</speaker_id>{texts}</recording>")
    tone(folder / "train" / "2014-03-18_Samson.wav")
    write(folder / "train" / "2014-03-18.xml", "<recording>")
    tone(folder / "dev" / "2014-03-19_Samson.wav")
    done = imported("tuda_de", folder)
    assert done.sets == {
        "train": {"2014-03-17_Kinect-Beam.wav"},
        "dev": {"2014-03-17_Kinect-RAW.wav"},
        "test": {"2014-03-17_Kinect-Beam.wav"},
    }
    assert [(row["transcript"], row["speaker"]) for row in done.rows("train")] == [("Es ist fünf", "train1")]
    assert done.left_out == {
        "train/2014-03-18.xml": "an .xml that cannot be read",
        "dev/2014-03-19_Samson.wav": NO_TRANSCRIPT,
    }


def test_segments_of_mgb_2_are_cut_unless_their_captions_differ_from_what_is_heard(folder: Path) -> None:
    for part in ("train", "dev"):
        tone(folder / part / "wav" / f"{part}-AA.wav", 3)
        segments = "".join(
            f'<segment id="s{start}" starttime="{start}.0" endtime="{start}.9" WMER="{wrong}" who="speaker{start}">'
            '<element type="word">كلمة</element><element type="word">أخرى</element></segment>'
            for start, wrong in enumerate(("0.5", "81", "80"))
        )
        body = f"<body><segments>{segments}</segments></body>"
        write(folder / part / "xml" / "utf8" / f"{part}-AA.xml", f"<transcript><head/>{body}</transcript>")
    done = imported("mgb", folder)
    dev = [(row["transcript"], row["speaker"], row["duration"]) for row in done.rows("dev")]
    assert dev == [("كلمة أخرى", f"dev-AA-speaker{number}", "0.900") for number in (0, 2)]
    assert set(done.left_out.values()) == {"a segment whose captions differ from what is heard"}
