import json
from dataclasses import replace

from deepspeech.util.figures.metrics import EditCounts
from deepspeech.util.figures.tally import Tally


def test_a_tally_counts_several_files_each_by_itself_and_older_ones_are_read_without() -> None:
    texts = [("one", "one", 2), ("two", "too", 0), ("three", "tree", 2)]
    of_utterances = [Tally.of_utterance("a.wav", said, heard, float(place), place) for said, heard, place in texts]
    merged = of_utterances[0].merged(of_utterances[1], 9).merged(of_utterances[2], 9)
    replaced, right_and_replaced = EditCounts(1, 1, 1, 3, 1, 1, 0, 0), EditCounts(1, 2, 1, 8, 2, 1, 0, 0)
    assert merged.files == (Tally(1, 0.0, replaced), Tally(), Tally(2, 4.0, right_and_replaced))
    assert merged.edits == sum((each.edits for each in merged.files), EditCounts())
    written = json.loads(json.dumps(merged.to_json()))
    assert Tally.from_json(written) == merged
    del written["files"], written["labels_emitted"]
    assert Tally.from_json(written) == replace(merged, files=())
    del written["edits"]["substitutions"], written["edits"]["insertions"], written["edits"]["deletions"]
    older = Tally.from_json(written).edits
    assert (older.word_edits, older.substitutions) == (2, 0)
