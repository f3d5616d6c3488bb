"""Functions that are drawn: arrays that are changed through views, in loops and in branches."""

import random

# Views of a matrix, with the rank that they have; and of a vector.
OF_MATRICES = {"[0]": 1, "[1]": 1, "[-1]": 1, "[:, 0]": 1, "[:, -1]": 1, "[1, 1:]": 1, ".ravel()": 1, ".reshape(-1)": 1,
               ".T[0]": 1, "[1:][0]": 1, "[:, 1:][0]": 1, "[1:]": 2, "[:-1]": 2, "[:, 1:]": 2, "[1:, 1:]": 2, "[::2]": 2,
               "[:, ::2]": 2, "[::-1]": 2, "[None, 1]": 2, ".T": 2, "[:2]": 2, "[...]": 2, "[1:3]": 2, ".T[1:]": 2,
               "[[0, 1]]": 2}
OF_VECTORS = ("[1:]", "[::-1]", "[:-1]", "[:2]", "[...]", "[::2]", "[1:][:-1]")
STEPS = ("y[t - 1]", "x[t]", "x[t] * 2", "0.5 * y[t - 1] + x[t]")


class Program:
    """Lines of a function f(x) of a matrix; the names that it has, with their ranks, are what it returns."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.names = {"y": 2}
        self.lines = [f"y = {self.one('x.copy()', 'x * 2', 'np.zeros_like(x) + x', 'np.ones_like(x)')}"]
        if self.random.random() < 0.3:
            self.names["z"] = 2
            self.lines.append("z = x.copy()")
        for _ in range(self.random.randint(3, 7)):
            self.lines += self.statement(self.names, self.block)
        self.lines.append("return " + ", ".join(self.names))

    def text(self):
        return "import numpy as np\n\n\ndef f(x):\n" + "".join(f"    {line}\n" for line in self.lines)

    def one(self, *of):
        return self.random.choice(of)

    def view(self, names):
        name = self.one(*names)
        if names[name] == 2:
            key = self.one(*OF_MATRICES)
            return name + key, OF_MATRICES[key]
        return name + self.one(*OF_VECTORS), 1

    def number(self, names):
        name = self.one(*names)
        return self.one(f"{name}.sum()", f"{name}.max()", f"{name}.mean()", f"{name}[0]{'[1]' * (names[name] - 1)}", "2", "0.5")

    def statement(self, names, block):
        name, number, (view, rank) = self.one(*names), self.number(names), self.view(names)
        kind = self.one(*(["name"] * 5), *(["change"] * 5), *(["change a view"] * 3), *(["assign"] * 2), "out", "mask", "copy",
                        *(["block"] * 3))
        if kind in ("name", "copy"):
            new = f"v{len(names)}"
            names[new] = rank if kind == "name" else names[name]
            return [f"{new} = {view if kind == 'name' else name + '.copy()'}"]
        if kind == "change":
            return [f"{name} {self.one('+=', '*=', '-=')} {number}"]
        if kind == "change a view":  # a call and an attribute cannot be assigned to
            return [f"{view} *= {number}" if view.endswith("]") else f"{view}[...] = {number}"]
        if kind == "assign":
            return [f"{name}{self.one('[0]', '[-1]', '[:]', '[1:]', '[::2]')} = {number}"]
        if kind == "out":
            return [f"np.{self.one('tanh', 'sin', 'negative')}({name}, out={name})"]
        if kind == "mask":
            return [f"{name}[{name} > 0] = {self.one('0', '1')}"]
        return block(names)

    def block(self, names):
        inner, body = dict(names), []
        kind = self.one("for", "rows", "twice", "if")
        if kind == "rows":
            head = f"for row in {self.one(*(name for name in names if names[name] == 2))}:"
            inner["row"] = 1
        elif kind == "for":
            head = "for t in range(1, x.shape[0]):"
            body.append(f"y[t] {self.one('+=', '*=', '=')} {self.one(*STEPS)}")
            if self.random.random() < 0.5:
                body.append("cur = y[t]")
                inner["cur"] = 1
        else:
            head = "for k in range(2):" if kind == "twice" else "if x[0, 0] > 0:"
        for _ in range(self.random.randint(1, 2)):
            body += self.statement(inner, lambda _: [])
        return [head, *(f"    {line}" for line in body or ["pass"])]
