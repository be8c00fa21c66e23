"""The style of a report: readable on a phone, in light and dark mode, and without distinguishing colours."""

STYLE = """
:root { color-scheme: light dark; --text: #1a1a1a; --soft: #5a5f66; --line: #d5d9de; --ground: #fff; --card: #f5f6f8;
  --bar: #4a7ab5; --wrong: #b3261e; --heard: #0b57a4; --cell: 74, 122, 181; --error-cell: 200, 80, 40; }
@media (prefers-color-scheme: dark) { :root { --text: #e8e8e8; --soft: #a4abb3; --line: #3a4048; --ground: #15181c;
  --card: #1f242a; --bar: #7ba7dc; --wrong: #ff8a80; --heard: #8ec5ff; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 0 1rem 4rem; max-width: 64rem; background: var(--ground); color: var(--text);
  font: 1rem/1.5 system-ui, "Noto Sans", "Noto Naskh Arabic", sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.5rem; margin: 1rem 0 0; } h2 { font-size: 1.25rem; margin: 2.5rem 0 .5rem; }
h3 { font-size: 1rem; margin: 1.5rem 0 .25rem; }
p { margin: .25rem 0 .75rem; } .soft { color: var(--soft); font-size: .875rem; }
nav { display: flex; flex-wrap: wrap; gap: .25rem 1rem; margin: .75rem 0; }
a { color: var(--heard); }
.figures { display: flex; flex-wrap: wrap; gap: .75rem; margin: 1rem 0; }
.figures > div { background: var(--card); border-radius: .5rem; padding: .5rem 1rem; flex: 1 1 10rem; }
.figures b { display: block; font-size: 1.5rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; overflow-wrap: normal; font-variant-numeric: tabular-nums; }
th, td { text-align: start; padding: .2rem .6rem; border-bottom: 1px solid var(--line); vertical-align: baseline; }
th { font-weight: 600; } thead th { color: var(--soft); font-size: .875rem; }
tbody td:first-child { min-width: 6.5rem; overflow-wrap: anywhere; }
td.number, th.number { text-align: end; white-space: nowrap; }
.confusions td:first-child { min-width: 0; }
.confusions td, .confusions th { padding: .1rem .4rem; text-align: center; border: 1px solid var(--line); }
svg { display: block; } .bar { fill: var(--bar); } .whisker { stroke: var(--text); } .all { stroke: var(--soft);
  stroke-dasharray: 2 2; }
article { border-top: 1px solid var(--line); padding: .75rem 0; } article:target { background: var(--card); }
article header { display: flex; flex-wrap: wrap; gap: 0 .75rem; align-items: baseline; }
.aligned { font-size: 1.125rem; margin: .5rem 0; }
.step { display: inline-flex; flex-direction: column; margin-inline-end: .5em; max-width: 100%; vertical-align: top; }
.step .heard { border-top: 1px solid var(--line); min-height: 1.5em; }
.correct .heard { color: var(--soft); opacity: .65; }
del { color: var(--wrong); text-decoration: line-through; } ins { color: var(--heard); text-decoration: underline 2px;
  font-weight: 600; }
.nothing { color: var(--soft); }
audio { width: 100%; max-width: 24rem; height: 2.5rem; }
"""
