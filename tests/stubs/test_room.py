"""Work on a large stack, and such work within such work."""

from __future__ import annotations

import threading

import pytest

from shapedsl.frontends.stubs.room import with_room


def test_room_within_room_is_the_same_room() -> None:
    outer = with_room(lambda: (threading.get_ident(), with_room(threading.get_ident)))
    assert outer[0] == outer[1] != threading.get_ident()
    assert with_room(threading.get_ident) != threading.get_ident()


def test_what_is_raised_within_is_raised() -> None:
    def fail() -> None:
        raise LookupError("deep inside")

    with pytest.raises(LookupError, match="deep inside"):
        with_room(lambda: with_room(fail))


def test_there_is_room() -> None:
    def depth(left: int) -> int:
        return 0 if left == 0 else 1 + depth(left - 1)

    assert with_room(lambda: with_room(lambda: depth(15_000))) == 15_000
