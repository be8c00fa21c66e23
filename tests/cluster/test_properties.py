"""The properties in which workers must agree with the chief."""

import json
import os
import resource
import tarfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pytest
import soundfile
from corpora import TinyCorpus

from deepspeech.cli import flags
from deepspeech.cluster.coordination.membership import difference
from deepspeech.cluster.http.routes import in_json
from deepspeech.cluster.properties import OF_THE_CHIEF, _recordings, worker_properties
from deepspeech.errors import FlagError
from deepspeech.options import Options, flags_of
from deepspeech.schedule.jobs import SetName
from deepspeech.schedule.state import Plan
from deepspeech.training.inputs import read_inputs
from deepspeech.util.augmentation.checked_sources import checked_sources
from deepspeech.util.augmentation.recordings import Recording
from deepspeech.util.text import Alphabet


def parsed(*given: str) -> Options:
    options = flags.parse(["--train_files=a.csv", "--ps_hosts=a:1", "--worker_hosts=b:1", "--job_name=worker", *given])
    assert options is not None
    return options


def properties(*given: str, sources: Mapping[str, Sequence[Recording]] = MappingProxyType({})) -> dict[str, str]:
    options = parsed(*given)
    plans = {SetName.TEST: Plan(1, 1, "the same")} if options.test.files else {}
    return worker_properties(options, Alphabet(("a", " ")), plans, sources)


@pytest.mark.parametrize(
    ("flag", "said"),
    [
        ("--dropout_rate=0.5", "its --dropout_rate is 0.5, the chief's 0.05"),
        ("--mixed_precision=on", "its --mixed_precision is on, the chief's"),
        ("--beam_width=7", "its --beam_width is 7, the chief's 1024"),
        ("--replicas_to_agg=1", "its --replicas_to_agg is 1, the chief's -1"),
        ("--accumulate_gradients=2", "its --accumulate_gradients is 2, the chief's 1"),
        ("--random_seed=1", "its --random_seed is 1, the chief's 4567"),
    ],
)
def test_a_worker_with_another_flag_that_decides_the_result_is_told_which(flag: str, said: str) -> None:
    assert (difference(properties(), properties(flag)) or "").startswith(said)


@pytest.mark.parametrize(
    "given",
    [
        "--task_index=0",
        "--epoch=7",
        "--learning_rate=0.1",
        "--log_level=2",
        "--nouse_seq_length",
        "--initialize_from_weights=w.h5",
        "--initialize_from_weights=w.h5 --map_labels",
        "--initialize_from_frozen_model=g.pb --drop_source_layers=1",
    ],
)
def test_flags_that_do_not_change_what_a_worker_computes_may_differ(given: str) -> None:
    assert difference(properties(), properties(*given.split())) is None


def test_every_flag_that_may_differ_is_there() -> None:
    assert OF_THE_CHIEF - {row.name for row in flags_of(Options)} == set()


@pytest.mark.parametrize("lists", ["all.csv", "noisy.csv,clean.csv", "clean.csv,noisy.csv,other.csv"])
def test_the_lists_of_a_test_that_are_counted_each_by_itself_must_be_the_same_wherever_they_are(lists: str) -> None:
    chiefs = properties("--test_files=clean.csv,noisy.csv")
    assert difference(chiefs, properties("--test_files=/data/clean.csv,/data/noisy.csv")) is None
    assert (difference(chiefs, properties(f"--test_files={lists}")) or "").startswith("its --test_files is ")
    one = properties("--test_files=all.csv")
    assert difference(one, properties("--test_files=test.csv")) is None


def test_properties_that_name_a_folder_that_is_not_utf_8_are_those_that_the_coordinator_is_told(tmp_path: Path) -> None:
    folder = tmp_path / os.fsdecode(b"caf\xe9")
    folder.mkdir()
    told = properties(f"--augment=overlay[source={folder}]")
    assert r"caf\udce9" in told["--augment"]
    assert json.loads(in_json(told)) == told


def test_workers_must_have_the_same_recordings_of_noise_wherever_they_are(tmp_path: Path) -> None:
    names, told = ("1.wav", os.fsdecode(b"caf\xe9.wav")), []
    for folder in ("chief", "worker", "lacks", "differs"):
        (tmp_path / folder).mkdir()
        for name in names:
            (tmp_path / folder / name).write_bytes(bytes(20 if folder == "differs" else 10))
        given = [Recording(tmp_path / folder / name) for name in names[: 1 if folder == "lacks" else 2]]
        told.append(properties("--augment=overlay[source=noise]", sources={"noise": given}))
    assert difference(told[0], told[1]) is None
    for other in told[2:]:
        assert (difference(told[0], other) or "").startswith("its recordings of --augment is ")


def test_recordings_of_noise_need_not_be_opened_to_be_compared(tmp_path: Path) -> None:
    (tmp_path / "1.wav").write_bytes(bytes(10))
    files = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, files[1]))
    try:
        told = _recordings([Recording(tmp_path / "1.wav")])
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, files)
    assert told.startswith("1 files ")


def test_workers_must_have_the_same_recordings_of_noise_also_in_shards(tmp_path: Path) -> None:
    told = []
    for seconds in (0.1, 0.2):
        soundfile.write(tmp_path / "1.wav", np.linspace(-0.5, 0.5, int(16000 * seconds)), 16000)
        with tarfile.open(tmp_path / "noise.tar", "w") as shard:
            shard.add(tmp_path / "1.wav", "1.wav")
        (tmp_path / "1.wav").unlink()
        (tmp_path / "noise.csv").write_text("wav_filename\nnoise.tar/1.wav\n")
        augment = f"overlay[source={tmp_path / 'noise.csv'}]"
        sources = checked_sources(parsed(f"--augment={augment}").augmentation.augmentations, progress=False)
        told.append(properties(f"--augment={augment}", sources=sources))
    assert (difference(*told) or "").startswith("its recordings of --augment is 1 files ")


@pytest.mark.parametrize("flag", ["initialize_from_weights", "initialize_from_frozen_model"])
def test_a_worker_needs_no_file_of_initial_weights_which_the_chief_gives_it(
    flag: str, tiny_corpus: TinyCorpus, tmp_path: Path
) -> None:
    initial = tmp_path / "initial"
    corpus = [f"--train_files={tiny_corpus.train}", f"--alphabet_config_path={tiny_corpus.alphabet}"]
    place = ["--ps_hosts=a:1", "--worker_hosts=b:1,c:1", "--job_name=worker"]
    given = [*corpus, *place, f"--{flag}={initial}", f"--checkpoint_dir={tmp_path / 'checkpoints'}"]
    worker, chief = (flags.parse([*given, f"--task_index={task}"]) for task in (1, 0))
    assert worker is not None
    assert chief is not None
    read_inputs(worker)
    with pytest.raises(FlagError, match=f"--{flag}={initial}: there is no such file"):
        read_inputs(chief)
    initial.write_bytes(b"on another machine")
    elsewhere = properties("--map_labels", f"--{flag}={initial}")
    assert difference(properties(), elsewhere) is None


def test_a_join_has_room_for_all_properties() -> None:
    rows = [row for row in flags_of(Options) if row.decides_result]
    assert len(properties()) < 256
    assert all(len(row.name) + 2 <= 64 for row in rows)
