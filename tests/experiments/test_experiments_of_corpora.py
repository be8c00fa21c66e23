"""Each experiment imports a tree laid out as its corpus, makes its alphabet, and has utterances in every set."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from corpora import TinyCorpus, say, write_wav
from program import Program

from deepspeech.cli.flags import parse
from deepspeech.errors import DeepSpeechError, FlagError
from deepspeech.experiments.experiment import experiments
from deepspeech.options import Options
from deepspeech.schedule.jobs import SetName
from deepspeech.training.inputs import Inputs, read_inputs
from deepspeech.util.importing import MODULES
from deepspeech.util.importing.published import PUBLISHED

SETS = ("train", "dev", "test")

Tree = Callable[[Path], object]


def speak(path: Path, seed: int = 1) -> Path:
    return write_wav(path, say("abcdeabcde", np.random.default_rng(seed)))


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def librispeech(*parts: str) -> Tree:
    def tree(folder: Path) -> None:
        for speaker, part in enumerate((*parts, *parts, *parts)):
            chapter = folder / "LibriSpeech" / part / str(speaker) / "7"
            speak(chapter / f"{speaker}-7-0.wav")
            write(chapter / f"{speaker}-7.trans.txt", f"{speaker}-7-0 A WORD\n")

    return tree


def aishell(folder: Path) -> None:
    for part in SETS:
        speak(folder / "wav" / part / f"S{part}" / f"W{part}.wav")
    write(folder / "transcript" / "aishell_transcript_v0.8.txt", "Wtrain 而 对 楼市\nWdev 成交\nWtest 而\n")


def aishell_sample(folder: Path) -> None:
    names = [f"W{number}" for number in range(30)]
    for name in names:
        speak(folder / "wav" / "S0150" / f"{name}.wav")
    write(folder / "transcript.txt", "".join(f"{name} 对楼\n" for name in names))


def thchs30(folder: Path) -> None:
    for part in SETS:
        speak(folder / part / f"{part}_0.wav")
        write(folder / part / f"{part}_0.wav.trn", f"../data/{part}_0.wav.trn\n")
        write(folder / "data" / f"{part}_0.wav.trn", "绿 是\nlv4 shi4\nl v4 sh ix4\n")


def common_voice(folder: Path) -> None:
    rows = []
    for speaker in range(6):
        speak(folder / "clips" / f"{speaker}.wav")
        rows.append(f"{speaker}\t{speaker}.wav\tÇa va, « Zoé » ?")
    write(folder / "validated.tsv", "client_id\tpath\tsentence\n" + "\n".join(rows))


def speech_commands(folder: Path) -> None:
    for speaker in "abc":
        speak(folder / "yes" / f"{speaker}_nohash_0.wav")
    write(folder / "validation_list.txt", "yes/b_nohash_0.wav\n")
    write(folder / "testing_list.txt", "yes/c_nohash_0.wav\n")


def arabic_commands(folder: Path) -> None:
    for number, name in enumerate(("train", "val", "test")):
        speak(folder / "dataset" / "yes" / f"{number:08d}_NO_01.wav")
        write(folder / f"{name}.csv", f"file,class\ndataset/yes/{number:08d}_NO_01.wav,yes\n")
    write(folder / "keywords.tsv", "yes\tنعم\n")


def recordings(folder: Path) -> None:
    for number in range(6):
        speak(folder / f"{number}.wav", number)
        write(folder / f"{number}.txt", f"Größe: {number}.")


def kaldi(folder: Path) -> None:
    for number in range(3):
        speak(folder / f"{number}.wav")
    write(folder / "wav.scp", "".join(f"u{number} {number}.wav\n" for number in range(3)))
    write(folder / "text", "".join(f"u{number} a word\n" for number in range(3)))


def json_lines(folder: Path) -> None:
    rows = [{"audio_filepath": str(speak(folder / f"{number}.wav")), "text": "a word"} for number in range(3)]
    write(folder / "manifest.jsonl", "\n".join(map(json.dumps, rows)))


def lists(folder: Path) -> None:
    for part in SETS:
        speak(folder / f"{part}.wav")
        write(folder / f"{part}.csv", f"wav_filename,wav_filesize,transcript\n{part}.wav,0,A word\n")


def ljspeech(folder: Path) -> None:
    for number in range(3):
        speak(folder / "wavs" / f"LJ{number}.wav")
    write(folder / "metadata.csv", "".join(f"LJ{number}|A word|a word\n" for number in range(3)))


def tedlium(folder: Path) -> None:
    for part in SETS:
        speak(folder / "legacy" / part / "sph" / "Ann.flac")
        write(folder / "legacy" / part / "stm" / "Ann.stm", "Ann 1 Ann 0.0 1.0 <o,f0,female> a word\n")


def mls(folder: Path) -> None:
    for part in SETS:
        speak(folder / part / "audio" / "1" / "2" / "1_2_000000.flac")
        write(folder / part / "transcripts.txt", "1_2_000000\ta word\n")


def fleurs(folder: Path) -> None:
    for part in SETS:
        speak(folder / "audio" / part / "7.wav")
        write(folder / f"{part}.tsv", "7\t7.wav\tA word.\ta word\ta | w o r d |\t8000\tMALE\n")


def audio_folder(folder: Path) -> None:
    for part in ("train", "validation", "test"):
        speak(folder / part / "1.wav")
        write(folder / part / "metadata.csv", "file_name,transcription\n1.wav,A word.\n")


def voxforge(folder: Path) -> None:
    for speaker in range(3):
        submission = folder / f"s{speaker}-20080101-abc"
        speak(submission / "wav" / "a1.wav")
        write(submission / "etc" / "PROMPTS", f"{submission.name}/mfc/a1 A WORD\n")


def an4(folder: Path) -> None:
    for speaker in "abc":
        speak(folder / "wav" / speaker / "one.wav")
    for part, speakers in (("train", "ab"), ("test", "c")):
        write(folder / "etc" / f"an4_{part}.fileids", "".join(f"{speaker}/one\n" for speaker in speakers))
        write(folder / "etc" / f"an4_{part}.transcription", "<s> YES </s> (one)\n" * len(speakers))


WORD = " adorw"
CLEAN = ("dev-clean", "test-clean")

TREES: dict[str, tuple[Tree, str]] = {
    "aishell1": (aishell, "对市成交楼而"),
    "aishell_sample": (aishell_sample, "对楼"),
    "an4": (an4, ""),
    "an4_streaming": (an4, ""),
    "an4_wordpieces": (an4, " yes"),
    "arabic_commands": (arabic_commands, "عمن"),
    "audio_folder": (audio_folder, WORD),
    "auto": (lists, WORD),
    "common_voice": (common_voice, " aovzçé"),
    "fleurs": (fleurs, WORD),
    "folder": (recordings, " 012345eggrößß"),
    "json_lines": (json_lines, WORD),
    "kaldi": (kaldi, WORD),
    "librispeech_100": (librispeech("train-clean-100", "dev-clean", "test-clean", "train-other-500"), ""),
    "librispeech_960": (librispeech("train-clean-100", "train-clean-360", "train-other-500", *CLEAN), ""),
    "ljspeech": (ljspeech, WORD),
    "mls": (mls, WORD),
    "mini_librispeech": (librispeech("train-clean-5", "dev-clean-2"), ""),
    "speech_commands": (speech_commands, ""),
    "table": (lists, WORD),
    "tedlium": (tedlium, WORD),
    "thchs30": (thchs30, "是绿"),
    "voxforge": (voxforge, WORD),
}
"""The layout of each experiment's corpus, and the labels that are made of it; empty if they are the packaged ones."""


