"""Symbolic dimensions: integer polynomials in canonical form, printed in the syntax of core/expression.h.

Dimensions and integer parameters are taken as non-negative. A result without symbols is a Python int.
"""

from __future__ import annotations

from typing import Callable, NamedTuple


class Untraceable(BaseException):
    """Why there is no graph, as one phrase. Not an Exception, so that references do not swallow it."""


class Unwritten(Untraceable):
    """What np.empty made is read."""

    def __init__(self):
        super().__init__("np.empty is read before it is written")


class StepUndecided(Untraceable):
    """Tracing the first steps of the loop one by one may help."""

    def __init__(self, loop):
        super().__init__("control flow depends on the step of a loop")
        self.loop = loop  # its place in the reference's file


class PlacesUnfollowed(Untraceable):
    """A loop's steps read or write an array in other places than the one that each step is to write: tracing the array
    as a state that each step may change anywhere may help."""

    def __init__(self, loop):
        super().__init__("an array that a loop writes step by step is used in a way that is not followed")
        self.loop = loop


class Atom(NamedTuple):
    """A name, or an operation that polynomials do not cover: '(H-R)//stride', 'max(a, b)'."""

    text: str
    plain: bool  # a name or a call: needs no parentheses as a factor


Monomial = tuple  # of Atoms, sorted, with repetition


class SymInt:
    """A polynomial: monomial -> coefficient, no zero coefficients, at least one symbol."""

    __slots__ = ("terms",)
    parameters: set[str] = set()  # the names that are parameters, for messages
    steps: dict = {}  # the passes over loops by the names of their steps (trace_loops)
    lift: Callable = staticmethod(lambda value: value)  # into a traced scalar; set by trace_array

    def __init__(self, terms: dict):
        self.terms = terms

    @staticmethod
    def symbol(name: str) -> SymInt:
        return SymInt({(Atom(name, True),): 1})

    def __add__(self, other):
        return _arithmetic(self, other, _add, "__add__")

    def __radd__(self, other):
        return _arithmetic(other, self, _add, "__radd__")

    def __sub__(self, other):
        return _arithmetic(self, other, lambda a, b: _add(a, _scale(b, -1)), "__sub__")

    def __rsub__(self, other):
        return _arithmetic(other, self, lambda a, b: _add(a, _scale(b, -1)), "__rsub__")

    def __mul__(self, other):
        if isinstance(other, (tuple, list)):
            from strop.trace_creation import repeated

            return repeated(other, self)
        return _arithmetic(self, other, _multiply, "__mul__")

    def __rmul__(self, other):
        return self.__mul__(other)

    def __floordiv__(self, other):
        return _arithmetic(self, other, _floor_divide, "__floordiv__")

    def __rfloordiv__(self, other):
        return _arithmetic(other, self, _floor_divide, "__rfloordiv__")

    def __mod__(self, other):
        return _arithmetic(self, other, _remainder, "__mod__")

    def __rmod__(self, other):
        return _arithmetic(other, self, _remainder, "__rmod__")

    def __divmod__(self, other):
        return self // other, self % other

    def __truediv__(self, other):
        return SymInt.lift(self) / other

    def __rtruediv__(self, other):
        return other / SymInt.lift(self)

    def __pow__(self, other):
        if is_int(other) and 0 <= other <= 16:
            result = 1
            for _ in range(int(other)):
                result = result * self
            return result
        if is_int(other) and other < 0:  # a float, as in Python
            return (1.0 * SymInt.lift(self)) ** other
        return SymInt.lift(self) ** other

    def __rpow__(self, other):
        if is_int(other) and not all(factor > 0 for factor in self.terms.values()):
            other = float(other)
        return other ** SymInt.lift(self)

    def __matmul__(self, other):
        raise Untraceable("'@' needs arrays")

    def __neg__(self):
        return make(_scale(self.terms, -1))

    def __pos__(self):
        return self

    def __abs__(self):
        if all(factor > 0 for factor in self.terms.values()):
            return self
        if all(factor < 0 for factor in self.terms.values()):
            return -self
        return abs(SymInt.lift(self))

    def __round__(self, digits=None):
        if digits is not None and digits < 0:
            raise undecided(self)
        return self

    def __eq__(self, other):
        if isinstance(other, (SymInt, int, float)):
            return _compare(self, other, "__eq__", lambda d: d == 0, {0: False})
        return NotImplemented

    def __ne__(self, other):
        result = self.__eq__(other)
        if result is NotImplemented or not hasattr(result, "undecided"):
            return result if result is NotImplemented else not result
        other_way = ~result
        other_way.undecided, other_way.facts, other_way.denied = result.undecided, result.denied, result.facts
        return other_way

    def __lt__(self, other):
        return _compare(self, other, "__lt__", lambda d: d < 0, {1: False, -1: None})

    def __le__(self, other):
        return _compare(self, other, "__le__", lambda d: d <= 0, {-1: True})

    def __gt__(self, other):
        return _compare(self, other, "__gt__", lambda d: d > 0, {-1: False})

    def __ge__(self, other):
        return _compare(self, other, "__ge__", lambda d: d >= 0, {1: True, -1: None})

    def __hash__(self):  # of a set or a dictionary, which looks for what has the same
        raise undecided(self)

    def _undecidable(self, *_):
        raise undecided(self)

    __index__ = __int__ = __float__ = __bool__ = __trunc__ = __complex__ = _undecidable

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        lifted = [SymInt.lift(value) if isinstance(value, SymInt) else value for value in inputs]
        return getattr(ufunc, method)(*lifted, **options)

    def __str__(self):
        if steps_in(self):  # it is another text in each step
            raise undecided(self)
        return text(self)

    __repr__ = __str__

    # What code that takes any Python or NumPy number may ask for.
    shape = ()
    ndim = 0
    real = property(lambda self: self)

    def item(self):
        return self


