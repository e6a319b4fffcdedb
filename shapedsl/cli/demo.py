"""``shapedsl demo``: the first file of the documentation, through everything."""

from __future__ import annotations

import os
import shutil
import sys
import warnings
from textwrap import indent

import click

from ..diagnostics.render.style import paint, wants_color
from .common import say


@click.command("demo", short_help="Take a first spec through compile, export and make_fx.")
@click.option(
    "--backend",
    metavar="NAME",
    help="torch.compile's backend.  [default: inductor if there is a C++ compiler, else eager]",
)
def command(backend: str | None) -> None:
    """Take a first spec through torch.compile, torch.export and make_fx. It needs torch, and about a minute.

    \b
    shapedsl demo                      with the best backend that works here
    shapedsl demo --backend eager      compile nothing: quick
    """
    from ..api.demonstrate import UnknownBackend, demonstrate

    color = wants_color(sys.stdout)
    try:
        with warnings.catch_warnings():
            # torch works without NumPy, and says so when it is imported: no concern of a newcomer's
            warnings.filterwarnings("ignore", message="Failed to initialize NumPy", category=UserWarning)
            for title, text in demonstrate(backend or _backend()):
                say(paint(title, "bold", color))
                say(indent(text.strip("\n"), "    ") + "\n")
                sys.stdout.flush()
    except UnknownBackend:
        raise click.UsageError(
            f"torch.compile has no backend '{backend}'; torch.compiler.list_backends() names those there are."
        ) from None
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "torch":
            raise
        raise click.ClickException("the rest needs torch: pip install 'shapedsl[torch]'") from None


def _backend() -> str:
    """Returns inductor if a C++ compiler is found, which it needs, else eager."""
    compilers = [os.environ.get("CXX", ""), "g++", "clang++", "c++"]
    return "inductor" if any(name and shutil.which(name) for name in compilers) else "eager"
