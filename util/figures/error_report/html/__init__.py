"""The page of a report: report.html."""
