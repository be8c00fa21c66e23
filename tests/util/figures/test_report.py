from deepspeech.util.figures.metrics import EditCounts, evaluate_transcript
from deepspeech.util.figures.report import report_lines
from deepspeech.util.figures.tally import Tally


def test_each_file_has_a_headline_and_one_without_utterances_says_so() -> None:
    tally = Tally.of_utterance("a.wav", "one two", "one too", 1.5, 1)
    assert report_lines("Test", tally, files=["a.csv", "b.csv", "c.csv"])[:5] == [
        "Test of a.csv: no utterances",
        "Test of b.csv: loss 1.5000, WER 50.00%, CER 14.29%, mean edit distance 1.000 (1 utterance, 2 words)",
        "Test of c.csv: no utterances",
        "Test: loss 1.5000, WER 50.00%, CER 14.29%, mean edit distance 1.000 (1 utterance, 2 words)",
        "  word errors: 1 substitution, 0 insertions, 0 deletions",
    ]


def test_kinds_of_errors_that_older_figures_lack_are_not_reported_as_none() -> None:
    older = Tally(1, 1.5, EditCounts(word_edits=1, words=2, character_edits=1, characters=7, utterances=1))
    assert len(report_lines("Test", older)) == 1


def test_mandarin_has_a_line_of_syllable_errors() -> None:
    lines = report_lines("Test", Tally.of_utterance("a.wav", "妈妈骂马", "妈妈马抹", 1.0))
    assert lines[2] == "  syllable errors: 50.00% with tones, 25.00% without (4 syllables)"


def test_japanese_has_no_line_of_syllable_errors_though_some_texts_have_only_characters_of_chinese() -> None:
    texts = ("\u6771\u4eac", "\u6771\u4eac\u3067\u3059", "\u3053\u3093\u306b\u3061\u306f")
    edits = [evaluate_transcript(text, text[1:]) for text in texts]
    assert edits[0].syllables == 2
    assert not any("syllable" in line for line in report_lines("Test", Tally(3, 3.0, sum(edits, EditCounts()))))


def test_joiners_of_letters_are_shown_as_they_are_written_and_what_is_no_letter_as_escapes() -> None:
    said = "\u0dc1\u0dca\u200d\u0dbb \u0645\u06cc\u200c\u062e a\\u200cb\t\u200b'"
    lines = report_lines("Test", Tally.of_utterance("a.wav", said, "\\\u200d", 1.0, 1))
    shown = said.replace("\\", "\\\\").replace("\t", "\\t").replace("\u200b", "\\u200b")
    assert lines[-2:] == [f'    said:  "{shown}"', "    heard: '\\\\\u200d'"]
