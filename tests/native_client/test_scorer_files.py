"""Files of language models that are damaged, impossible, of another alphabet, or change while they are in use."""

from __future__ import annotations

import os
import shutil
import struct
import time
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from exhaustive import write_arpa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deepspeech.decoder import UTF8_BYTES, CTCDecoder, DecoderError, DecoderOptions, Scorer
from deepspeech.decoder.of_alphabet import load_scorer
from deepspeech.util.text import Alphabet

LABELS = (" ", "a", "b", "c")
WORDS = ["a", "b", "c", "ab", "bac", "cab", "cc", "bbb"]
POSTERIORS = np.random.default_rng(1).dirichlet(np.full(5, 0.3), 30)
CORPUS = Path(__file__).parents[2] / "native_client/fuzz/corpus/fuzz_language_model"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a language model as ARPA file, trie file and package."""
    folder = tmp_path_factory.mktemp("scorers")
    write_arpa(folder / "lm.arpa", WORDS, np.random.default_rng(0))
    scorer = Scorer.load(LABELS, folder / "lm.arpa")
    scorer.write_trie(folder / "lm.trie")
    scorer.write_package(folder / "lm.scorer", 0.5, 1.5)
    return folder


def text(scorer: Scorer) -> str:
    return CTCDecoder(LABELS, DecoderOptions(beam_width=20), scorer).decode(POSTERIORS)[0].text


def write_arpa_of_unigrams(path: Path, words: list[str]) -> None:
    unigrams = "".join(f"-3\t{word}\t0\n" for word in ("<unk>", "<s>", "</s>", *words))
    bigrams = f"-1\t<s> {words[0]}\n"
    path.write_text(
        f"\\data\\\nngram 1={len(words) + 3}\nngram 2=1\n\n\\1-grams:\n{unigrams}\n\\2-grams:\n{bigrams}\n\\end\\\n"
    )


def reason(path: Path, labels: tuple[str, ...] = LABELS) -> str:
    """Return why a scorer is refused."""
    with pytest.raises(DecoderError) as caught:
        Scorer.load(labels, path)
    return str(caught.value)


@given(
    name=st.sampled_from(["lm.arpa", "lm.scorer"]),
    changes=st.lists(st.tuples(st.integers(0, 1 << 30), st.binary(max_size=3), st.integers(0, 3)), max_size=4),
    cut=st.none() | st.integers(0, 1 << 30),
)
@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_damaged_file_works_or_is_refused_in_one_line(
    folder: Path, name: str, changes: list[tuple[int, bytes, int]], cut: int | None
) -> None:
    content = (folder / name).read_bytes()
    for place, written, dropped in changes:
        at = place % len(content)
        content = content[:at] + written + content[at + dropped :]
    (folder / "damaged").write_bytes(content[: cut % len(content)] if cut is not None else content)
    try:
        text(load_scorer(Alphabet(LABELS), folder / "damaged"))
    except DecoderError as error:
        assert "damaged" in str(error) and len(str(error).splitlines()) == 1
        assert not [character for character in str(error) if ord(character) < 32]


def test_a_message_with_raw_bytes_is_whole_and_printable(folder: Path) -> None:
    lines = (folder / "lm.arpa").read_bytes().replace(b"\tcab\t", b"\tc\xffb\t\x1b[2J\0 \xe2\x80\xa8")
    (folder / "raw.arpa").write_bytes(lines)
    message = reason(folder / "raw.arpa")
    assert r"\x1b[2J\x00" in message and message.isprintable()
    odd = folder / os.fsdecode(b"odd\xff\n.scorer")
    odd.write_bytes(b"no scorer")
    assert r"odd\xff\x0a.scorer" in reason(odd)


def test_what_is_no_regular_file_is_refused_at_once(folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    for path in (folder / "pipe", folder, Path("/dev/zero")):
        assert "is not a regular file" in reason(path)
        with pytest.raises(
            DecoderError, match=r"is not a regular file|: is a folder; name the .*, such as .*\.scorer$"
        ):
            load_scorer(Alphabet(LABELS), path)
    with pytest.raises(DecoderError, match="is not a regular file"):
        Scorer.load(LABELS, folder / "lm.arpa", folder / "pipe")


def test_a_file_may_be_cut_or_overwritten_while_it_is_in_use(folder: Path, tmp_path: Path) -> None:
    for names in (["lm.scorer"], ["lm.arpa", "lm.trie"]):
        paths = [Path(shutil.copy(folder / name, tmp_path / name)) for name in names]
        scorer = Scorer.load(LABELS, *paths)
        expected = text(scorer)
        for path in paths:
            os.truncate(path, 0)
        assert text(scorer) == expected
        for path in paths:
            path.write_bytes(b"\xff" * 100_000)
        assert text(scorer) == expected


@pytest.mark.parametrize("labels", [(" ", "b", "a", "c"), (" ", "a", "c", "b"), (" ", "c", "a", "b")])
def test_a_package_of_labels_in_another_order_is_refused(folder: Path, labels: tuple[str, ...]) -> None:
    assert "made for another alphabet" in reason(folder / "lm.scorer", labels)


def test_a_package_of_more_labels_is_refused(folder: Path) -> None:
    assert "labels that do not exist; it is of another alphabet" in reason(folder / "lm.scorer", LABELS[:-1])


def test_rare_labels_in_another_order_are_noticed(tmp_path: Path) -> None:
    random = np.random.default_rng(3)
    words = sorted({"".join(random.choice(list("abc"), 6)) for _ in range(300)})
    words += [f"{word}{rare}" for word in words[:6] for rare in "xy"]
    labels = (*LABELS, "x", "y")
    write_arpa_of_unigrams(tmp_path / "lm.arpa", [word for word in words if not word.endswith("y")])
    Scorer.load(labels, tmp_path / "lm.arpa").write_package(tmp_path / "lm.scorer", 1, 1)
    assert Scorer.load(labels, tmp_path / "lm.scorer").package_defaults == (1, 1)
    assert "'y' as these labels spell them" in reason(tmp_path / "lm.scorer", (*LABELS, "y", "x"))


def test_a_package_for_bytes_is_refused_by_a_model_of_letters(tmp_path: Path) -> None:
    for characters in ("abc", "abcdefgé"):
        write_arpa(tmp_path / "lm.arpa", list(characters), np.random.default_rng(0))
        scorer = Scorer.load(UTF8_BYTES, tmp_path / "lm.arpa", characters=True)
        scorer.write_package(tmp_path / "bytes.scorer", 1, 1)
        assert Scorer.load(UTF8_BYTES, tmp_path / "bytes.scorer").characters
        message = reason(tmp_path / "bytes.scorer")
        assert "it is of characters" in message and "another alphabet" in message


def acceptor_of_shared_states(before: bytes, length: int, last_weight: float = 0) -> bytes:
    """Return the data after a package's header: an acceptor of 2 ** `length` words, all of `length` symbols.

    Its format is that of OpenFst's type "const"; arrays begin at multiples of 16 bytes of the file.
    """
    content = before + struct.pack("<ii5si8s", 2125659606, 5, b"const", 8, b"standard")
    content += struct.pack("<iiQqqq", 1, 4, 0, 0, length + 1, 2 * length)
    content += b"\0" * (-len(content) % 16)
    content += b"".join(struct.pack("<fIIII", np.inf, 2 * state, 2, 0, 0) for state in range(length))
    content += struct.pack("<fIIII", last_weight, 2 * length, 0, 0, 0)
    content += b"\0" * (-len(content) % 16)
    return content + b"".join(
        struct.pack("<iifi", symbol, symbol, 0, state + 1) for state in range(length) for symbol in (2, 3)
    )


def test_a_small_package_with_long_words_is_refused_soon(tmp_path: Path) -> None:
    words = ["".join(letters) for letters in product("abc", repeat=8)]
    write_arpa_of_unigrams(tmp_path / "lm.arpa", words)
    Scorer.load(LABELS, tmp_path / "lm.arpa").write_package(tmp_path / "lm.scorer", 1, 1)
    content = (tmp_path / "lm.scorer").read_bytes()
    header = content[: content.rindex(b"EIRT") + 25]
    (tmp_path / "absurd.scorer").write_bytes(acceptor_of_shared_states(header, 900))
    begin = time.process_time()
    assert "its words are damaged: they are too long" in reason(tmp_path / "absurd.scorer")
    assert time.process_time() - begin < 1
    (tmp_path / "absurd.scorer").write_bytes(acceptor_of_shared_states(header, 20, np.inf))  # a million paths
    assert "its words are damaged: a path leads to no word" in reason(tmp_path / "absurd.scorer")


def test_a_full_hash_table_is_refused_as_a_search_in_it_would_not_end(tmp_path: Path) -> None:
    content = bytearray((CORPUS / "probing").read_bytes())
    for bucket in range(0x90, 0x90 + 9 * 12, 12):  # of the vocabulary: a key of 8 bytes, and a word
        content[bucket] = content[bucket] or 1
    (tmp_path / "full.binary").write_bytes(content)
    assert "it is damaged or truncated: a hash table is full" in reason(tmp_path / "full.binary")


@pytest.mark.parametrize("given", ["model", "trie"])
def test_a_name_that_no_file_can_have_is_named(folder: Path, given: str) -> None:
    """JSON can escape half of a character, which no encoding has."""
    named = {"model": ("\ud800",), "trie": (folder / "lm.arpa", "\ud800")}[given]
    with pytest.raises(DecoderError, match=r"^'\\ud800' is a name that no file can have$"):
        Scorer.load(LABELS, *named)
    with pytest.raises(DecoderError, match="is a name that no file can have"):
        Scorer.load(LABELS, folder / "lm.arpa").write_package("\ud800", 1, 1)


@pytest.mark.parametrize("characters", [False, True])
def test_an_impossible_word_is_heard_where_the_language_model_does_not_count(tmp_path: Path, characters: bool) -> None:
    lines = ["\\data\\", "ngram 1=5", "ngram 2=1", "", "\\1-grams:", "-inf\t<unk>\t0", "-1\t<s>\t0", "-1\t</s>\t0"]
    lines += ["-inf\ta\t0", "-1\tb\t0", "", "\\2-grams:", "-1\t<s> b", "", "\\end\\", ""]
    (tmp_path / "lm.arpa").write_text("\n".join(lines))
    decoder = CTCDecoder(
        LABELS, DecoderOptions(lm_weight=0), Scorer.load(LABELS, tmp_path / "lm.arpa", characters=characters)
    )
    best = decoder.decode(np.array([[0.01, 0.9, 0.05, 0.01, 0.03]]))[0]
    assert (best.text, best.lm_score) == ("a", -np.inf)
    assert np.isfinite(best.score)


@pytest.mark.parametrize("others", [1, 0])
def test_words_that_the_alphabet_cannot_write_are_warned_of_if_there_are_many(
    others: int, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "lm.arpa"
    write_arpa_of_unigrams(path, [*WORDS, *["AB"] * others, *["ä"] * others])
    scorer = load_scorer(Alphabet(LABELS), path)
    assert scorer.unspelled_words() == (2 * others, len(WORDS) + 2 * others, "AB" if others else "")
    messages = [record.getMessage() for record in caplog.records]
    expected = f"{path}: the alphabet cannot write 2 of its 10 words, such as 'AB', which are never "
    assert [message.startswith(expected) for message in messages] == [True] * others
    scorer.write_package(tmp_path / "lm.scorer", 1, 1)
    assert load_scorer(Alphabet(LABELS), tmp_path / "lm.scorer").unspelled_words() == (0, 0, "")
    assert len(caplog.records) == others
