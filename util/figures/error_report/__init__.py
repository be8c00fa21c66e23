"""The report of `--report_dir`: a page, its figures as JSON, every utterance as CSV; and how two reports differ."""
