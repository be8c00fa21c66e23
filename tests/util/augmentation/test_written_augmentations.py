import dataclasses
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepspeech.cli import flags
from deepspeech.errors import FlagError
from deepspeech.options import AugmentationOptions, Options
from deepspeech.options.parameters.of_run import run_parameters, values_of_parameters
from deepspeech.options.parameters.text import format_parameters, parse_parameters
from deepspeech.util.augmentation.augmentation import parameters_of, source_of
from deepspeech.util.augmentation.kinds.masks import TimeMask
from deepspeech.util.augmentation.kinds.noise import Overlay
from deepspeech.util.augmentation.kinds.speed import Speed
from deepspeech.util.augmentation.ranges import Range, parse_range
from deepspeech.util.augmentation.recordings import Recording, recordings_of
from deepspeech.util.augmentation.registry import KINDS, markdown_table, parse_augmentation
from deepspeech.util.parts import Part

PAGE = Path(__file__).parents[3] / "docs/augmentation.md"

OF_THE_PREDECESSOR = [
    "overlay[p=0.5,source=noise.csv,layers=1,snr=50:20~10]",
    "reverb[p=0.1,delay=50.0~30.0,decay=10.0:2.0~1.0]",
    "resample[p=0.1,rate=12000:8000~4000]",
    "codec[p=0.1,bitrate=48000:16000]",
    "volume[p=0.1,dbfs=-10:-40]",
    "pitch[p=0.1,pitch=1~0.2]",
    "tempo[p=0.1,factor=1~0.5]",
    "warp[p=0.1,nt=4,nf=1,wt=0.5:1.0,wf=0.1:0.2]",
    "frequency_mask[p=0.1,n=1:3,size=1:5]",
    "time_mask[p=0.1,domain=signal,n=3:10~2,size=50:100~40]",
    "dropout[p=0.1,rate=0.05]",
    "add[p=0.1,domain=signal,stddev=0~0.5]",
    "multiply[p=0.1,domain=features,stddev=0~0.5]",
]

numbers = st.floats(-1e6, 1e6)
ranges = st.builds(Range, numbers, st.none() | numbers, st.floats(0, 1e6))


def parse(*arguments: str) -> Options:
    options = flags.parse(["--train_files=train.csv", *arguments])
    assert options is not None
    return options


@given(ranges)
def test_a_range_is_read_as_it_is_written(values: Range) -> None:
    assert parse_range(str(values)) == values


@given(ranges, st.floats(0, 1), st.integers(0, 1000))
def test_what_is_drawn_lies_around_a_line_from_start_to_end(values: Range, clock: float, seed: int) -> None:
    drawn = values.draw(np.random.default_rng(seed), clock)
    end = values.start if values.end is None else values.end
    centre = values.start + clock * (end - values.start)
    assert abs(drawn - centre) <= values.spread + 1e-6
    assert values.lowest - 1e-6 <= drawn <= values.highest + 1e-6


def test_ranges_are_written_as_in_the_predecessor() -> None:
    assert parse_range("1") == Range(1)
    assert parse_range("1.0~0.2") == Range(1, None, 0.2)
    assert parse_range("0:5") == Range(0, 5)
    assert parse_range("0:5~1") == Range(0, 5, 1)
    assert [parse_range("0:5").draw(np.random.default_rng(1), clock) for clock in (0, 0.5, 1)] == [0, 2.5, 5]
    drawn = [parse_range("2~1").draw_whole(np.random.default_rng(seed), 0) for seed in range(50)]
    assert set(drawn) == {1, 2, 3}


@pytest.mark.parametrize("text", ["", "a", "1~", "1:", ":1", "1~-1", "nan", "0:inf", "1~2~3", "1:2:3"])
def test_what_is_no_range_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a number or a range"):
        parse_range(text)


