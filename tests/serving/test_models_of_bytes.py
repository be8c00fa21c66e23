"""Models that write bytes of UTF-8: trained, exported, and run by this package and the published client alike."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
import soundfile
from corpora import TinyCorpus
from program import Program, evaluate
from published import PublishedClient, load_library
from retold_corpus import character_error_rate, figures_of_test, retold, train_and_export, write_unigrams

from deepspeech import Model
from deepspeech.align import align
from deepspeech.decoder.of_alphabet import load_scorer
from deepspeech.util.output_units import ByteAlphabet

SPELLED = str.maketrans("e", "é", " ")
"""Without spaces, which scorers of characters in the published client do not support."""


@pytest.fixture(scope="module")
def trained_on_bytes(tiny_corpus: TinyCorpus, tmp_path_factory: pytest.TempPathFactory) -> tuple[Program, str]:
    """Return the program in a folder with the exported model, and its output, with a test on the training set."""
    program = Program(tiny_corpus, tmp_path_factory.mktemp("bytes"))
    files = retold(tiny_corpus, program.folder, lambda text: text.translate(SPELLED))
    # With so many labels, such a small corpus is learned late.
    flags = ("--bytes_output_mode", "--alphabet_config_path=", "--n_hidden=96", "--epoch=200")
    return program, train_and_export(program, files, *flags)


def test_bytes_are_learned_and_exported(trained_on_bytes: tuple[Program, str], tiny_corpus: TinyCorpus) -> None:
    program, log = trained_on_bytes
    assert character_error_rate(log) < 40
    graph = program.folder / "model/output_graph.pb"
    heard = evaluate(f"--model={graph}", f"--test_files={program.folder / 'train.csv'}", "--beam_width=16")
    assert figures_of_test(heard.stderr) == figures_of_test(log)
    model = Model(graph)
    wav = tiny_corpus.test.parent / "wav/train-0.wav"
    aligned = align(model, wav, model.transcribe(wav).text)
    assert all(character.text in "abcdé" for word in aligned.words for character in word.characters)
    assert "255 labels, which are bytes of UTF-8" in (program.folder / "model/model.md").read_text()
    other = program.run(*program.model(), "--n_hidden=96", f"--export_dir={program.folder / 'other'}")
    assert other.code == 1
    assert "255 labels (here 6), as" in other.error
    assert "give that alphabet with --alphabet_config_path and --output_unit" in other.error


def test_the_published_client_hears_the_same_with_a_scorer_of_bytes(
    trained_on_bytes: tuple[Program, str], recordings: list[Path], shared: Path
) -> None:
    try:
        load_library(shared / "tools")
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"the published client cannot be had: {error}")
    folder = trained_on_bytes[0].folder
    characters = write_unigrams(folder / "characters.arpa", dict.fromkeys("abcdé", -0.8))
    load_scorer(ByteAlphabet(), characters).write_package(folder / "bytes.scorer", 0.5, 0.5)
    model = Model(folder / "model/output_graph.pb")
    model.enableExternalScorer(folder / "bytes.scorer")
    with PublishedClient(shared / "tools", folder / "model/output_graph.pb", folder / "bytes.scorer") as client:
        for recording in recordings:
            samples = soundfile.read(recording, dtype="int16")[0]
            assert client.stt(samples) == model.stt(samples)
