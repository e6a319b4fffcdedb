"""``shapedsl completion``: a script that lets the shell complete verbs, options and files."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from .common import say

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