@pytest.mark.parametrize("text", OF_THE_PREDECESSOR)
def test_the_examples_of_the_predecessor_are_understood(text: str) -> None:
    augmentation = parse_augmentation(text)
    assert augmentation.kind == text.partition("[")[0]
    assert augmentation.p in (0.1, 0.5)
    assert parse(f"--augment={text}").augmentation.augmentations == (augmentation,)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_read_as_it_is_written(kind: str) -> None:
    needed = "[source=noise]" if kind == "overlay" else ""
    augmentation = parse_augmentation(kind + needed)
    assert parse_augmentation(str(augmentation)) == augmentation
    assert parse_augmentation(str(dataclasses.replace(augmentation, p=0.25))).p == 0.25
    assert next(parameters_of(type(augmentation))).name == "p"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("spead[p=1]", "there is no augmentation spead; there are speed, tempo, pitch, "),
        ("speed[q=1]", "speed: there is no parameter q; there are p, factor"),
        ("speed[domain=signal]", "speed: there is no parameter domain; there are p, factor"),
        ("speed[p=2]", "speed: p=2.0: must be 0 to 1"),
        ("speed[p=x]", "speed: p=x: must be a number"),
        ("speed[factor=0.5~0.4]", "speed: factor=0.5~0.4: must be 0.25 to 4"),
        ("speed[factor=1%]", "speed: factor=1%: 1% is not a number or a range"),
        ("band[low=3400,high=300]", "low=3400: must be below high=300"),
        ("band[low=100:900,high=1000~200]", "low=100:900: must be below high=1000~200"),
        ("codec[bitrate=1]", "codec: bitrate=1: must be 3200 to 1000000"),
        ("overlay[snr=3]", "overlay: source must be given"),
        ("time_mask[domain=time]", "time_mask: domain=time: must be one of spectrogram, signal, features"),
        ("speed[p=1,p=1]", "p is given twice"),
        ("speed[p]", "p: must be written as parameter=value"),
        ("speed[p=1", r"is not written as kind\[parameter=value,…\]"),
    ],
)
def test_what_cannot_be_used_is_one_line_that_says_what_there_is(text: str, said: str) -> None:
    with pytest.raises(FlagError, match=rf"^--augment=[^\n]*: {said}[^\n]*; see docs/augmentation.md$"):
        parse(f"--augment={text}")


def test_several_are_taken_in_their_order_however_they_are_given() -> None:
    apart = parse("--augment", "speed[p=0.5,factor=1~0.1]", "--augment=volume", "--augment=noise[snr=10,p=0.1]")
    together = parse("--augment=speed[p=0.5,factor=1~0.1],volume,noise[snr=10,p=0.1]")
    assert apart == together
    assert [each.kind for each in apart.augmentation.augmentations] == ["speed", "volume", "noise"]
    with pytest.raises(FlagError, match=r"'volume\[p=1\]'; give --augment once for each"):
        parse("--augment", "speed", "volume[p=1]")


def test_experiments_and_files_of_parameters_hold_them(tmp_path: Path) -> None:
    described = AugmentationOptions.of(Speed(p=0.5, factor=Range(1, spread=0.1)), TimeMask(domain="features"))
    options = dataclasses.replace(Options(), augmentation=described)
    text = format_parameters(run_parameters(options))
    assert "augment : ('speed[p=0.5,factor=1~0.1]', 'time_mask[p=1,domain=features,n=3,size=10,most=1]')\n" in text
    values = values_of_parameters(parse_parameters(text, "params.txt"), None, tmp_path)
    assert AugmentationOptions(values["augment"]).augmentations == described.augmentations  # type: ignore[arg-type]


def test_a_file_of_parameters_has_the_whole_path_of_a_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folders = {name: tmp_path / name for name in ("noises", "a,b")}
    for folder in folders.values():
        folder.mkdir()
    options = Options(augmentation=AugmentationOptions(("speed", "overlay[p=0.5, source=cafe.wav ]")))
    monkeypatch.chdir(folders["noises"])
    written = ("speed", f"overlay[p=0.5,source={folders['noises']}/cafe.wav]")
    assert run_parameters(options)["augment"] == written
    assert [source_of(each) for each in map(parse_augmentation, written)] == ["", f"{folders['noises']}/cafe.wav"]
    monkeypatch.chdir(folders["a,b"])
    assert run_parameters(options)["augment"] == options.augmentation.written


