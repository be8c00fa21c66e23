from deepspeech.util.figures.report import report_lines
from deepspeech.util.figures.tally import Tally


def test_each_file_has_a_headline_and_one_without_utterances_says_so() -> None:
    tally = Tally.of_utterance("a.wav", "one two", "one too", 1.5, 1)
    assert report_lines("Test", tally, files=["a.csv", "b.csv", "c.csv"])[:4] == [
        "Test of a.csv: no utterances",
        "Test of b.csv: loss 1.5000, WER 50.00%, CER 14.29%, mean edit distance 1.000 (1 utterances, 2 words)",
        "Test of c.csv: no utterances",
        "Test: loss 1.5000, WER 50.00%, CER 14.29%, mean edit distance 1.000 (1 utterances, 2 words)",
    ]