def _add_bit_operations():
    """As of a traced number."""

    def make(name):
        return lambda self, *others: getattr(SymInt.lift(self), name)(*others)

    for name in ("and", "or", "xor", "lshift", "rshift"):
        for method in (f"__{name}__", f"__r{name}__"):
            setattr(SymInt, method, make(method))
    SymInt.__invert__ = make("__invert__")  # type: ignore[attr-defined]


_add_bit_operations()


def is_int(value) -> bool:
    return (
        hasattr(value, "__index__")
        and not isinstance(value, (SymInt, bool))
        and not getattr(value, "ndim", 0)
        and not hasattr(value, "weak")  # a traced scalar
    )


def make(terms: dict):
    """The int or SymInt of these terms."""
    terms = {monomial: factor for monomial, factor in terms.items() if factor != 0}
    if not terms:
        return 0
    if len(terms) == 1 and () in terms:
        return terms[()]
    return SymInt(terms)


def terms_of(value) -> dict:
    if isinstance(value, SymInt):
        return value.terms
    return {(): int(value)} if value else {}


def _arithmetic(a, b, operation, method):
    for value in (a, b):
        if isinstance(value, SymInt) or is_int(value) or isinstance(value, bool):
            continue
        if isinstance(value, (float, complex)):
            return getattr(SymInt.lift(a if isinstance(a, SymInt) else b), method)(
                b if isinstance(a, SymInt) else a
            )
        return NotImplemented
    return make(operation(terms_of(a), terms_of(b)))


def _add(a: dict, b: dict) -> dict:
    result = dict(a)
    for monomial, factor in b.items():
        result[monomial] = result.get(monomial, 0) + factor
    return result


def _scale(a: dict, factor: int) -> dict:
    return {monomial: factor * value for monomial, value in a.items()}


def _multiply(a: dict, b: dict) -> dict:
    result: dict = {}
    for left, x in a.items():
        for right, y in b.items():
            monomial = tuple(sorted(left + right))
            result[monomial] = result.get(monomial, 0) + x * y
    return result


def _without(monomial: Monomial, divisor: Monomial):
    """monomial / divisor, or None."""
    rest = list(monomial)
    for atom in divisor:
        if atom not in rest:
            return None
        rest.remove(atom)
    return tuple(rest)


def _split_divisible(a: dict, b: dict) -> tuple[dict, dict]:
    """a == quotient * b + rest, for a divisor b of one term; whole multiples only."""
    ((divisor, factor),) = b.items()
    quotient, rest = {}, {}
    for monomial, value in a.items():
        shorter = _without(monomial, divisor)
        if shorter is None or value // factor == 0 and value % factor:
            rest[monomial] = value
            continue
        quotient[shorter] = value // factor
        if value % factor:
            rest[monomial] = value % factor
    return quotient, rest


