"""Collects markdown tests, and keeps hypothesis repeatable in continuous integration."""

from __future__ import annotations

import os

import hypothesis

# What is undecided is so with and without z3 on this machine; the tests of z3 switch it on.
os.environ["SHAPEDSL_SMT"] = "0"

# A plugin, since the hooks of a conftest reach its own folder only, and documents lie outside of it.
pytest_plugins = ["tests.golden.plugin"]

hypothesis.settings.register_profile("ci", derandomize=True, deadline=None, print_blob=True)
hypothesis.settings.register_profile("dev", deadline=None)
hypothesis.settings.load_profile("ci" if os.environ.get("CI") else "dev")
