"""Trees of a few recordings, laid out as the corpora of the experiments."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from corpora import say, write_wav
from trees import write

SETS = ("train", "dev", "test")

Tree = Callable[[Path], object]


def speak(path: Path, seed: int = 1) -> Path:
    return write_wav(path, say("abcdeabcde", np.random.default_rng(seed)))


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


def lhotse(folder: Path) -> None:
    recordings, supervisions = [], []
    for number in range(3):
        file = {"type": "file", "channels": [0], "source": str(speak(folder / f"{number}.wav"))}
        recordings.append({"id": f"{number}", "duration": 1, "sources": [file]})
        place = {"recording_id": f"{number}", "channel": 0, "start": 0, "duration": 1}
        supervisions.append({**place, "text": "a word"})
    write(folder / "recordings.jsonl", "\n".join(map(json.dumps, recordings)))
    write(folder / "supervisions.jsonl", "\n".join(map(json.dumps, supervisions)))


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


def gigaspeech(folder: Path) -> None:
    audios = []
    for number, subset in enumerate(("{XS}", "{DEV}", "{TEST}")):
        speak(folder / "audio" / f"{number}.wav")
        segment = {"begin_time": 0.0, "end_time": 1.0, "text_tn": "A WORD <PERIOD>", "subsets": [subset]}
        audios.append({"path": f"audio/{number}.wav", "segments": [segment]})
    write(folder / "GigaSpeech.json", json.dumps({"dataset": "GigaSpeech", "audios": audios}, indent=2))


def audio_folder(folder: Path) -> None:
    for part in ("train", "validation", "test"):
        speak(folder / part / "1.wav")
        write(folder / part / "metadata.csv", "file_name,transcription\n1.wav,A word.\n")


def nchlt(folder: Path) -> None:
    for part, speakers in (("trn", "ab"), ("tst", "c")):
        rows = ""
        for speaker in speakers:
            speak(folder / "nchlt_zul" / "audio" / speaker / "1.wav")
            audio = f'<recording audio="nchlt_zul/audio/{speaker}/1.wav"><orth>a word</orth></recording>'
            rows += f'<speaker id="{speaker}">{audio}</speaker>'
        write(folder / "nchlt_zul" / "transcriptions" / f"nchlt_zul.{part}.xml", f"<corpus>{rows}</corpus>")


def tuda_de(folder: Path) -> None:
    for part in SETS:
        speak(folder / part / "2014_Kinect-Beam.wav")
        text = f"<speaker_id>{part}</speaker_id><cleaned_sentence>A word</cleaned_sentence>"
        write(folder / part / "2014.xml", f"<recording>{text}</recording>")


def ksponspeech(folder: Path) -> None:
    for part in SETS:
        samples = say("abcdeabcde", np.random.default_rng(1))
        write(folder / "KsponSpeech_01" / f"{part}.pcm", (samples * 8000).astype("<i2").tobytes())
        write(folder / f"{part}.trn", f"KsponSpeech_01/{part}.pcm :: A word\n")


def mgb(folder: Path) -> None:
    for part in SETS:
        speak(folder / part / "wav" / f"{part}.wav")
        words = "<element>A</element><element>word</element>"
        segment = f'<segment id="1" starttime="0" endtime="1" who="speaker1">{words}</segment>'
        write(folder / part / "xml" / f"{part}.xml", f"<segments>{segment}</segments>")


def parallel_lines(folder: Path) -> None:
    for part in ("train", "valid", "test"):
        speak(folder / "audio" / f"{part}.wav")
        write(folder / f"{part}.tsv", f"{folder / 'audio'}\n{part}.wav\t8000\n")
        write(folder / f"{part}.wrd", "A WORD\n")


def parquet(folder: Path) -> None:
    parquet_files = pytest.importorskip("pyarrow.parquet")
    arrow = pytest.importorskip("pyarrow")
    for number, part in enumerate(("train", "validation", "test"), start=1):
        content = speak(folder.parent / "speech.wav").read_bytes()
        rows = [{"audio": {"bytes": content, "path": f"{part}.wav"}, "sentence": number * "A word. "}]
        (folder / "data").mkdir(parents=True, exist_ok=True)
        parquet_files.write_table(arrow.Table.from_pylist(rows), folder / "data" / f"{part}-00000-of-00001.parquet")


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


def vctk(folder: Path) -> None:
    for speaker in ("p1", "p2", "p3"):
        speak(folder / "wav48_silence_trimmed" / speaker / f"{speaker}_001_mic1.flac")
        write(folder / "txt" / speaker / f"{speaker}_001.txt", "A word.\n")


def libritts(folder: Path) -> None:
    for part in ("train-clean-100", "dev-clean", "test-clean"):
        speak(folder / part / "84" / "1" / "84_1_0.wav")
        write(folder / part / "84" / "1" / "84_1_0.normalized.txt", "A word.")


def timit(folder: Path) -> None:
    for part, speaker in (("TRAIN", "FCJF0"), ("TRAIN", "MDAB0"), ("TEST", "FAKS0")):
        speak(folder / part / "DR1" / speaker / "SX37.WAV")
        write(folder / part / "DR1" / speaker / "SX37.TXT", "0 8000 A word.\n")


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
    "gigaspeech": (gigaspeech, WORD),
    "ksponspeech": (ksponspeech, WORD),
    "lhotse": (lhotse, WORD),
    "kaldi": (kaldi, WORD),
    "librispeech_100": (librispeech("train-clean-100", "dev-clean", "test-clean", "train-other-500"), ""),
    "librispeech_960": (librispeech("train-clean-100", "train-clean-360", "train-other-500", *CLEAN), ""),
    "libritts": (libritts, WORD),
    "ljspeech": (ljspeech, WORD),
    "mgb": (mgb, WORD),
    "mls": (mls, WORD),
    "nchlt": (nchlt, WORD),
    "parallel_lines": (parallel_lines, WORD),
    "parquet": (parquet, WORD),
    "mini_librispeech": (librispeech("train-clean-5", "dev-clean-2"), ""),
    "speech_commands": (speech_commands, ""),
    "table": (lists, WORD),
    "tedlium": (tedlium, WORD),
    "thchs30": (thchs30, "是绿"),
    "timit": (timit, WORD),
    "tuda_de": (tuda_de, WORD),
    "vctk": (vctk, WORD),
    "voxforge": (voxforge, WORD),
}
"""The layout of each experiment's corpus, and the labels that are made of it; empty if they are the packaged ones."""
