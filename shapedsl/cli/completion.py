"""``shapedsl completion``: a script that lets the shell complete verbs, options, files, specs and codes.

bash takes ``net.shapes:Net`` for three words, so what stands behind the colon is then completed alone,
as what click takes for the next argument.
"""

from __future__ import annotations

from collections.abc import Iterable
from glob import escape, glob
from pathlib import Path

import click
from click.shell_completion import CompletionItem, get_completion_class

from ..diagnostics import CODES, Report
from .common import STANDARD_INPUT, read_specs, say

_VARIABLE = "_SHAPEDSL_COMPLETE"


@click.command("completion", short_help="Print a completion script for the shell.")
@click.argument("shell", type=click.Choice(("bash", "zsh", "fish")))
@click.pass_context
def command(ctx: click.Context, shell: str) -> None:
    """Print a completion script for the shell.

    \b
    eval "$(shapedsl completion bash)"                                  in ~/.bashrc
    eval "$(shapedsl completion zsh)"                                   in ~/.zshrc
    shapedsl completion fish > ~/.config/fish/completions/shapedsl.fish
    """
    completion = get_completion_class(shell)
    assert completion is not None  # click has all three
    say(completion(ctx.find_root().command, {}, "shapedsl", _VARIABLE).source())


def complete_spec(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Returns what may stand for ``FILE[:SPEC]``: the specs behind a colon, else files."""
    name, colon, _ = incomplete.rpartition(":")
    if colon and name.endswith(".shapes"):
        return _starting(incomplete, (f"{name}:{key}" for key in _variables(name)))
    return [CompletionItem(incomplete, type="file")]


def complete_spec_or_code(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Returns what may stand for ``FILE[:SPEC]|CODE``; a shell adds no files to codes, so they are named."""
    codes = _starting(incomplete, CODES) if incomplete else []
    if not codes:
        return complete_spec(ctx, param, incomplete)
    paths = map(Path, glob(f"{escape(incomplete)}*"))
    return codes + [CompletionItem(str(path)) for path in paths if path.is_dir() or path.suffix == ".shapes"]


def complete_sizes(ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Returns what may stand behind a target: ``B=`` of its variables; behind bash's colon, its specs."""
    target = str(ctx.params.get("target") or "")
    given = tuple(map(str, ctx.params.get("sizes") or ()))
    if incomplete == ":":
        return [CompletionItem(key) for key in _variables(target)]
    if given[:1] == (":",):
        name, given = target, given[2:]
        if not given and len(ctx.params["sizes"]) == 1:
            return _starting(incomplete, _variables(name))
    else:
        name = target if target.endswith(".shapes") else target.rpartition(":")[0]
    return _starting(incomplete, dict.fromkeys(f"{each}=" for own in _variables(name).values() for each in own))


def _variables(name: str) -> dict[str, list[str]]:
    """Returns the variables of each spec of a file; nothing where it cannot be read."""
    if name == STANDARD_INPUT or not Path(name).is_file():
        return {}
    signatures = read_specs(name, None, {}, Report())
    return {signature.key: [variable.name for variable in signature.variables] for signature in signatures}


def _starting(incomplete: str, words: Iterable[str]) -> list[CompletionItem]:
    return [CompletionItem(word) for word in words if word.startswith(incomplete)]
