"""`python -m deepspeech.evaluate` reports for a graph the same as the trainer's test for its checkpoint."""

from __future__ import annotations

import csv
import math
import re
from itertools import product
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
from corpora import TinyCorpus, write_tiny_corpus
from program import Trained, evaluate

from deepspeech.cli.evaluate import tested as figures_of
from deepspeech.decoder import UTF8_BYTES, Scorer
from deepspeech.decoder.of_alphabet import make_decoder
from deepspeech.errors import AudioError
from deepspeech.export.formats import TrainedModel
from deepspeech.export.frozen_graph import frozen_graph
from deepspeech.network import network
from deepspeech.options import ExportOptions, LanguageModelOptions, ModelOptions, ReportOptions
from deepspeech.serving.acoustics.loading import load_acoustic_model
from deepspeech.serving.alphabet import alphabet_of
from deepspeech.serving.ctc_loss import ctc_loss
from deepspeech.serving.frozen.metadata import serialize_alphabet
from deepspeech.serving.frozen.model import read_frozen_model
from deepspeech.util.corpus import read_corpus
from deepspeech.util.features import FeatureOptions, front_end
from deepspeech.util.text import Alphabet


def report_of(stderr: str) -> list[str]:
    lines = stderr.splitlines()
    (start,) = (number for number, line in enumerate(lines) if line.startswith("I Test: loss"))
    return lines[start:]


def test_the_report_is_that_of_training(trained: Trained, graph_file: Path, tiny_corpus: TinyCorpus) -> None:
    finished = evaluate(
        *(f"--model={graph_file}", f"--test_files={tiny_corpus.test}", "--beam_width=16"),
        "--wer_log_pattern=LOG %s %s %f",
    )
    assert finished.returncode == 0, finished.stderr
    assert report_of(finished.stderr)[0] == report_of(trained.finished.stderr)[0]
    assert finished.stdout.startswith("LOG test ")
    assert finished.stdout.split()[-1] == trained.finished.stdout.split()[-1]


def test_normalized_references_give_the_report_of_clean_ones(
    trained: Trained, graph_file: Path, tiny_corpus: TinyCorpus, tmp_path: Path
) -> None:
    with tiny_corpus.test.open(encoding="utf-8", newline="") as file:
        rows = [(tiny_corpus.test.parent / row["wav_filename"], row["transcript"]) for row in csv.DictReader(file)]
    untidy = tmp_path / "untidy.csv"
    lines = [f'{wav},0,"{transcript.upper().replace(" ", " - ")}\u2026"' for wav, transcript in rows]
    untidy.write_text("\n".join(["wav_filename,wav_filesize,transcript", *lines]), encoding="utf-8")
    program = trained.program
    flags = [f"--test_files={untidy}", "--normalize_transcripts"]
    tested = program.run(*program.model(), *flags, "--test_batch_size=5")
    evaluated = evaluate(f"--model={graph_file}", *flags, "--beam_width=16")
    clean = report_of(trained.finished.stderr)
    assert report_of(tested.stderr) == report_of(evaluated.stderr) == clean
    refused = evaluate(f"--model={graph_file}", flags[0], "--keep_punctuation=-")
    assert refused.stderr == "deepspeech: --keep_punctuation: needs --normalize_transcripts\n"


def test_each_of_several_files_is_reported_by_itself_and_all_together(trained: Trained, graph_file: Path) -> None:
    program = trained.program
    files = [program.corpus.dev, program.corpus.test]
    flags = [f"--test_files={','.join(map(str, files))}", "--wer_log_pattern=LOG %s %s %f"]
    tested = program.run(*program.model(), *flags, "--test_batch_size=5")
    evaluated = evaluate(f"--model={graph_file}", *flags, "--beam_width=16")
    reports = []
    for stderr, stdout in ((tested.stderr, tested.stdout), (evaluated.stderr, evaluated.stdout)):
        of_files = dict(re.findall(r"^I Test of (.*\.csv): (loss .*)$", stderr, re.MULTILINE))
        assert list(of_files) == [str(file) for file in files], stderr
        assert "(12 utterances" in report_of(stderr)[0]
        assert stdout.count("LOG test") == 1
        reports.append([*of_files.items(), report_of(stderr)])
    assert reports[0] == reports[1]
    assert of_files[str(files[1])] == report_of(trained.finished.stderr)[0].removeprefix("I Test: ")