def _floor_divide(a: dict, b: dict) -> dict:
    if not b:
        raise Untraceable("division of a dimension by zero")
    if a == b:
        return {(): 1}
    if len(b) > 1:
        return {(Atom(f"{_wrapped(a)}//{_wrapped(b)}", False),): 1}
    quotient, rest = _split_divisible(a, b)
    rest = {monomial: value for monomial, value in rest.items() if value}
    ((divisor, factor),) = b.items()
    if not rest or (not divisor and set(rest) == {()} and 0 <= rest[()] < factor):
        return quotient
    atom = Atom(f"{_wrapped(rest)}//{_wrapped(b)}", False)
    return _add(quotient, {(atom,): 1})


def _remainder(a: dict, b: dict) -> dict:
    if len(b) != 1:
        return {(Atom(f"{_wrapped(a)}%{_wrapped(b)}", False),): 1}
    rest = {monomial: value for monomial, value in _split_divisible(a, b)[1].items() if value}
    ((divisor, _),) = b.items()
    if not rest or (not divisor and set(rest) == {()}):
        return rest
    return {(Atom(f"{_wrapped(rest)}%{_wrapped(b)}", False),): 1}


def exact_divide(a, b):
    """a / b where the caller knows that it is whole: cancels common factors of every term."""
    if not isinstance(a, SymInt) and not isinstance(b, SymInt):
        return a // b if b else 0
    if same(a, b):
        return 1
    for atom in sorted({atom for monomial in terms_of(b) for atom in monomial}):
        left = [_without(monomial, (atom,)) for monomial in terms_of(a)]
        right = [_without(monomial, (atom,)) for monomial in terms_of(b)]
        if all(m is not None for m in left + right):
            return exact_divide(
                make(dict(zip(left, terms_of(a).values()))), make(dict(zip(right, terms_of(b).values())))
            )
    return a // b


def show(shape) -> str:
    """(M, N)"""
    return "(" + ", ".join(text(extent) for extent in shape) + ("," if len(shape) == 1 else "") + ")"


def same(a, b) -> bool:
    """Whether two extents are equal for every value of the symbols."""
    return terms_of(a) == terms_of(b)


def looks_negative(value) -> bool:
    """Whether an index counts from the end, in each step of a loop: -p, 1-k; not H-R."""
    if not isinstance(value, SymInt):
        return value < 0
    for name in steps_in(value):
        ends = [with_step(value, name, place) for place in (0, SymInt.steps[name].count - 1)]
        if None not in ends:
            return all(looks_negative(end) for end in ends)
    return all(factor < 0 for monomial, factor in value.terms.items() if monomial)


EXTREMA: dict[str, list] = {}  # what min(a, b) and max(a, b) are made of, by their texts


def extremum(name: str, values):
    """min or max of extents."""
    values = list(values)
    result = values[0]
    for value in values[1:]:
        difference = result - value
        if not isinstance(difference, SymInt):
            result = value if (difference > 0) == (name == "min") else result
        else:
            inner = ", ".join(sorted((text(result), text(value))))
            EXTREMA[f"{name}({inner})"] = [result, value]
            result = SymInt({(Atom(f"{name}({inner})", True),): 1})
    return result


class _Symbols(dict):
    def __missing__(self, name):
        return SymInt.symbol(name)


def from_text(source: str):
    """What text() has written."""
    functions = {name: lambda *values, name=name: extremum(name, values) for name in ("min", "max")}
    return eval(source, {"__builtins__": {}}, _Symbols(functions))


def _compare(a, b, method, decide, by_sign):
    """Decides on a - b when that is a number or of one sign; `by_sign`: {1: when >= 0, -1: when <= 0}. Else a traced
    value, which cannot be a condition of Python's."""
    if isinstance(b, float):
        return _traced_comparison(a, b, method, a)
    if not isinstance(b, SymInt) and not is_int(b):
        return NotImplemented
    difference = a - b
    if not isinstance(difference, SymInt):
        return decide(difference)
    factors = difference.terms.values()
    constant = difference.terms.get((), 0)
    if all(factor > 0 for factor in factors):
        if constant > 0:
            return decide(1)
        if by_sign.get(1) is not None:
            return by_sign[1]
    if all(factor < 0 for factor in factors):
        if constant < 0:
            return decide(-1)
        if by_sign.get(-1) is not None:
            return by_sign[-1]
    known = _compare_ends(difference, decide)
    return _traced_comparison(a, b, method, difference) if known is None else known


def _traced_comparison(a, b, method, difference):
    result = getattr(SymInt.lift(a), method)(SymInt.lift(b))
    result.undecided = undecided(difference)
    if isinstance(difference, SymInt) and not isinstance(b, float):
        operator = OPERATORS[method]
        result.facts, result.denied = [(text(difference), operator)], [(text(difference), OPPOSITES[operator])]
    return result