def options_of(*arguments: str) -> Options:
    options = parse(arguments)
    assert options is not None
    return options


def read(name: str, folder: Path, *arguments: str) -> tuple[Options, Inputs]:
    options = options_of(f"--experiment={name}", f"--from={folder}/tree", f"--work={folder}/work", *arguments)
    return options, read_inputs(options)


@pytest.mark.parametrize("name", TREES)
def test_an_experiment_imports_its_corpus_and_has_every_set(name: str, tmp_path: Path) -> None:
    tree, labels = TREES[name]
    tree(tmp_path / "tree")
    options, inputs = read(name, tmp_path)
    assert all(len(inputs.corpora[each]) for each in SetName)
    if labels:
        assert set(inputs.alphabet.labels) == set(labels)
        assert options.alphabet_path == tmp_path / "work/alphabet.txt"
    else:
        assert inputs.alphabet.labels[:2] == (" ", "a") and len(inputs.alphabet.labels) == 28
    if options.experiment.parts:
        assert "train-other-500" in options.experiment.parts or "train-other-500" not in (
            tmp_path / "work/corpus/train.csv"
        ).read_text(encoding="utf-8")


def test_an_alphabet_of_another_unit_is_made_where_an_experiment_takes_the_packaged_one(tmp_path: Path) -> None:
    tree, _ = TREES["mini_librispeech"]
    tree(tmp_path / "tree")
    options, inputs = read("mini_librispeech", tmp_path, "--output_unit=wordpieces")
    assert options.alphabet_path == tmp_path / "work/alphabet.txt"
    assert inputs.alphabet.unit == "wordpieces" and options.alphabet_path.exists()