def test_recordings_that_vanish_end_the_test_or_are_left_out(
    graph_file: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    model = load_acoustic_model(graph_file)
    files = write_tiny_corpus(tmp_path)
    corpus = read_corpus([files.test], Alphabet.load(files.alphabet), front_end(model.info.features), progress=False)
    Path(corpus[2].path).unlink()
    decoder = make_decoder(alphabet_of(model.info), LanguageModelOptions())
    parts = (model, decoder, corpus, ReportOptions(), [files.test])
    with pytest.raises(
        AudioError, match=re.escape(f"{corpus[2].path}: No such file or directory ({corpus[2].source})")
    ):
        figures_of(*parts)
    assert figures_of(*parts, skip_unreadable=True).utterances == 5
    assert caplog.messages[-1].startswith(f"Left out: {corpus[2].path}: ")


def write_byte_graph(path: Path, spoken: bytes) -> Path:
    """Write a graph of a model with bytes as output units, which recognizes the same byte in all audio."""
    placeholders = Alphabet(tuple(chr(byte) for byte in range(1, 256)))
    model = network(ModelOptions(n_hidden=8), FeatureOptions().coefficients, placeholders.size)
    weights = {name: np.zeros(shape, np.float32) for name, shape in model.shapes.items()}
    weights["layer_6/bias"][UTF8_BYTES.index(spoken)] = 9
    graph = frozen_graph(TrainedModel(model, weights, placeholders, FeatureOptions()), ExportOptions(path.parent))
    (node,) = (node for node in graph.node if node.name == "metadata_alphabet")
    node.attr["value"].tensor.string_val[:] = [serialize_alphabet(UTF8_BYTES)]
    path.write_bytes(graph.SerializeToString())
    return path


def test_a_model_that_spells_in_bytes_is_tested_too(tmp_path: Path, recordings: list[Path]) -> None:
    graph = write_byte_graph(tmp_path / "bytes.pb", b"a")
    csv = tmp_path / "test.csv"
    rows = [f"{path},{path.stat().st_size},{text}" for path, text in zip(recordings, ("a", "\u00e9"), strict=False)]
    csv.write_text("\n".join(["wav_filename,wav_filesize,transcript", *rows]), encoding="utf-8")
    finished = evaluate(f"--model={graph}", f"--test_files={csv}", "--beam_width=16")
    assert finished.returncode == 0, finished.stderr
    report = report_of(finished.stderr)
    assert "WER 50.00%" in report[0]
    assert any("said" in line and "\u00e9" in line for line in report)


def test_a_scorer_packages_weights_count_unless_others_are_given(
    graph_file: Path, tiny_corpus: TinyCorpus, scorer_file: Path, tmp_path: Path
) -> None:
    labels = read_frozen_model(graph_file).info.labels
    package = tmp_path / "words.scorer"
    Scorer.load(labels, scorer_file).write_package(package, lm_weight=0.25, valid_word_count_weight=0.75)
    flags = [f"--model={graph_file}", f"--test_files={tiny_corpus.test}", "--beam_width=16"]
    alone = evaluate(*flags, f"--scorer_path={package}")
    assert "--lm_weight=0.25 --valid_word_count_weight=0.75" in alone.stderr
    assert "--lm_weight" not in evaluate(*flags, f"--scorer_path={package}", "--lm_weight=1.5").stderr
    by_hand = ["--lm_weight=0.25", "--valid_word_count_weight=0.75"]
    assert report_of(alone.stderr) == report_of(evaluate(*flags, f"--lm_binary_path={scorer_file}", *by_hand).stderr)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["--model={graph}", "--test_files={csv}", "--lm_trie_path=some.trie"], "--lm_trie_path"),
        (["--model={graph}", "--test_files={csv}", "--scorer_path=a", "--lm_binary_path=b"], "--scorer_path"),
        (["--model=missing.pb", "--test_files=missing.csv"], "missing.pb"),
        (["--test_files=missing.csv"], "--model"),
        (["--model={graph}", "--test_files=missing.csv"], "missing.csv"),
        (["--model={graph}", "--test_files={csv}", "--lm_binary_path=missing.arpa"], "missing.arpa"),
        (
            ["--model={graph}", "--test_files={csv}", "--report_dir=s3://bucket/report"],
            "--report_dir=s3://bucket/report: must be on this machine",
        ),
    ],
)
def test_a_mistake_is_one_line(graph_file: Path, tiny_corpus: TinyCorpus, arguments: list[str], named: str) -> None:
    finished = evaluate(*(argument.format(graph=graph_file, csv=tiny_corpus.test) for argument in arguments))
    assert finished.returncode == 1
    (line,) = finished.stderr.splitlines()
    assert named in line


def test_the_loss_is_the_sum_over_all_alignments() -> None:
    posteriors = np.random.default_rng(1).dirichlet(np.ones(3), 5).astype(np.float32)
    for labels in ([], [0], [0, 0], [0, 1, 0], [1, 1, 1]):
        total = 0.0
        for path in product(range(3), repeat=5):
            merged = [label for label, before in zip(path, (None, *path), strict=False) if label != before]
            if [label for label in merged if label != 2] == labels:
                total += math.prod(float(posteriors[time, label]) for time, label in enumerate(path))
        assert ctc_loss(posteriors, np.array(labels, np.int32)) == pytest.approx(-math.log(total), rel=1e-5)
    assert ctc_loss(posteriors[:2], np.array([0, 0], np.int32)) == math.inf


def test_the_loss_is_tensorflows() -> None:
    random = np.random.default_rng(2)
    logits = random.normal(0, 2, (40, 1, 7)).astype(np.float32)
    labels = random.integers(0, 6, 12).astype(np.int32)
    sparse = tf.sparse.from_dense(labels[None] + 1)
    sparse = tf.SparseTensor(sparse.indices, sparse.values - 1, sparse.dense_shape)
    expected = float(tf.compat.v1.nn.ctc_loss(sparse, logits, [40])[0])
    posteriors = tf.nn.softmax(logits).numpy()[:, 0]
    assert ctc_loss(posteriors, labels) == pytest.approx(expected, rel=1e-4)