OPERATORS = {"__eq__": "==", "__lt__": "<", "__le__": "<=", "__gt__": ">", "__ge__": ">="}
OPPOSITES = {"==": "!=", "!=": "==", "<": ">=", "<=": ">", ">": "<=", ">=": "<"}


def _compare_ends(difference: SymInt, decide) -> bool | None:
    """A difference that is linear in the step of a loop lies between that of the first and of the last step."""
    for name in steps_in(difference):
        slope = slope_of(difference, name)
        if slope is None:
            continue
        least, most = (with_step(difference, name, end) for end in (0, SymInt.steps[name].count - 1))
        if slope < 0:
            least, most = most, least
        if _sign(least) == 1:
            return decide(1)
        if _sign(most) == -1:
            return decide(-1)
    return None


def slope_of(value, name: str) -> int | None:
    """By how much it grows with each step, where that is a number."""
    values = [with_step(value, name, step) for step in (0, 1, 2)]
    if values[0] is None:
        return None
    slope = values[1] - values[0]
    return slope if not isinstance(slope, SymInt) and same(values[2] - values[1], slope) else None


def _sign(value) -> int | None:
    """For every value of the symbols."""
    if not isinstance(value, SymInt):
        return (value > 0) - (value < 0)
    constant = value.terms.get((), 0)
    for sign in (1, -1):
        if constant * sign > 0 and all(factor * sign > 0 for factor in value.terms.values()):
            return sign
    return None


def steps_in(value) -> list[str]:
    """The names of steps of loops that an extent mentions."""
    if not isinstance(value, SymInt) or not SymInt.steps:
        return []
    names = {name for monomial in value.terms for atom in monomial for name in _names(atom.text)}
    return sorted(names & SymInt.steps.keys())


def with_step(value, name: str, step):
    """`value` with this number for a step; None where it is no polynomial of it."""
    result = 0
    for monomial, factor in terms_of(value).items():
        term = factor
        for atom in monomial:
            if atom.text == name:
                term = term * step
            elif name in _names(atom.text):
                return None
            else:
                term = term * SymInt({(atom,): 1})
        result = result + term
    return result


def undecided(value: SymInt) -> Untraceable:
    steps = steps_in(value)
    if steps:
        return StepUndecided(SymInt.steps[steps[0]].loop)
    what = blame(value)
    fix = ": write its extent in `shape` as a number where it has one value" if what.startswith("dimension") else ""
    return Untraceable(f"control flow depends on {what}{fix}")


def blame(value: SymInt) -> str:
    names = sorted({name for monomial in value.terms for atom in monomial for name in _names(atom.text)})
    name = names[0] if names else text(value)
    return f"{'parameter' if name in SymInt.parameters else 'dimension'} '{name}'"


def _names(source: str) -> list[str]:
    cleaned = "".join(c if c.isalnum() or c == "_" else " " for c in source)
    return [word for word in cleaned.split() if not word[0].isdigit() and word not in ("min", "max")]


def _term_text(monomial: Monomial, factor: int) -> str:
    """Without its sign."""
    factor = abs(factor)
    if not monomial:
        return str(factor)
    if factor == 1 and len(monomial) == 1:
        return monomial[0].text
    parts = [str(factor)] if factor != 1 else []
    return "*".join(parts + [atom.text if atom.plain else f"({atom.text})" for atom in monomial])


def text(value) -> str:
    """In the syntax of core/expression.h; equal polynomials have equal texts."""
    ordered = sorted(terms_of(value).items(), key=lambda item: (not item[0], item[1] < 0, item[0]))
    if ordered and not ordered[0][0] == () and ordered[0][1] < 0 and terms_of(value).get((), 0) > 0:
        ordered = ordered[-1:] + ordered[:-1]
    result = ""
    for monomial, factor in ordered:
        body = _term_text(monomial, factor)
        if factor < 0 and not result and len(monomial) == 1 and not monomial[0].plain and factor == -1:
            body = f"({body})"
        result += ("-" if factor < 0 else "+" if result else "") + body
    return result or "0"


def _wrapped(terms: dict) -> str:
    """As an operand of // or %."""
    value = make(terms)
    simple = len(terms) == 1 and all(
        factor == 1 and len(monomial) == 1 and monomial[0].plain or (not monomial and factor >= 0)
        for monomial, factor in terms.items()
    )
    return text(value) if simple or not terms else f"({text(value)})"
