import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
from corpora import RATE, write_csv, write_wav

from deepspeech.util.corpus_files import Row, read_files
from deepspeech.util.figures.metrics import EditCounts
from deepspeech.util.figures.tally import Tally, counted_files, places_of_files
from deepspeech.util.shards.writing import write_shards


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


def test_shards_of_a_range_are_counted_together_as_the_list_that_names_them(tmp_path: Path) -> None:
    noise = np.random.default_rng(1).normal(0, 0.1, RATE).astype(np.float32)
    rows = [(write_wav(tmp_path / f"{name}.wav", noise), name) for name in "abc"]
    csv_file = write_csv(tmp_path / "all.csv", rows)
    named = write_shards([csv_file], str(tmp_path / "shard"), shard_size=1000, seed=1)
    lists = [Path(named.name), csv_file]
    assert counted_files(lists) == [str(each) for each in lists]
    places = places_of_files(lists)
    assert Counter(places[row.csv_file] for row in read_files(lists, None) if isinstance(row, Row)) == {0: 3, 1: 3}
    assert len(places) > 2
    assert not counted_files(lists[:1]) and not places_of_files(lists[:1])
