"""Files as they were at a revision of a git repository, imports included.

git is asked, by its plumbing, without a shell; what it refuses is said in a sentence.
"""

from __future__ import annotations

import errno
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ..diagnostics import Report, Source
from ..diagnostics.files import MOST

_TIMEOUT: Final = 60  # seconds: a repository on a network may be slow, and must not hang


class RevisionError(Exception):
    """git has no such repository, revision or file; ``str()`` says which."""


@dataclass(frozen=True, slots=True)
class Revision:
    """One revision of one repository.

    Attributes:
        name: As the user wrote it.
        commit: What it names.
        top: The folder of the working tree.
    """

    name: str
    commit: str
    top: Path

    def former(self, path: Path) -> Path | None:
        """Returns the path that a file had at this revision, before it was renamed perhaps; None if it is new.

        Args:
            path: Of the file in the working tree.

        Raises:
            OSError: It is not in the repository.
        """
        inside = self._inside(path)
        if _git(self.top, "cat-file", "-e", f"{self.commit}:{inside}") is not None:
            return path
        renamed = ("diff", "--no-ext-diff", "--name-status", "-z", "--find-renames", "--diff-filter=R", self.commit)
        words = os.fsdecode(_git(self.top, *renamed) or b"").split("\0")
        before = dict(zip(words[2::3], words[1::3], strict=False)).get(inside)
        return None if before is None else self.top / before

    def load(self, path: Path) -> Source:
        """Returns a file's text at this revision.

        Args:
            path: Of the file in the working tree, whether or not it is there now.

        Raises:
            OSError: It is not in the revision, or not in the repository.
            UnicodeDecodeError: It is not UTF-8.
        """
        inside = self._inside(path)
        raw = _git(self.top, "cat-file", "blob", f"{self.commit}:{inside}")
        if raw is None:
            raise OSError(errno.ENOENT, f"`{self.name}` has no such file", str(path))
        if len(raw) > MOST:
            raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), str(path))
        return Source(f"{self.name}:{inside}", raw.decode("utf-8-sig"))

    def _inside(self, path: Path) -> str:
        """Returns the path from the top of the repository, as git writes it."""
        try:
            return Path(os.path.realpath(path.parent), path.name).relative_to(self.top).as_posix()
        except ValueError:
            raise OSError(errno.ENOENT, f"it is outside the repository `{self.top}`", str(path)) from None


def revision(name: str, beside: Path) -> Revision:
    """Returns the revision called ``name`` of the repository that holds a file.

    Args:
        name: A commit, branch, tag, or what else git takes for one.
        beside: The file.

    Raises:
        RevisionError: There is no git, no repository, or no such revision.
    """
    folder = Path(os.path.realpath(beside.parent))
    if not folder.is_dir():
        raise RevisionError(f"there is no folder `{beside.parent}`")
    top = _git(folder, "rev-parse", "--show-toplevel")
    if top is None or not top.strip():
        raise RevisionError(f"`{beside}` is not in the working tree of a git repository")
    commit = None
    if name and not name.startswith("-") and "\0" not in name:
        commit = _git(folder, "rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")
    if commit is None or commit.startswith(b"^"):  # git takes a negated one for a revision too
        raise RevisionError(f"the repository of `{beside}` has no revision `{name}`")
    return Revision(name, commit.decode().strip(), Path(os.fsdecode(top.rstrip(b"\n"))))


def read_at(revision_: Revision, path: Path, report: Report) -> Source | None:
    """Returns a file's text at a revision; None, with a finding, if it cannot be read."""
    try:
        return revision_.load(path)
    except UnicodeDecodeError as error:
        report.error("invalid-utf8", f"`{path}` is not UTF-8 text at `{revision_.name}`: byte {error.start}")
    except (OSError, RevisionError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        report.error("unreadable-file", f"cannot read `{path}` at `{revision_.name}`: {reason}")
    return None


def _git(folder: Path, *arguments: str) -> bytes | None:
    """Returns what git prints, or None if it fails.

    Raises:
        RevisionError: git is not installed, or does not answer, or refuses the repository as unsafe.
    """
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_TIMEOUT,
            env={**os.environ, "LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0"},
            check=False,
        )
    except FileNotFoundError:
        raise RevisionError("--git needs git, and there is none on this computer") from None
    except (OSError, subprocess.TimeoutExpired) as error:
        raise RevisionError(f"git cannot be run: {error}") from None
    if done.returncode == 0:
        return done.stdout
    if b"dubious ownership" in done.stderr:
        raise RevisionError(f"git refuses to read `{folder}`: it belongs to another user")
    return None
