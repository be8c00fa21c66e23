"""Models whose labels are not characters: trained, tested on their training set, exported, and run from the graph."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest
import soundfile
from corpora import TinyCorpus
from program import Program, evaluate
from retold_corpus import character_error_rate, retold, train_and_export, write_unigrams

from deepspeech import Model
from deepspeech.align import align
from deepspeech.util.output_units import SyllableAlphabet
from deepspeech.util.output_units.making import word_pieces

SPOKEN = str.maketrans("abcde", "他好马吃水", " ")


def test_word_pieces_are_learned_and_decoded_with_words(
    program: Program, tiny_corpus: TinyCorpus, scorer_file: Path
) -> None:
    files = retold(tiny_corpus, program.folder, str)
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
    recordings = sorted((tiny_corpus.train.parent / "wav").glob("train-*.wav"))
    wav = next(each for each in recordings if model.transcribe(each).text.strip())
    alone = model.transcribe(wav)
    assert [word.text for word in alone.words] == alone.text.split(" ")
    model.enableExternalScorer(scorer_file)
    assert model.transcribe(wav).text.strip(" ") == model.transcribe(wav).text
    aligned = align(model, wav, alone.text)
    assert [word.text for word in aligned.words] == alone.text.split(" ")


def test_syllables_become_the_characters_that_a_language_model_prefers(
    program: Program, tiny_corpus: TinyCorpus
) -> None:
    files = retold(tiny_corpus, program.folder, lambda text: text.translate(SPOKEN))
    alphabet = program.folder / "syllables.txt"
    alphabet.write_text(SyllableAlphabet.of(["ta1", "hao3", "ma3", "chi1", "shui3"]).file_text)
    log = train_and_export(program, files, "--output_unit=pinyin", f"--alphabet_config_path={alphabet}")
    assert character_error_rate(log) < 20
    assert re.search(r"syllable errors: \d+\.\d+% with tones, \d+\.\d+% without", log)
    graph = program.folder / "model/output_graph.pb"
    rates = {}
    for preferred, other in ("他她", "她他"):
        scores = {preferred: -0.5, other: -3, "好": -1, "马": -1, "吃": -1, "水": -1}
        lm = write_unigrams(program.folder / f"{preferred}.arpa", scores)
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
