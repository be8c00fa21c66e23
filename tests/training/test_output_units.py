"""Models whose labels are not characters: trained, tested on what they learn, exported, and heard from the graph."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable
from pathlib import Path

import pytest
import soundfile
from corpora import TinyCorpus
from program import Program, evaluate

from deepspeech import Model
from deepspeech.align import align
from deepspeech.util.output_units import SyllableAlphabet
from deepspeech.util.output_units.making import word_pieces

SPELLED = str.maketrans("e", "é")
SPOKEN = str.maketrans("abcde", "他好马吃水", " ")
HOMOPHONE = str.maketrans("他", "她")


def rewritten(corpus: TinyCorpus, folder: Path, write: Callable[[str], str]) -> dict[str, Path]:
    """Write the sets with other transcripts of the same recordings; return their files by name."""
    files = {}
    for source in (corpus.train, corpus.dev, corpus.test):
        with source.open(newline="") as lines, (folder / source.name).open("w", newline="", encoding="utf-8") as target:
            rows = csv.writer(target)
            rows.writerow(["wav_filename", "wav_filesize", "transcript"])
            for row in csv.DictReader(lines):
                rows.writerow([source.parent / row["wav_filename"], row["wav_filesize"], write(row["transcript"])])
        files[source.stem] = folder / source.name
    return files


def train_and_export(program: Program, files: dict[str, Path], *flags: str) -> str:
    """Train, test and export; return what was logged."""
    finished = program.run(
        *program.training(epoch=120, train_files=files["train"], test_files=files["train"]),
        "--test_batch_size=6",
        "--dropout_rate=0",
        f"--export_dir={program.folder / 'model'}",
        *flags,
    )
    assert finished.code == 0, finished.stderr
    return finished.stderr


def figures_of_test(log: str) -> str:
    """Return the error rates, without the loss, which rounding changes."""
    (rates,) = re.findall(r"Test: loss [\d.]+, (.*)", log)
    return str(rates)


def character_error_rate(log: str) -> float:
    (rate,) = re.findall(r"Test: .* CER ([\d.]+)%", log)
    return float(rate)


def write_model_of_characters(path: Path, scores: dict[str, float]) -> Path:
    unigrams = ["-99\t<s>\t0", "-1\t</s>", "-3\t<unk>", *(f"{score}\t{each}\t0" for each, score in scores.items())]
    bigrams = [f"-1\t<s> {next(iter(scores))}"]
    counts = [f"ngram 1={len(unigrams)}", f"ngram 2={len(bigrams)}"]
    parts = ["\\data\\", *counts, "", "\\1-grams:", *unigrams, "", "\\2-grams:", *bigrams, "", "\\end\\", ""]
    path.write_text("\n".join(parts))
    return path


def test_bytes_are_learned_and_exported(program: Program, tiny_corpus: TinyCorpus) -> None:
    files = rewritten(tiny_corpus, program.folder, lambda text: text.translate(SPELLED))
    # With so many labels, such a small corpus is learned late.
    log = train_and_export(
        program, files, "--bytes_output_mode", "--alphabet_config_path=", "--n_hidden=96", "--epoch=200"
    )
    assert character_error_rate(log) < 40
    graph = program.folder / "model/output_graph.pb"
    heard = evaluate(f"--model={graph}", f"--test_files={files['train']}", "--beam_width=16")
    assert figures_of_test(heard.stderr) == figures_of_test(log)
    model = Model(graph)
    wav = tiny_corpus.test.parent / "wav/test-0.wav"
    aligned = align(model, wav, model.transcribe(wav).text)
    assert all(character.text in "abcdé" for word in aligned.words for character in word.characters)
    assert "255 labels, which are bytes of UTF-8" in (program.folder / "model/model.md").read_text()
    other = program.run(*program.model(), "--n_hidden=96", f"--export_dir={program.folder / 'other'}")
    assert other.code == 1
    assert "255 labels (here 6): give that one with --alphabet_config_path and --output_unit" in other.error


def test_word_pieces_are_learned_and_decoded_with_words(
    program: Program, tiny_corpus: TinyCorpus, scorer_file: Path
) -> None:
    files = rewritten(tiny_corpus, program.folder, str)
    with files["train"].open(newline="") as lines:
        pieces = word_pieces([row["transcript"] for row in csv.DictReader(lines)], 14)
    (program.folder / "pieces.model").write_bytes(pieces)
    unit = ("--output_unit=wordpieces", f"--alphabet_config_path={program.folder / 'pieces.model'}")
    log = train_and_export(program, files, *unit)
    assert character_error_rate(log) < 20
    graph = program.folder / "model/output_graph.pb"
    heard = evaluate(
        f"--model={graph}", f"--test_files={files['train']}", f"--lm_binary_path={scorer_file}", "--lm_weight=0.1"
    )
    assert heard.returncode == 0, heard.stderr
    assert character_error_rate(heard.stderr) < 20
    model = Model(graph)
    wav = tiny_corpus.test.parent / "wav/test-0.wav"
    alone = model.transcribe(wav)
    assert [word.text for word in alone.words] == alone.text.split(" ")
    model.enableExternalScorer(scorer_file)
    assert model.transcribe(wav).text.strip(" ") == model.transcribe(wav).text
    aligned = align(model, wav, alone.text)
    assert [word.text for word in aligned.words] == alone.text.split(" ")


def test_syllables_become_the_characters_that_a_language_model_prefers(
    program: Program, tiny_corpus: TinyCorpus
) -> None:
    files = rewritten(tiny_corpus, program.folder, lambda text: text.translate(SPOKEN))
    alphabet = program.folder / "syllables.txt"
    alphabet.write_text(SyllableAlphabet.of(["ta1", "hao3", "ma3", "chi1", "shui3"]).file_text)
    log = train_and_export(program, files, "--output_unit=pinyin", f"--alphabet_config_path={alphabet}")
    assert character_error_rate(log) < 20
    assert re.search(r"syllable errors: \d+\.\d+% with tones, \d+\.\d+% without", log)
    graph = program.folder / "model/output_graph.pb"
    rates = {}
    for preferred, other in ("他她", "她他"):
        scores = {preferred: -0.5, other: -3, "好": -1, "马": -1, "吃": -1, "水": -1}
        lm = write_model_of_characters(program.folder / f"{preferred}.arpa", scores)
        heard = evaluate(
            f"--model={graph}",
            f"--test_files={files['train']}",
            f"--lm_binary_path={lm}",
            "--lm_weight=0.5",
            "--valid_word_count_weight=1",
            f"--report_dir={program.folder / preferred}",
        )
        assert heard.returncode == 0, heard.stderr
        rates[preferred] = character_error_rate(heard.stderr)
        report = (program.folder / preferred / "utterances.csv").read_text(encoding="utf-8")
        hypotheses = "".join(row["hypothesis"] for row in csv.DictReader(report.splitlines()))
        assert preferred in hypotheses
        assert other not in hypotheses
    assert rates["他"] < 20
    assert rates["他"] < rates["她"]
    model = Model(graph)
    model.enableExternalScorer(program.folder / "他.arpa")
    wav = tiny_corpus.test.parent / "wav/test-0.wav"
    assert set(model.transcribe(wav).text) <= set("他好马吃水")
    tokens = model.sttWithMetadata(soundfile.read(wav, dtype="int16")[0]).transcripts[0].tokens
    assert {token.text for token in tokens} <= set("他好马吃水")


@pytest.fixture(autouse=True)
def _needs_libraries() -> None:
    pytest.importorskip("pypinyin")
    pytest.importorskip("sentencepiece")
