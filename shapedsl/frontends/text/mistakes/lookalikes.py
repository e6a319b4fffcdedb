"""Characters that the language has not: what to write instead.

Text from chats, papers and slides brings typographic signs and letters of other alphabets that
look exactly like Latin ones. Both are named, and replaced where there is no doubt.
"""

from __future__ import annotations

from typing import Final

# A sign -> its spelling in the language.
SIGNS: Final = {
    "\N{MULTIPLICATION SIGN}": "*",
    "\N{MIDDLE DOT}": "*",
    "\N{DOT OPERATOR}": "*",
    "\N{BULLET OPERATOR}": "*",
    "\N{ASTERISK OPERATOR}": "*",
    "\N{MINUS SIGN}": "-",
    "\N{EN DASH}": "-",
    "\N{EM DASH}": "-",
    "\N{HYPHEN}": "-",
    "\N{NON-BREAKING HYPHEN}": "-",
    "\N{DIVISION SIGN}": "//",
    "\N{DIVISION SLASH}": "//",
    "\N{LESS-THAN OR EQUAL TO}": "<=",
    "\N{LESS-THAN OR SLANTED EQUAL TO}": "<=",
    "\N{GREATER-THAN OR EQUAL TO}": ">=",
    "\N{GREATER-THAN OR SLANTED EQUAL TO}": ">=",
    "\N{NOT EQUAL TO}": "!=",
    "\N{IDENTICAL TO}": "==",
    "\N{ELEMENT OF}": "in",
    "\N{NOT AN ELEMENT OF}": "not in",
    "\N{LOGICAL AND}": "and",
    "\N{LOGICAL OR}": "or",
    "\N{NOT SIGN}": "not",
    "\N{INFINITY}": "inf",
    "\N{RIGHTWARDS ARROW}": "->",
    "\N{RIGHTWARDS DOUBLE ARROW}": "->",
    "\N{HORIZONTAL ELLIPSIS}": "...",
    "\N{SUPERSCRIPT TWO}": "**2",
    "\N{SUPERSCRIPT THREE}": "**3",
    "\N{LEFT DOUBLE QUOTATION MARK}": '"',
    "\N{RIGHT DOUBLE QUOTATION MARK}": '"',
    "\N{DOUBLE LOW-9 QUOTATION MARK}": '"',
    "\N{LEFT-POINTING DOUBLE ANGLE QUOTATION MARK}": '"',
    "\N{RIGHT-POINTING DOUBLE ANGLE QUOTATION MARK}": '"',
    "\N{LEFT SINGLE QUOTATION MARK}": "'",
    "\N{RIGHT SINGLE QUOTATION MARK}": "'",
}

# Signs whose spelling above is a guess: `÷` may be a fraction, `≡` a congruence, `⇒` an implication.
DOUBTFUL: Final = frozenset("\N{DIVISION SIGN}\N{DIVISION SLASH}\N{IDENTICAL TO}\N{RIGHTWARDS DOUBLE ARROW}")

# Letters that look like Latin ones -> the Latin ones: Cyrillic, then Greek.
LETTERS: Final = dict(
    zip(
        "АВЕЅІЈКМНОРСТХУаеіјорсухѕԁԛԝҺһ" + "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧοντ",
        "ABESIJKMHOPCTXYaeijopcyxsdqwhh" + "ABEZHIKMNOPTYXovt",
        strict=True,
    )
)


def name_of(character: str) -> str:
    """Returns how a message names a character: ``U+0412 CYRILLIC CAPITAL LETTER VE``."""
    from unicodedata import name

    return f"U+{ord(character):04X} {name(character, '')}".rstrip()


def is_look_alike(character: str) -> bool:
    """Returns whether a character is ASCII, or looks so much like an ASCII one that nothing else was meant.

    A Greek nu or an index (``B₁``) may well be a name of its own.
    """
    from unicodedata import decomposition

    if character.isascii():
        return True
    if character in LETTERS:
        return character not in "ντ"
    return decomposition(character).startswith(("<wide>", "<font>"))


def plain(word: str) -> str | None:
    """Returns ``word`` with each look-alike replaced by what it looks like, or None if that does not make it ASCII."""
    if word.isascii():
        return word
    from unicodedata import normalize

    text = "".join(LETTERS.get(c, c) for c in word)
    text = "".join(c if c.isascii() else normalize("NFKC", c) for c in text)  # full-width, bold, circled letters
    return text if text.isascii() else None