def test_recordings_are_those_of_a_file_a_folder_or_a_csv(tmp_path: Path) -> None:
    names = ["a/1.wav", "a/b/2.FLAC", "a/b/text.txt", "3.ogg"]
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "list.csv").write_text("wav_filename,other\n3.ogg,1\na/1.wav,2\n")
    one, two, three = (Recording(tmp_path / name) for name in ("a/1.wav", "a/b/2.FLAC", "3.ogg"))
    assert recordings_of(str(tmp_path / "3.ogg")) == (three,)
    assert recordings_of(str(tmp_path / "a")) == (one, two)
    assert recordings_of(str(tmp_path / "list.csv")) == (three, one)
    windows = "other;wav_filename\r\n1;3.ogg\r\n2;a\\1.wav\r\n"
    (tmp_path / "windows.csv").write_text(windows, encoding="utf-16", newline="")
    assert recordings_of(str(tmp_path / "windows.csv")) == (three, one)
    (tmp_path / "parts.csv").write_text("start,wav_filename,duration\n1.5,3.ogg,0.5\n,3.ogg,\n2,3.ogg\n")
    parts = (Part(1.5, 2.0), None, Part(2.0, math.inf))
    assert recordings_of(str(tmp_path / "parts.csv")) == tuple(Recording(tmp_path / "3.ogg", part) for part in parts)


def test_linked_folders_of_recordings_are_read_and_hidden_files_are_not(tmp_path: Path) -> None:
    elsewhere, noises = tmp_path / "disk" / "street", tmp_path / "noises"
    for name in (elsewhere / "1.wav", noises / "2.wav", noises / "._2.wav", noises / ".trash" / "3.wav"):
        name.parent.mkdir(parents=True, exist_ok=True)
        name.touch()
    (noises / "linked").symlink_to(elsewhere)
    (noises / "linked" / "round").symlink_to(tmp_path)
    assert recordings_of(str(noises)) == (Recording(noises / "2.wav"), Recording(noises / "linked" / "1.wav"))


def test_a_source_that_is_not_there_is_named_with_its_augmentation(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "wrong.csv").write_text("file\na.wav\n")
    (tmp_path / "part.csv").write_text("wav_filename,start\na.wav,x\n")
    (tmp_path / "noise.sdb").touch()
    for name, reason in (
        ("none", "there is no such file or folder"),
        ("empty", r"no audio files \(.wav, "),
        ("part.csv:2", "a start and a duration must be numbers, and not 'x' and ''"),
        ("wrong.csv:1", "no column wav_filename; found: file"),
        ("noise.sdb", "archives are not read here; unpack it, and name the folder"),
    ):
        options = AugmentationOptions.of(Overlay(source=str(tmp_path / name.partition(":")[0])))
        with pytest.raises(FlagError, match=rf"^--augment=overlay\[.*source=.*{name}: {reason}[^\n]*$"):
            options.check(16_000)


def test_a_band_above_half_the_sample_rate_is_refused_where_the_rate_is_known() -> None:
    options = parse("--augment=band[low=8000,high=9500]").augmentation
    options.check(22_050)
    said = r"^--augment=band\[low=8000,high=9500\]: low=8000: must be below half the sample rate, 8000 Hz$"
    with pytest.raises(FlagError, match=said):
        options.check(16_000)


def test_the_documentation_has_the_table_of_all_kinds() -> None:
    table, page = markdown_table(), PAGE.read_text(encoding="utf-8")
    lacking = [line for line in table.splitlines() if line not in page]
    assert table in page, f"docs/contributing.md, An augmentation, says how the page gets its table; it lacks {lacking}"


def test_the_bounds_of_every_kind_are_those_of_parameters_it_has() -> None:
    for kind in KINDS.values():
        names = {each.name for each in parameters_of(kind)}
        assert kind.bounds.keys() <= names
        assert all(lowest < highest and not math.isnan(lowest) for lowest, highest in kind.bounds.values())
