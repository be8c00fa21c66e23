"""What is told of a run at addresses: it names these, which are the same on every machine, and not the copies here."""

from __future__ import annotations

import csv
import io
import re
from urllib.parse import urljoin

from corpora import TinyCorpus
from object_store import ObjectStore
from program import Program

from deepspeech.util.figures.error_report.html.utterance_list import recording_link
from deepspeech.util.storage.copies import FOLDERS, copy_of, root

pytest_plugins = ["store_fixtures"]


def test_logs_reports_and_summaries_name_addresses_and_the_page_links_to_recordings_there(
    store: ObjectStore, program: Program, tiny_corpus: TinyCorpus
) -> None:
    folder = tiny_corpus.test.parent
    for path in (tiny_corpus.test, *folder.glob("wav/test-*")):
        store.put(f"corpus/{path.relative_to(folder)}", path.read_bytes())
    lists, run = store.address("corpus/test.csv"), store.address("run")
    done = program.run(
        *program.training(epoch=1, validation_step=0),
        *(f"--checkpoint_dir={run}", f"--report_dir={run}/report", f"--summary_dir={run}/summaries"),
        *("--summary_secs=60", f"--export_dir={run}/export", f"--test_files={lists}"),
    )
    assert done.code == 0, done.stderr
    copies = str(root())
    assert copies not in done.stderr
    assert f"Testing with the newest checkpoint, {run}/train-6" in done.stderr
    assert [name for name in store.names("run/") if copies.encode() in store.get(f"run/{name}")] == []
    rows = list(csv.DictReader(io.StringIO(store.get("run/report/utterances.csv").decode())))
    assert {row["csv_file"] for row in rows} == {lists}
    assert {row["recording"].rpartition("/")[0] for row in rows} == {store.address("corpus/wav")}
    links = re.findall(r'<audio[^>]* src="([^"]+)"', store.get("run/report/report.html").decode())
    assert links
    assert {urljoin("/run/report/report.html", link)[1:] for link in links} <= store.names()


def test_a_page_links_to_the_copy_of_a_recording_here_and_to_another_bucket_by_its_address(store: ObjectStore) -> None:
    recording, local = store.address("corpus/a.wav"), root().parent
    assert recording_link(recording, local) == copy_of(recording).relative_to(local).as_posix()
    assert recording_link(recording, copy_of("s3://other/report", FOLDERS)) == recording
    assert recording_link(recording, copy_of(store.address("report"), FOLDERS)) == "../corpus/a.wav"
