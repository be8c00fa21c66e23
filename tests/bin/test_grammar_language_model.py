"""bin/demo/make_grammar_lm.py and the models of data/, judged by KenLM itself."""

import itertools
import math
from pathlib import Path
from typing import Any

import pytest
from running import ROOT, assert_fails_with, run_script

kenlm = pytest.importorskip("kenlm", reason="KenLM's own package cannot be built for this Python")

MODELS = {"demo": "demo/grammar.txt", "digits": "lm/digits.txt", "yesno": "lm/yesno.txt"}


def model_path(name: str) -> Path:
    return ROOT / "data" / "lm" / f"{name}.arpa"


def vocabulary(path: Path) -> list[str]:
    """Return every word that the model can predict, including </s> and <unk>."""
    unigrams = path.read_text().split("\\1-grams:\n")[1].split("\n\n")[0]
    return [line.split("\t")[1] for line in unigrams.splitlines() if "<s>" not in line]


def total_probability(model: Any, words: list[str], context: tuple[str, ...]) -> float:
    """Return the summed probability of all words after a sentence that began with `context`."""
    state, following = kenlm.State(), kenlm.State()
    model.BeginSentenceWrite(state)
    for word in context:
        model.BaseScore(state, word, following)
        state, following = following, kenlm.State()
    return math.fsum(10 ** model.BaseScore(state, word, kenlm.State()) for word in words)


@pytest.mark.parametrize("name", MODELS)
def test_the_models_in_data_are_those_of_the_grammars_in_data(name: str, tmp_path: Path) -> None:
    made = tmp_path / "made.arpa"
    assert run_script("demo/make_grammar_lm.py", ROOT / "data" / MODELS[name], made).returncode == 0
    assert made.read_text() == model_path(name).read_text()
    assert made.stat().st_size < 300_000


@pytest.mark.parametrize("name", MODELS)
def test_probabilities_over_the_vocabulary_sum_to_one_after_any_words(name: str) -> None:
    path = model_path(name)
    model, words = kenlm.Model(str(path)), vocabulary(path)
    step = max(1, len(words) // 10)
    sampled = [word for word in words[::step] if word != "</s>"]
    for context in itertools.chain([()], itertools.product(sampled), itertools.product(sampled, sampled)):
        assert math.isclose(total_probability(model, words, context), 1.0, abs_tol=1e-3), context


def test_each_digit_is_equally_likely_and_stands_alone() -> None:
    model = kenlm.Model(str(model_path("digits")))
    alone = [10 ** model.score(word) for word in vocabulary(model_path("digits")) if word[0] != "<"]
    assert len(alone) == 10
    assert all(math.isclose(probability, 0.1, rel_tol=0.02) for probability in alone)
    assert model.score("one two") < model.score("one") - 1


def test_the_demo_model_prefers_a_sentence_of_the_grammar_to_its_words_in_another_order() -> None:
    model = kenlm.Model(str(model_path("demo")))
    assert model.score("what's the time in ten minutes") > model.score("ten what's minutes in the time") + 4
    assert "<unk>" in vocabulary(model_path("demo"))


def test_a_word_follows_as_often_as_the_grammar_says(tmp_path: Path) -> None:
    grammar, arpa = tmp_path / "grammar.txt", tmp_path / "made.arpa"
    text = "# a comment\nsentence = go <way> # another\nway = left\n    | right | right\n"
    grammar.write_text(text, encoding="utf-8-sig")  # as editors of Windows write it
    assert run_script("demo/make_grammar_lm.py", grammar, arpa, "--escape", "0.000001").returncode == 0
    model = kenlm.Model(str(arpa))
    assert math.isclose(10 ** model.score("go left"), 1 / 3, rel_tol=1e-3)
    assert math.isclose(10 ** model.score("go right"), 2 / 3, rel_tol=1e-3)


@pytest.mark.parametrize(
    ("grammar", "fragments"),
    [
        ("sentence = go <way>\n", ("'sentence' uses <way>", "no rule defines")),
        ("way = left\n", ("no rule 'sentence'",)),
        ("sentence = go <sentence> | stop\n", ("<sentence> leads back to itself",)),
        ("sentence = go | | stop\n", ("line 1", "a choice is empty")),
        ("sentence = go\n\nsentence = stop\n", ("line 3", "already defined")),
        ("| go\n", ("line 1", "needs a rule above it")),
        ("sentence go\n", ("line 1", "expected 'name = choice | choice'")),
        ("sentence = go <way\n", ("line 1", "'<way' is neither a word nor a <name>")),
        ("sentence = " + "<d> " * 7 + "\nd = a | b | c | d | e | f | g | h\n", ("2097152 sentences", "smaller")),
    ],
)
def test_a_faulty_grammar_is_one_line_that_names_the_fault(
    grammar: str, fragments: tuple[str, ...], tmp_path: Path
) -> None:
    path = tmp_path / "grammar.txt"
    path.write_text(grammar)
    assert_fails_with(run_script("demo/make_grammar_lm.py", path, tmp_path / "made.arpa"), *fragments)
    assert [entry.name for entry in tmp_path.iterdir()] == ["grammar.txt"]


def test_a_missing_grammar_and_a_wrong_option_are_one_line_each(tmp_path: Path) -> None:
    arpa = tmp_path / "made.arpa"
    assert_fails_with(run_script("demo/make_grammar_lm.py", tmp_path / "none.txt", arpa), "none.txt")
    digits = ROOT / "data" / "lm" / "digits.txt"
    assert_fails_with(run_script("demo/make_grammar_lm.py", digits, arpa, "--order", 7), "--order is 7")
    assert_fails_with(run_script("demo/make_grammar_lm.py", digits, arpa, "--escape", 1), "--escape is 1")
    assert_fails_with(run_script("demo/make_grammar_lm.py", digits, arpa, "--depth", 7), "--depth")
