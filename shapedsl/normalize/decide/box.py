"""Bounds and residues of columns, propagated through rows, products and clauses, with undo.

Every bound carries the assumptions it follows from, as a bitmask. Propagation is sound but not complete:
a bound that keeps moving is left alone after a few steps, for the Omega test to judge.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from math import gcd, isqrt
from typing import Any, Final, TypeAlias

from .budget import Budget
from .clash import Clash
from .formula import EQ, GE, NE, All, Atom, Formula, Monomial

MOST_STEPS: Final = 12  # how often one bound may move in one propagation
LARGEST_BITS: Final = 100  # of a bound; a larger one is not used

Terms: TypeAlias = tuple[tuple[Monomial, int], ...]
Bound: TypeAlias = tuple[int, int]  # value, why
Residue: TypeAlias = tuple[int, int, int]  # modulus > 1, residue, why


@dataclass(slots=True, eq=False)
class Constraint:
    """An atom that is assumed.

    Attributes:
        op: `GE`, `EQ` or `NE`.
        terms: Two columns or more; for `NE`, one or more.
        constant: An integer.
        why: The assumptions it follows from.
    """

    op: int
    terms: Terms
    constant: int
    why: int


@dataclass(slots=True, eq=False)
class Clause:
    """Several formulas, one of which holds, at least.

    Attributes:
        args: The formulas.
        why: The assumptions it follows from.
        watched: Two arguments that were not false when last looked at.
    """

    args: tuple[Formula, ...]
    why: int
    watched: list[int] = field(default_factory=lambda: [0, 1])


@dataclass(slots=True, eq=False)
class Product:
    """A column that is the product of two others."""

    column: Monomial
    left: Monomial
    right: Monomial


@dataclass(slots=True)
class Box:
    """What is assumed, and what follows from it for single columns.

    Attributes:
        budget: What is left of the work.
        lows: By column, its lower bound.
        highs: By column, its upper bound.
        residues: By column, what it is modulo what.
        constraints: Atoms of several columns, and disequalities.
        clauses: Disjunctions.
        products: By column, how it is made up.
        users: By column, the constraints and products that mention it.
        settled: Clauses of which one argument was left and assumed.
        trail: What to restore: a dict, a key and what it held.
        moved: Columns whose bounds or residues changed since the last propagation.
    """

    budget: Budget
    lows: dict[Monomial, Bound] = field(default_factory=dict[Monomial, "Bound"])
    highs: dict[Monomial, Bound] = field(default_factory=dict[Monomial, "Bound"])
    residues: dict[Monomial, Residue] = field(default_factory=dict[Monomial, "Residue"])
    constraints: list[Constraint] = field(default_factory=list[Constraint])
    clauses: list[Clause] = field(default_factory=list[Clause])
    products: dict[Monomial, Product] = field(default_factory=dict[Monomial, Product])
    users: dict[Monomial, list[Constraint | Product]] = field(
        default_factory=dict[Monomial, "list[Constraint | Product]"]
    )
    settled: dict[Clause, bool] = field(default_factory=dict[Clause, bool])
    trail: list[tuple[dict[Any, Any], Any, Any]] = field(default_factory=list[Any])
    moved: dict[Monomial, None] = field(default_factory=dict[Monomial, None])
    queue: deque[Constraint | Product] = field(default_factory=deque[Any])

    # -- marks -----------------------------------------------------------------------------------------------

    def mark(self) -> tuple[int, int, int]:
        """Returns where we are, for `undo`."""
        return len(self.trail), len(self.constraints), len(self.clauses)

    def undo(self, mark: tuple[int, int, int]) -> None:
        """Forgets what was assumed since ``mark``."""
        trail, constraints, clauses = mark
        while len(self.trail) > trail:
            table, key, old = self.trail.pop()
            if old is None:
                del table[key]
            else:
                table[key] = old
        for constraint in reversed(self.constraints[constraints:]):
            for column, _ in constraint.terms:
                self.users[column].pop()
        del self.constraints[constraints:]
        del self.clauses[clauses:]
        self.moved.clear()
        self.queue.clear()

    # -- assuming --------------------------------------------------------------------------------------------

    def assume(self, formula: Formula, why: int) -> None:
        """Adds ``formula``.

        Raises:
            Clash: It contradicts the bounds.
        """
        if isinstance(formula, Atom):
            self.assume_atom(formula.op, formula.terms, formula.constant, why)
        elif isinstance(formula, All):
            for arg in formula.args:
                self.assume(arg, why)
        elif not formula.args:
            raise Clash(why)
        else:
            self.clauses.append(Clause(formula.args, why))

    def assume_atom(self, op: int, terms: Terms, constant: int, why: int) -> None:
        """Adds a canonical atom."""
        self.budget.spend(2 + len(terms))
        for column, _ in terms:
            if len(column) > 1:
                product = self.products.get(column)
                if product is None:
                    self.add_product(column)
                else:
                    self.queue.append(product)
        if len(terms) == 1 and op != NE:
            ((column, value),) = terms
            if op == EQ:
                if constant % value:
                    raise Clash(why)
                self.raise_low(column, -constant // value, why)
                self.lower_high(column, -constant // value, why)
            elif value > 0:
                self.raise_low(column, -(constant // value), why)
            else:
                self.lower_high(column, constant // -value, why)
            return
        if not terms:
            if constant < 0 or (constant != 0) == (op == EQ):
                raise Clash(why)
            return
        constraint = Constraint(op, terms, constant, why)
        self.constraints.append(constraint)
        for column, _ in terms:
            self.users.setdefault(column, []).append(constraint)
        self.queue.append(constraint)

    def add_product(self, column: Monomial) -> None:
        """Registers a product, and the products that it is made of; they stay."""
        left, right = column[:1], column[1:]
        product = Product(column, left, right)
        self.products[column] = product
        if len(right) > 1 and right not in self.products:
            self.add_product(right)
        for each in dict.fromkeys((column, left, right)):
            self.users.setdefault(each, []).insert(0, product)
        self.queue.append(product)

    def raise_low(self, column: Monomial, value: int, why: int) -> None:
        """Assumes ``column >= value``."""
        old = self.lows.get(column)
        if (old is not None and old[0] >= value) or value.bit_length() > LARGEST_BITS:
            return
        residue = self.residues.get(column)
        if residue is not None and (value - residue[1]) % residue[0]:
            value += (residue[1] - value) % residue[0]
            why |= residue[2]
        high = self.highs.get(column)
        if high is not None and high[0] < value:
            raise Clash(why | high[1])
        self.trail.append((self.lows, column, old))
        self.lows[column] = value, why
        self.moved[column] = None

    def lower_high(self, column: Monomial, value: int, why: int) -> None:
        """Assumes ``column <= value``."""
        old = self.highs.get(column)
        if (old is not None and old[0] <= value) or value.bit_length() > LARGEST_BITS:
            return
        residue = self.residues.get(column)
        if residue is not None and (value - residue[1]) % residue[0]:
            value -= (value - residue[1]) % residue[0]
            why |= residue[2]
        low = self.lows.get(column)
        if low is not None and low[0] > value:
            raise Clash(why | low[1])
        self.trail.append((self.highs, column, old))
        self.highs[column] = value, why
        self.moved[column] = None

    def set_residue(self, column: Monomial, modulus: int, residue: int, why: int) -> None:
        """Assumes that ``column`` is ``residue`` modulo ``modulus`` (above 1)."""
        old = self.residues.get(column)
        residue %= modulus
        if old is not None:
            common = gcd(old[0], modulus)
            if (old[1] - residue) % common:
                raise Clash(why | old[2])
            if common == modulus:
                return
            why |= old[2]
            step = modulus // common
            factor = (residue - old[1]) // common * pow(old[0] // common, -1, step) % step if step > 1 else 0
            residue = old[1] + old[0] * factor
            modulus = old[0] * step
            if modulus.bit_length() > LARGEST_BITS:
                return
        self.trail.append((self.residues, column, old))
        self.residues[column] = modulus, residue, why
        self.moved[column] = None
        low, high = self.lows.get(column), self.highs.get(column)
        if low is not None and (low[0] - residue) % modulus:
            self.raise_low(column, low[0] + 1, low[1] | why)
        if high is not None and (high[0] - residue) % modulus:
            self.lower_high(column, high[0] - 1, high[1] | why)

    def fixed(self, column: Monomial) -> Bound | None:
        """Returns the value of ``column`` and why, if there is only one."""
        low, high = self.lows.get(column), self.highs.get(column)
        if low is not None and high is not None and low[0] == high[0]:
            return low[0], low[1] | high[1]
        return None

    # -- propagation -----------------------------------------------------------------------------------------

    def propagate(self) -> None:
        """Draws conclusions until nothing moves, or moves too often.

        Raises:
            Clash: The assumptions cannot hold together.
        """
        steps: dict[Monomial, int] = {}
        while True:
            self._rows(steps)
            if not self._clauses():
                return

    def _rows(self, steps: dict[Monomial, int]) -> None:
        queue = self.queue
        queued = dict.fromkeys(map(id, queue))
        while True:
            for column in self.moved:
                count = steps[column] = steps.get(column, 0) + 1
                if count <= MOST_STEPS:
                    for user in self.users.get(column, ()):
                        if id(user) not in queued:
                            queued[id(user)] = None
                            queue.append(user)
            self.moved.clear()
            if not queue:
                return
            user = queue.popleft()
            queued.pop(id(user), None)
            if isinstance(user, Product):
                self._product(user)
            elif user.op == NE:
                self._unequal(user)
            else:
                self._at_least(user.terms, user.constant, user.why, 1)
                if user.op == EQ:
                    self._at_least(user.terms, user.constant, user.why, -1)
                    self._congruence(user.terms, user.constant, user.why)

    def _at_least(self, terms: Terms, constant: int, why: int, sign: int) -> None:
        """Draws conclusions from ``sign * (terms + constant) >= 0``."""
        self.budget.spend(len(terms))
        total = sign * constant
        open_column: Monomial | None = None
        lows, highs = self.lows, self.highs
        for column, value in terms:
            bound = (highs if value * sign > 0 else lows).get(column)
            if bound is None:
                if open_column is not None:
                    return
                open_column = column
            else:
                total += sign * value * bound[0]
        if open_column is None and total < 0:
            raise Clash(self._reasons(terms, why, sign, None))
        for column, value in terms:
            if open_column is not None and column is not open_column:
                continue
            factor = sign * value
            if factor > 0:
                high = highs.get(column)
                least = -((total - factor * high[0] if high is not None else total) // factor)
                low = lows.get(column)
                if low is None or least > low[0]:
                    self.raise_low(column, least, self._reasons(terms, why, sign, column))
            else:
                low = lows.get(column)
                most = (total - factor * low[0] if low is not None else total) // -factor
                high = highs.get(column)
                if high is None or most < high[0]:
                    self.lower_high(column, most, self._reasons(terms, why, sign, column))

    def _reasons(self, terms: Terms, why: int, sign: int, but: Monomial | None) -> int:
        for column, value in terms:
            if column != but:
                why |= (self.highs if value * sign > 0 else self.lows)[column][1]
        return why

    def _congruence(self, terms: Terms, constant: int, why: int) -> None:
        """Draws conclusions about residues from ``terms + constant == 0``."""
        self.budget.spend(len(terms))
        parts: list[tuple[int, int, int]] = []  # modulus, residue, why of value * column
        lows, highs, residues = self.lows, self.highs, self.residues
        free = -1  # the only part that can be anything
        for at, (column, value) in enumerate(terms):
            low, high = lows.get(column), highs.get(column)
            if low is not None and high is not None and low[0] == high[0]:
                parts.append((0, value * low[0], low[1] | high[1]))
                continue
            modulus, residue, reason = residues.get(column, (1, 0, 0))
            if modulus == 1 and (value == 1 or value == -1):
                if free >= 0:
                    return
                free = at
            parts.append((abs(value) * modulus, value * residue, reason))
        self.budget.spend(len(terms))
        for at, (column, value) in enumerate(terms):
            if parts[at][0] == 0 or (free >= 0 and free != at):
                continue
            modulus, rest, reason = 0, constant, why
            for other, part in enumerate(parts):
                if other != at:
                    modulus = gcd(modulus, part[0])
                    rest += part[1]
                    reason |= part[2]
            if modulus == 0:
                continue  # the only one left: its bounds say it
            common = gcd(value, modulus)
            if rest % common:
                raise Clash(reason)
            modulus //= common
            if modulus > 1:
                residue = -rest // common * pow(value // common, -1, modulus) % modulus
                old = residues.get(column)
                if old is None or old[0] % modulus or (old[1] - residue) % modulus:
                    self.set_residue(column, modulus, residue, reason)
        if free >= 0:
            return
        modulus, rest, reason = 0, constant, why
        for part in parts:
            modulus = gcd(modulus, part[0])
            rest += part[1]
            reason |= part[2]
        if rest % modulus if modulus else rest:
            raise Clash(reason)

    def _unequal(self, constraint: Constraint) -> None:
        """Draws conclusions from ``terms + constant != 0`` where all columns but one have one value."""
        self.budget.spend(len(constraint.terms))
        total, why = constraint.constant, constraint.why
        left: tuple[Monomial, int] | None = None
        for column, value in constraint.terms:
            fixed = self.fixed(column)
            if fixed is None:
                if left is not None:
                    return
                left = column, value
            else:
                total += value * fixed[0]
                why |= fixed[1]
        if left is None:
            if total == 0:
                raise Clash(why)
            return
        column, value = left
        if total % value:
            return
        hole = -total // value
        low, high = self.lows.get(column), self.highs.get(column)
        if low is not None and low[0] == hole:
            self.raise_low(column, hole + 1, why | low[1])
        if high is not None and high[0] == hole:
            self.lower_high(column, hole - 1, why | high[1])

    # -- products --------------------------------------------------------------------------------------------

    def _product(self, product: Product) -> None:
        self.budget.spend(8)
        column, left, right = product.column, product.left, product.right
        for mine, other in ((left, right), (right, left)):
            fixed = self.fixed(mine)
            if fixed is not None:
                value, why = fixed
                if value == 0:
                    self.raise_low(column, 0, why)
                    self.lower_high(column, 0, why)
                    return
                terms = ((column, 1), (other, -value))
                self._at_least(terms, 0, why, 1)
                self._at_least(terms, 0, why, -1)
                self._congruence(terms, 0, why)
                return
        if left == right:
            self._square(column, left)
        else:
            self._multiply(column, left, right)
            self._divide(column, left, right)
            self._divide(column, right, left)
        first, second = self.residues.get(left, (1, 0, 0)), self.residues.get(right, (1, 0, 0))
        modulus = gcd(first[0] * second[0], first[0] * second[1], first[1] * second[0])
        if modulus > 1:
            self.set_residue(column, modulus, first[1] * second[1], first[2] | second[2])

    def _square(self, column: Monomial, root: Monomial) -> None:
        low, high = self.lows.get(root), self.highs.get(root)
        top, bottom = self.highs.get(column), self.lows.get(column)
        self.raise_low(column, 0, 0)
        if low is not None and low[0] >= 0:
            self.raise_low(column, low[0] ** 2, low[1])
        elif high is not None and high[0] <= 0:
            self.raise_low(column, high[0] ** 2, high[1])
        if low is not None and high is not None:
            self.lower_high(column, max(low[0] ** 2, high[0] ** 2), low[1] | high[1])
        if top is not None:
            self.lower_high(root, isqrt(top[0]), top[1])
            self.raise_low(root, -isqrt(top[0]), top[1])
        if bottom is not None and bottom[0] > 0:
            least = isqrt(bottom[0] - 1) + 1
            if low is not None and low[0] > -least:
                self.raise_low(root, least, low[1] | bottom[1])
            elif high is not None and high[0] < least:
                self.lower_high(root, -least, high[1] | bottom[1])

    def _multiply(self, column: Monomial, left: Monomial, right: Monomial) -> None:
        a, b = self.lows.get(left), self.highs.get(left)
        c, d = self.lows.get(right), self.highs.get(right)
        if a is not None and b is not None and c is not None and d is not None:
            why = a[1] | b[1] | c[1] | d[1]
            corners = (a[0] * c[0], a[0] * d[0], b[0] * c[0], b[0] * d[0])
            if a[0] >= 0 and c[0] >= 0:
                self.raise_low(column, corners[0], a[1] | c[1])
                self.lower_high(column, corners[3], why)
            else:
                self.raise_low(column, min(corners), why)
                self.lower_high(column, max(corners), why)
            return
        if a is not None and a[0] >= 0:
            self._half_open(column, a, b, c, d)
        elif c is not None and c[0] >= 0:
            self._half_open(column, c, d, a, b)
        elif b is not None and b[0] <= 0 and d is not None and d[0] <= 0:
            self.raise_low(column, b[0] * d[0], b[1] | d[1])

    def _half_open(self, column: Monomial, a: Bound, b: Bound | None, c: Bound | None, d: Bound | None) -> None:
        """Bounds the product of a column in [a, b], not negative, and one in [c, d]; not all are bounds."""
        if c is not None:
            if c[0] >= 0:
                self.raise_low(column, a[0] * c[0], a[1] | c[1])
            elif b is not None:
                self.raise_low(column, b[0] * c[0], a[1] | b[1] | c[1])
        if d is not None:
            if d[0] <= 0:
                self.lower_high(column, a[0] * d[0], a[1] | d[1])
            elif b is not None:
                self.lower_high(column, b[0] * d[0], a[1] | b[1] | d[1])

    def _divide(self, column: Monomial, mine: Monomial, other: Monomial) -> None:
        """Bounds ``mine`` by ``column``, which is ``mine * other``."""
        low, high = self.lows.get(other), self.highs.get(other)
        bottom, top = self.lows.get(column), self.highs.get(column)
        if low is not None and low[0] >= 1:
            if top is not None:
                if top[0] >= 0:
                    self.lower_high(mine, top[0] // low[0], top[1] | low[1])
                elif high is not None:
                    self.lower_high(mine, top[0] // high[0], top[1] | low[1] | high[1])
                else:
                    self.lower_high(mine, -1, top[1] | low[1])
            if bottom is not None:
                if bottom[0] <= 0:
                    self.raise_low(mine, -(-bottom[0] // low[0]), bottom[1] | low[1])
                elif high is not None:
                    self.raise_low(mine, -(-bottom[0] // high[0]), bottom[1] | low[1] | high[1])
                else:
                    self.raise_low(mine, 1, bottom[1] | low[1])
        elif low is not None and low[0] == 0:
            if bottom is not None and bottom[0] > 0:
                self.raise_low(other, 1, low[1] | bottom[1])
                self.raise_low(mine, 1, low[1] | bottom[1])
            elif top is not None and top[0] < 0:
                self.raise_low(other, 1, low[1] | top[1])
                self.lower_high(mine, -1, low[1] | top[1])

    # -- clauses ---------------------------------------------------------------------------------------------

    def _clauses(self) -> bool:
        """Looks for clauses of which one argument is left; returns whether any was found."""
        found = False
        for clause in self.clauses:
            if clause in self.settled:
                continue
            args, watched = clause.args, clause.watched
            self.budget.spend(2)
            first = self._open(args, watched, 0)
            if first is None:
                continue  # it holds
            if first < 0:
                raise Clash(self._all_false(clause))
            second = self._open(args, watched, 1)
            if second is None or second >= 0:
                continue
            why = clause.why
            for at, arg in enumerate(args):
                if at != first:
                    why |= self.why_false(arg)
            self.settle(clause)
            self.assume(args[first], why)
            found = True
        return found

    def settle(self, clause: Clause) -> None:
        """Takes note that one argument of ``clause`` is assumed."""
        self.settled[clause] = True
        self.trail.append((self.settled, clause, None))

    def _open(self, args: tuple[Formula, ...], watched: list[int], which: int) -> int | None:
        """Returns an argument that may hold, -1 if there is none but the other watched one, None if one surely holds."""
        at, other = watched[which], watched[1 - which] if which else -1
        if at != other and at < len(args):
            arg = args[at]
            if self.why_false(arg) < 0:
                return None if self.holds(arg) else at
        for at, arg in enumerate(args):
            if at != other and self.why_false(arg) < 0:
                if self.holds(arg):
                    return None
                watched[which] = at
                return at
        return -1

    def _all_false(self, clause: Clause) -> int:
        why = clause.why
        for arg in clause.args:
            why |= self.why_false(arg)
        return why

    def why_false(self, formula: Formula) -> int:
        """Returns the assumptions under which the bounds make ``formula`` false, or -1 if they do not."""
        if isinstance(formula, Atom):
            return self._why_false(formula)
        if isinstance(formula, All):
            for arg in formula.args:
                why = self.why_false(arg)
                if why >= 0:
                    return why
            return -1
        total = 0
        for arg in formula.args:
            why = self.why_false(arg)
            if why < 0:
                return -1
            total |= why
        return total

    def _why_false(self, atom: Atom) -> int:
        terms, total = atom.terms, atom.constant
        self.budget.spend(len(terms))
        if atom.op == NE:
            why = 0
            for column, value in terms:
                fixed = self.fixed(column)
                if fixed is None:
                    return -1
                total += value * fixed[0]
                why |= fixed[1]
            return why if total == 0 else -1
        why = self._below(terms, total, 1)
        if why >= 0 or atom.op == GE:
            return why
        why = self._below(terms, total, -1)
        if why >= 0:
            return why
        modulus, why = 0, 0
        for column, value in terms:
            low, high = self.lows.get(column), self.highs.get(column)
            if low is not None and high is not None and low[0] == high[0]:
                total += value * low[0]
                why |= low[1] | high[1]
            else:
                residue = self.residues.get(column, (1, 0, 0))
                modulus = gcd(modulus, value * residue[0])
                total += value * residue[1]
                why |= residue[2]
        return why if (total % modulus if modulus else total) else -1

    def _below(self, terms: Terms, total: int, sign: int) -> int:
        """Returns why ``sign * (terms + total) < 0``, or -1."""
        total *= sign
        why = 0
        lows, highs = self.lows, self.highs
        for column, value in terms:
            bound = (highs if value * sign > 0 else lows).get(column)
            if bound is None:
                return -1
            total += sign * value * bound[0]
            why |= bound[1]
        return why if total < 0 else -1

    def holds(self, formula: Formula) -> bool:
        """Returns whether the bounds make ``formula`` true."""
        if isinstance(formula, All):
            return all(map(self.holds, formula.args))
        if not isinstance(formula, Atom):
            return any(map(self.holds, formula.args))
        terms, total = formula.terms, formula.constant
        self.budget.spend(len(terms))
        if formula.op == GE:
            return self._surely(terms, total, 1)
        if formula.op == EQ:
            return self._surely(terms, total, 1) and self._surely(terms, total, -1)
        return self._below(terms, total, 1) >= 0 or self._below(terms, total, -1) >= 0

    def _surely(self, terms: Terms, total: int, sign: int) -> bool:
        total *= sign
        for column, value in terms:
            bound = (self.lows if value * sign > 0 else self.highs).get(column)
            if bound is None:
                return False
            total += sign * value * bound[0]
        return total >= 0
