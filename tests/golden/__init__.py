"""Markdown files that are tests: the cases under ``tests/cases`` and every fenced example of the documentation.

A heading opens a section. In it stand fenced blocks; what the info string says decides what is done:

``shapes``              a case: it is read, and normalized or checked where its folder says so, and must give exactly the
                        diagnostics that its comments name: ``# error: [code] "label"`` at the end of the line of the
                        main span, ``# note: "label"`` for a secondary span. No comment: no diagnostic.
``shapes file=NAME``    a file that the section's other blocks can import or name on a command line.
``shapes normalized``   the canonical text of the case before it, normalized; checked on sampled sizes too.
``shapes formatted``    what ``fmt`` makes of it.
``shapes written``      its canonical text, as read.
``text diagnostics``    the rendered diagnostics, in full; ``text concise`` and so on for the other formats.
``python``              run, one namespace a file; with ``>>>`` it is a doctest.
``text output``         what the ``python`` block before it printed; ``...`` as below.
``console``             ``$ command`` lines are run by bash where the section's files lie, and must print what follows;
                        a line ``...`` stands for any number of lines.

Everything else (``sh``, ``text``, no info string) is prose. A file whose front comment says
``<!-- needs: torch -->`` is skipped, with that reason, where torch is not installed.

``pytest --bless`` rewrites the expectations of the cases that differ. One page outside of ``tests`` is run by
``pytest tests/golden docs/guide.md``: naming the folder loads the runner.
"""
