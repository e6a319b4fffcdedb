"""``pytest --shapedsl-check=PACKAGE``: every call of the package's functions is checked by their specs.

Off by default, and light: pytest loads this module in every run of everyone who has shapedsl installed.
"""

from __future__ import annotations

import sys

import pytest

TYPE_CHECKING = False  # typing's flag, without importing typing
if TYPE_CHECKING:
    from typing import Any

    from .import_hook import ImportHook

_HOOK: pytest.StashKey[ImportHook] = pytest.StashKey()
_WORKERS: pytest.StashKey[list[str]] = pytest.StashKey()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the option."""
    parser.getgroup("shapedsl").addoption(
        "--shapedsl-check",
        action="append",
        default=[],
        metavar="PACKAGE",
        help="check every call of functions with shapes in PACKAGE and its submodules (several: commas, or repeat)",
    )


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Installs the hook before a conftest imports the package."""
    _install(early_config, early_config.known_args_namespace.shapedsl_check)


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Installs the hook where this module is a plugin of a conftest, which is loaded later."""
    _install(config, config.option.shapedsl_check)


def _install(config: pytest.Config, given: list[str]) -> None:
    if not given or _HOOK in config.stash:
        return
    # a trailing comma is nothing; an option that is empty, as of a variable that is not set, is a mistake
    packages = [name.strip() for each in given for name in each.split(",") if name.strip() or not each.strip(", ")]
    from .import_hook import install_import_hook, is_package_name

    for name in packages:
        if not is_package_name(name):
            raise pytest.UsageError(f"--shapedsl-check takes the dotted name of a package, not {name!r}")
        if name in sys.modules:
            raise pytest.UsageError(
                f"--shapedsl-check={name}: {name} is imported already, before its calls could be checked; "
                "a plugin did that, or the checkout is run by `python -m pytest` from inside of it"
            )
    hook = install_import_hook(*packages)
    config.stash[_HOOK] = hook
    config.add_cleanup(hook.uninstall)


def pytest_report_header(config: pytest.Config) -> str | None:
    """Says what is checked."""
    hook = config.stash.get(_HOOK, None)
    return None if hook is None else f"shapedsl: calls are checked in {', '.join(hook.packages)}"


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Tells the controller of pytest-xdist what this worker has loaded."""
    output: dict[str, Any] | None = getattr(session.config, "workeroutput", None)
    if output is not None and _HOOK in session.config.stash:
        output["shapedsl_modules"] = session.config.stash[_HOOK].modules


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Hears what a worker of pytest-xdist has loaded."""
    modules = getattr(node, "workeroutput", {}).get("shapedsl_modules", [])
    node.config.stash.setdefault(_WORKERS, []).extend(modules)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Says of which package nothing was imported: a typing mistake would look like a success."""
    hook = config.stash.get(_HOOK, None)
    if hook is None:
        return
    modules = hook.modules + config.stash.setdefault(_WORKERS, [])
    for name in hook.packages:
        if not any(module == name or module.startswith(f"{name}.") for module in modules):
            terminalreporter.write_line(
                f"shapedsl: no module of `{name}` was imported, so nothing was checked", yellow=True
            )