def test_every_format_is_the_corpus_of_an_experiment_and_its_parts_are_published() -> None:
    known = experiments()
    formats = {name for name, module in MODULES.items() if module.startswith("formats.")}
    assert formats <= {name for experiment in known.values() for name in (experiment.corpus, *experiment.besides)}
    alone = {name: experiment for name, experiment in known.items() if not experiment.besides}
    assert {name for name, experiment in alone.items() if experiment.corpus in formats} == TREES.keys()
    for experiment in known.values():
        assert not experiment.parts or PUBLISHED[experiment.corpus].choose("", experiment.parts)


def test_a_folder_becomes_a_model_and_a_report_by_one_command(tiny_corpus: TinyCorpus, tmp_path: Path) -> None:
    recordings(tmp_path / "tree")
    program = Program(tiny_corpus, tmp_path)
    command = ["--experiment=folder", "--from=tree", "--work=work", "--n_hidden=16", "--beam_width=4"]
    done = program.run(*command, "--epoch=1", "--export_dir=model")
    assert done.code == 0, done.stderr
    assert (tmp_path / "model/output_graph.pb").exists()
    labels = "12 labels (characters) made of the transcripts; 2 of them in no training transcript"
    assert f"work/alphabet.txt: {labels}" in done.stderr
    report = tmp_path / "work/report/report.html"
    assert "größe" in report.read_text(encoding="utf-8")

    again = program.run(*command, "--epoch=2", "--notest")
    assert again.code == 0 and "labels, one for each" not in again.stderr


def test_labels_that_are_made_and_cannot_be_exported_are_refused_before_training(
    tiny_corpus: TinyCorpus, tmp_path: Path
) -> None:
    aishell(tmp_path / "tree")
    program = Program(tiny_corpus, tmp_path)
    command = ["--experiment=aishell1", "--from=tree", "--work=work", "--output_unit=pinyin", "--feature_type=fbank"]
    done = program.run(*command, "--n_hidden=4", "--network=lstm", "--export_format=sherpa", "--export_dir=model")
    assert done.code == 1 and (tmp_path / "work/alphabet.txt").exists()
    assert "--output_unit=pinyin: sherpa-onnx writes characters and word pieces; export another format" in done.stderr
    assert not (tmp_path / "work/checkpoints").exists()


def test_what_an_experiment_imports_can_be_chosen(tmp_path: Path) -> None:
    librispeech("train-clean-5", "dev-clean-2", "train-clean-100")(tmp_path / "tree")
    _, inputs = read("mini_librispeech", tmp_path, "--part=train-clean-5,train-clean-100", "--split=1:1:1")
    assert [len(inputs.corpora[each]) for each in SetName] == [2, 2, 2]
    with pytest.raises(DeepSpeechError, match="has no folder test-other"):
        read("mini_librispeech", tmp_path, "--part=test-other")
    with pytest.raises(DeepSpeechError, match=r"no train set: all recordings are in other sets.*--split=90:5:5"):
        read("mini_librispeech", tmp_path, "--part=dev-clean-2")
    with pytest.raises(FlagError, match="--split: '1:1' is not three numbers"):
        options_of("--experiment=folder", "--split=1:1")
    with pytest.raises(FlagError, match="--tier: needs --experiment"):
        options_of("--train_files=a.csv", "--tier=words")


def test_a_folder_too_small_for_sets_says_so_and_can_be_trained_on_alone(tmp_path: Path) -> None:
    speak(tmp_path / "tree" / "one.wav")
    write(tmp_path / "tree" / "one.txt", "a word")
    with pytest.raises(DeepSpeechError, match="no dev and no test set: there are too few recordings") as raised:
        read("folder", tmp_path)
    _, inputs = read("folder", tmp_path, *str(raised.value).split(": ")[-1].split())
    assert {name.value: len(corpus) for name, corpus in inputs.corpora.items()} == {"train": 1}


def test_a_missing_language_model_is_named_before_the_import_that_the_alphabet_waits_for(tmp_path: Path) -> None:
    recordings(tmp_path / "tree")
    with pytest.raises(FlagError, match="--lm_binary_path=missing: there is no such file"):
        read("folder", tmp_path, "--lm_binary_path=missing")
    assert not (tmp_path / "work").exists()


def test_the_experiments_are_listed_for_who_does_not_know_their_names(capsys: pytest.CaptureFixture[str]) -> None:
    assert parse(["--experiment=list"]) is None
    listed = capsys.readouterr().out
    assert all(any(line.startswith(f"{name} ") for line in listed.splitlines()) for name in experiments())
    with pytest.raises(FlagError, match="there is no such experiment"):
        parse(["--experiment=librispech"])
    assert capsys.readouterr().err == listed
