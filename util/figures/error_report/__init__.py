"""The report of `--report_dir`: a page, its figures as JSON, all utterances as CSV; and comparisons of reports."""
