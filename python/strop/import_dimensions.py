"""Which extents of an imported module's inputs vary, and what they are called."""

from __future__ import annotations

import random

import torch

from strop import import_torch
from strop.import_names import SEED, Refusal

NAMES = "it gives for each tensor of get_inputs() a list of names and numbers: [['B', 'T', 64], ['T', '2*T']]"
SHORT = 4  # elements along an axis, other than the first, that stay as many
MOST_TIMES = 64  # extents that are multiples of more are fixed
LETTERS = {1: "N", 2: "MN", 3: "BMN", 4: "BCHW", 5: "BCDHW"}


def parts(extent: int | str) -> tuple[int, str]:
    """2*H: (2, "H"); H: (1, "H"); 7: (7, "")."""
    if isinstance(extent, int):
        return extent, ""
    times, star, name = extent.replace(" ", "").partition("*")
    return (int(times), name) if star and times.isdecimal() and int(times) > 0 else (1, extent)


def multiple(times: int, name: str) -> str:
    return name if times == 1 else f"{times}*{name}"


class Dimensions:
    """The problem's dimensions: a name and the file's value for each extent that may vary by itself.

    `shapes`: of each input, an extent is a number, a dimension's name, or a multiple of one ("2*H")."""

    def __init__(self, imported, placeholders: dict, cases=None, called: dict | None = None):
        """`called`: for each input the file's own names of its extents; those of one name are one dimension."""
        self.imported, self.cases = imported, cases
        self.values: dict[str, int] = {}
        self.lows: dict[str, int] = {}  # where the range begins, if not at an eighth
        self.shapes: dict[str, list] = {}
        for name, value in imported.inputs.items():
            extents = zip(placeholders[name].meta["val"].shape, value.shape)
            self.shapes[name] = [self.extent(extent, size) for extent, size in extents]
        self.name_all(self.join(called or {}))
        if not cases:
            self.fix_what_is_short()
        self.fix_what_may_be_indexed()
        self.drop_what_does_not_vary()
        self.drop_what_only_computing_refuses()
        self.raise_what_is_too_low_together()

    # ---- extents ----

    def extent(self, extent, size: int) -> int | str:
        """A number, PyTorch's symbol, or a multiple of it."""
        if import_torch.is_fixed(extent):
            return size
        times, symbol = extent.node.expr.as_coeff_Mul()
        if not symbol.is_symbol or not times.is_Integer or times < 1:
            return size
        self.values[str(symbol)] = size // int(times)
        return multiple(int(times), str(symbol))

    @staticmethod
    def size(extent: int | str, dims: dict) -> int:
        times, name = parts(extent)
        return times * dims[name] if name else times

    def change(self, name: str, extent: int | str):
        """What `name` stands for from now on."""
        size, (times, new) = self.values.pop(name), parts(extent)
        if new:
            self.values[new] = size // times
        for shape in self.shapes.values():
            for axis, (factor, one) in enumerate(map(parts, shape)):
                if one == name:
                    shape[axis] = multiple(factor * times, new) if new else factor * times

    def fix(self, name: str):
        self.lows.pop(name, None)
        self.change(name, self.values[name])

    # ---- names ----

    def join(self, called: dict) -> dict[str, str]:
        """Symbols and what the file calls them. Those of one name become one, or a number where one of them is."""
        wanted: dict[str, str] = {}
        places = [(key, axis, *parts(extent)) for key, extents in called.items()
                  for axis, extent in enumerate(extents) if extent is not None]
        for key, axis, _, name in places:
            if not name and (symbol := parts(self.shapes[key][axis])[1]):
                self.fix(symbol)
        for name in dict.fromkeys(name for _, _, _, name in places if name):
            own = [(times, self.shapes[key][axis]) for key, axis, times, one in places if one == name]
            sizes = sorted({self.size(extent, self.values) / times for times, extent in own})
            if len(sizes) > 1 or not sizes[0].is_integer():
                raise Refusal(f"{self.imported.path}: get_dimensions() gives extents of one name, '{name}', which would be "
                              f"{' and '.join(f'{size:g}' for size in sizes[:2])}", NAMES)
            self.join_extents(name, own, wanted)
        return wanted

    def join_extents(self, name: str, own: list, wanted: dict[str, str]):
        """`own`: how many times the dimension each is, and the extent as it was found."""
        symbols = list(dict.fromkeys(symbol for _, extent in own if (symbol := parts(extent)[1])))
        if any(not parts(extent)[1] or times % parts(extent)[0] for times, extent in own):
            for symbol in symbols:  # a number, or a multiple that the module takes for another one
                self.fix(symbol)
            return
        first = next((symbol for symbol in symbols if symbol in wanted), f"@{name}")
        if first not in wanted:
            wanted[first] = name
        for symbol in symbols:
            times = next(times // parts(extent)[0] for times, extent in own if parts(extent)[1] == symbol)
            if symbol != first:
                self.change(symbol, multiple(times, first))

    def name_all(self, wanted: dict[str, str]):
        symbols = set(self.values)
        for shape in self.shapes.values():
            letters = LETTERS.get(len(shape), "")
            for axis, extent in enumerate(shape):
                symbol = parts(extent)[1]
                if symbol in symbols:
                    symbols.remove(symbol)
                    usual = letters[axis] if letters else f"N{axis}"
                    self.change(symbol, self.imported.names.take(wanted.get(symbol, usual)))

    # ---- which of them vary ----

    def fix_what_is_short(self):
        """Three coordinates of a point, or four of a box, are what the data is, and no size that varies."""
        first = {parts(shape[0])[1] for shape in self.shapes.values() if shape}
        for name, size in list(self.values.items()):
            if size <= SHORT and name not in first:
                self.fix(name)

    def fix_what_may_be_indexed(self):
        """Indices are drawn below a fixed limit, so only extents that they have themselves may shrink."""
        whole = {n for n, v in self.imported.inputs.items() if v.dtype != torch.bool and not v.is_floating_point()}
        kept = {parts(extent)[1] for name in whole for extent in self.shapes[name]}
        for name in list(self.values) if whole else []:
            if name not in kept:
                self.fix(name)

    def shapes_at(self, dims: dict) -> dict:
        return {name: [self.size(extent, {**self.values, **dims}) for extent in shape] for name, shape in self.shapes.items()}

    def low(self, name) -> int:
        return self.lows.get(name, max(1, self.values[name] // 8))

    def include(self, points: dict):
        """The range reaches from the smallest of them to the largest."""
        for name, size in self.values.items():
            given = [point[name] for point in points.values()]
            self.lows[name] = min([self.low(name), *given])
            self.values[name] = max([size, *given])

    def varies(self, name: str) -> bool:
        size = self.values[name]
        tried = {self.low(name), max(1, size // 4), max(1, size // 2), max(1, size - 1), max(1, size // 3)}
        return all(self.imported.works_at(self.shapes_at({name: value})) for value in tried)

    def varies_in_steps(self, name: str) -> bool:
        """The same by the smallest divisor of the file's size, as of images that are halved some times. What is left is
        a multiple of another dimension."""
        size = self.values[name]
        for times in range(2, min(MOST_TIMES, size // 2) + 1):
            if size % times or not self.imported.works_at(self.shapes_at({name: size - times})):
                continue
            new = self.imported.names.take(f"{name}_by_{times}")
            before = {key: list(shape) for key, shape in self.shapes.items()}
            self.change(name, multiple(times, new))
            if self.varies(new):
                return True
            self.imported.names.taken.remove(new)
            self.values[name] = times * self.values.pop(new)
            self.shapes = before
        return False

    def drop_what_does_not_vary(self):
        for name in list(self.values):
            if not self.varies(name) and not self.varies_in_steps(name):
                self.fix(name)
        draw = random.Random(SEED)
        for _ in range(4):
            dims = {name: draw.randint(self.low(name), size) for name, size in self.values.items()}
            if self.values and not self.imported.works_at(self.shapes_at(dims)):
                for name in list(self.values)[1:]:
                    self.fix(name)

    def drop_what_only_computing_refuses(self):
        """At small extents, which cost little; one by one only where that fails."""
        draw = random.Random(SEED)

        def small():
            sizes = {name: min(size, 2 * self.low(name) + 1) for name, size in self.values.items()}
            return {name: draw.randint(self.low(name), most) for name, most in sizes.items()}

        def fails():
            return self.values and not all(self.imported.runs_at(self.shapes_at(small())) for _ in range(2))

        if fails():
            for name in list(self.values):
                if not self.imported.runs_at(self.shapes_at({name: self.low(name)})):
                    self.fix(name)
        if fails():
            for name in list(self.values):
                self.fix(name)

    def raise_what_is_too_low_together(self):
        """One value of each channel has no variance, which batch norm in training mode refuses."""
        lowest = {name: self.low(name) for name in self.values}
        if not lowest or self.imported.runs_at(self.shapes_at(lowest)):
            return
        for name, low in lowest.items():
            if low < self.values[name] and self.imported.runs_at(self.shapes_at({**lowest, name: low + 1})):
                self.lows[name] = low + 1
                return

    def dims_at(self, shapes) -> dict | None:
        """None: no point."""
        dims: dict[str, int] = {}
        for shape, sizes in zip(self.shapes.values(), shapes):
            for extent, size in zip(shape, sizes):
                times, name = parts(extent)
                if name and size % times == 0:
                    dims.setdefault(name, size // times)
                if (times * dims.get(name, 0) if name else times) != size:
                    return None
        return dims

    def points_at(self, cases: dict) -> tuple[dict, list]:
        """Of shapes of all inputs by label: the points that they are, and the labels of those that are none: an extent
        that does not vary has another size there, or one that varies has two."""
        points: dict[str, dict] = {}
        other = []
        for label, shapes in cases.items():
            dims = self.dims_at(shapes)
            if dims is None:
                other.append(label)
            elif dims not in points.values():
                points[label] = dims
        self.include(points)
        return points, other

    def points(self) -> dict:
        """The file's own shape, and half and a quarter of each extent; or what the cases say."""
        if self.cases:
            return self.cases(self)
        points = {"file": dict(self.values)}
        for label, part in (("half", 2), ("quarter", 4)):
            dims = {name: max(self.low(name), size // part) for name, size in self.values.items()}
            if dims not in points.values() and self.imported.works_at(self.shapes_at(dims)):
                points[label] = dims
        return points
