"""The file that artifacts are saved in: a zip without compression, and a digest of all of it at its end.

After::

    manifest.json        what each artifact is for; the size and the SHA-256 of every other entry
    spec.shapes          for readers
    programs/0.pt2       as `torch.export.save` wrote it
    comment              shapedsl-artifacts sha256:…      of every byte before it

A file is read once it is known to be whole: a byte that changed, one that is missing and one too many are found, and
the entry is named. A digest tells damage, not who wrote a file.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import struct
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Final, NoReturn, cast

from ...diagnostics import Diagnostic, Severity, ShapeError
from ...diagnostics.files import replacing

MANIFEST: Final = "manifest.json"
SPEC: Final = "spec.shapes"
_MARK: Final = b"shapedsl-artifacts sha256:"
_DIGITS: Final = 64
_CHUNK: Final = 1 << 20
_MOST_ENTRIES: Final = 65_536
_LARGEST_MANIFEST: Final = 1 << 28
_LOCAL: Final = struct.Struct("<4sHHHHHLLLHH")  # the header in front of an entry
_SIZES: Final = struct.Struct("<HHQQ")  # what follows it for an entry of 2 GiB or more
_LARGE: Final = 0xFFFF_FFFF


def write_bundle(path: str | os.PathLike[str], manifest: dict[str, Any], files: Mapping[str, bytes]) -> None:
    """Writes a bundle at once: whoever opens ``path`` meanwhile finds the file that was there before, or this one.

    Args:
        path: Where to.
        manifest: What `open_bundle` returns; gets the digests of ``files``.
        files: The other entries by name.

    Raises:
        OSError: It cannot be written; what was there before still is.
    """
    target = Path(os.path.realpath(path))
    listed = {name: {"size": len(data), "sha256": hashlib.sha256(data).hexdigest()} for name, data in files.items()}
    text = json.dumps({**manifest, "files": listed}, indent=1, allow_nan=False)
    with replacing(target) as file:
        with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
            for name, data in ((MANIFEST, text.encode()), *files.items()):
                archive.writestr(zipfile.ZipInfo(name), data)  # without a date: equal artifacts give equal files
            archive.comment = _MARK + b"0" * _DIGITS
        size = file.seek(0, os.SEEK_END)
        digest = _digest(file, size - _DIGITS)
        file.seek(size - _DIGITS)
        file.write(digest.encode())


def _digest(file: IO[bytes], size: int) -> str:
    """Returns the SHA-256 of the first ``size`` bytes."""
    file.seek(0)
    found = hashlib.sha256()
    while size > 0 and (data := file.read(min(size, _CHUNK))):
        found.update(data)
        size -= len(data)
    return found.hexdigest()


# ------------------------------------------------------------------------------------------ reading


class Bundle:
    """A bundle that is open, and whole.

    Attributes:
        manifest: As it was given to `write_bundle`, with ``"files"``.
    """

    def __init__(self, path: Path, file: IO[bytes]) -> None:
        """Args:
        path: For messages.
        file: Of which every byte is looked at.

        Raises:
            ShapeError: ``damaged-artifacts``.
        """
        self.path = path
        self._file = file
        self._require_whole()
        try:
            self._archive = zipfile.ZipFile(file)
            entries = self._archive.infolist()
        except (zipfile.BadZipFile, ValueError, NotImplementedError, struct.error, UnicodeDecodeError) as error:
            self.refuse("its list of entries", str(error))
        self._entries = self._listed(entries)
        self.manifest = self._manifest()
        self._require_listed()

    def __enter__(self) -> Bundle:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._file.close()

    def read(self, name: str) -> bytes:
        """Returns an entry.

        Raises:
            ShapeError: ``damaged-artifacts``: it is missing, or not what the manifest says.
        """
        listed: Mapping[str, Any] = self.manifest["files"]
        if name not in listed:
            self.refuse(f"`{MANIFEST}`", f"it speaks of `{name}`, and does not list it")
        data = self._raw(name)
        wanted = listed[name]
        if len(data) != wanted["size"] or hashlib.sha256(data).hexdigest() != wanted["sha256"]:
            self.refuse(f"`{name}`", "its content is not what the manifest says")
        return data

    def refuse(self, what: str, why: str) -> NoReturn:
        """Raises `ShapeError` (``damaged-artifacts``).

        Args:
            what: Which part of the file: ```programs/0.pt2```.
            why: What is wrong with it.
        """
        raise damaged(self.path, what, why)

    def _raw(self, name: str) -> bytes:
        try:
            return self._archive.read(self._entries[name])
        except (zipfile.BadZipFile, EOFError, OSError, ValueError, NotImplementedError, RuntimeError) as error:
            self.refuse(f"`{name}`", str(error))

    def _require_whole(self) -> None:
        size = self._file.seek(0, os.SEEK_END)
        end = size - _DIGITS - len(_MARK)
        self._file.seek(max(end, 0))
        mark = self._file.read(len(_MARK))
        given = self._file.read(_DIGITS)
        if end >= 0 and mark == _MARK and given == _digest(self._file, size - _DIGITS).encode():
            return
        what, why = _damage(self._file, size, marked=mark == _MARK)
        self.refuse(what, why)

    def _listed(self, entries: list[zipfile.ZipInfo]) -> dict[str, zipfile.ZipInfo]:
        """Returns the entries by name, each within the file, and as large as it says."""
        size = self._file.seek(0, os.SEEK_END)
        if len(entries) > _MOST_ENTRIES:
            self.refuse("its list of entries", f"there are {len(entries):,}")
        found: dict[str, zipfile.ZipInfo] = {}
        for entry in entries:
            name = entry.filename
            shown = f"`{name:.80}`" if name.isprintable() else repr(name)[:80]
            if name in found:
                self.refuse(shown, "there are two entries of this name")
            if entry.compress_type != zipfile.ZIP_STORED or entry.flag_bits & 0x1:
                self.refuse(shown, "it is compressed or encrypted, which no entry is")
            if entry.file_size != entry.compress_size:
                self.refuse(shown, "it has two sizes")
            found[name] = entry
        if sum(entry.file_size for entry in entries) > size:
            self.refuse("its list of entries", "together they are larger than the file")
        if MANIFEST not in found:
            self.refuse(f"`{MANIFEST}`", "it is missing")
        if found[MANIFEST].file_size > _LARGEST_MANIFEST:
            self.refuse(f"`{MANIFEST}`", f"it has {found[MANIFEST].file_size:,} bytes")
        return found

    def _manifest(self) -> dict[str, Any]:
        try:
            read: Any = json.loads(self._raw(MANIFEST).decode(), parse_constant=_no_constant)
        except (ValueError, RecursionError) as error:
            self.refuse(f"`{MANIFEST}`", f"it is no JSON: {error}"[:200])
        if not isinstance(read, dict):
            self.refuse(f"`{MANIFEST}`", "it is no object")
        return cast("dict[str, Any]", read)

    def _require_listed(self) -> None:
        """Refuses entries that the manifest does not list, and names that lead elsewhere."""
        listed: Any = self.manifest.get("files")
        if not isinstance(listed, dict):
            self.refuse(f"`{MANIFEST}`", "it lists no files")
        for name, each in cast("dict[str, Any]", listed).items():
            if not isinstance(each, dict) or {"size", "sha256"} - cast("dict[str, Any]", each).keys():
                self.refuse(f"`{MANIFEST}`", f"it does not say what `{name:.80}` is")
            if not _is_plain(name):
                self.refuse(f"`{name:.80}`", "its name is none that an entry has")
            if name not in self._entries:
                self.refuse(f"`{name}`", "it is missing")
        for name in self._entries.keys() - {MANIFEST, *listed}:
            self.refuse(f"`{name:.80}`", "the manifest does not list it")


def open_bundle(path: str | os.PathLike[str]) -> Bundle:
    """Returns a bundle. Close it, or use it in a ``with``.

    Raises:
        ShapeError: ``damaged-artifacts``.
        OSError: There is no such file, or it cannot be read.
    """
    file = Path(path).open("rb")  # noqa: SIM115 - the bundle closes it
    try:
        return Bundle(Path(path), file)
    except BaseException:
        file.close()
        raise


def damaged(path: Path, what: str, why: str) -> ShapeError:
    """Returns the error of a file that is no whole bundle."""
    message = f"`{path}` is damaged in {what}: {why}"
    helps = ("save the artifacts anew, or take the file from a backup",)
    return ShapeError([Diagnostic("damaged-artifacts", Severity.ERROR, message, helps=helps)])


def _no_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is no number")


def _is_plain(name: str) -> bool:
    """Returns whether a name is one that `write_bundle` is given: ``spec.shapes``, ``programs/0.pt2``."""
    return re.fullmatch(r"([a-z]+/)?[a-z0-9]+\.[a-z0-9]+", name, flags=re.ASCII) is not None


# --------------------------------------------------------------------------------------- what is wrong


def _damage(file: IO[bytes], size: int, *, marked: bool) -> tuple[str, str]:
    """Returns which part of a file is not as it was written, and how that shows; entries are walked one by one."""
    at = 0
    name = ""
    while True:
        file.seek(at)
        head = file.read(_LOCAL.size)
        if at == 0 and head[:4] != b"PK\x03\x04":
            return ("all of it", "it is no bundle of artifacts") if not marked else ("its first bytes", "they changed")
        if head[:4] == b"PK\x01\x02":
            break
        if len(head) < _LOCAL.size:
            return (f"what follows `{name}`", "the file is cut off")
        mark, _, flags, method, time, date, check, packed, real, letters, extra = _LOCAL.unpack(head)
        after = f"what follows `{name}`" if name else "its first entry"
        known = file.read(letters).decode("ascii", "replace")
        if packed == real == _LARGE and extra == _SIZES.size:
            _, _, real, packed = _SIZES.unpack(file.read(extra).ljust(extra, b"\0"))
        elif extra:
            return (after, "its header changed")
        if (mark, flags, method, time, date, packed) != (b"PK\x03\x04", 0, 0, 0, 0x21, real) or not _is_plain(known):
            return (after, "its header changed")
        name = known
        start = at + _LOCAL.size + letters + extra
        if start + real > size:
            return (f"`{name}`", "the file is cut off")
        if _checksum(file, start, real) != check:
            return (f"`{name}`", "its content changed")
        at = start + real
    if not marked:
        return ("its end", "bytes are missing, or were added")
    return ("its list of entries", "it changed, or a header did")


def _checksum(file: IO[bytes], start: int, size: int) -> int:
    file.seek(start)
    found = 0
    while size > 0 and (data := file.read(min(size, _CHUNK))):
        found = zlib.crc32(data, found)
        size -= len(data)
    return found


__all__ = ["MANIFEST", "SPEC", "Bundle", "damaged", "open_bundle", "write_bundle"]
