"""Branches by values or steps that are refused: what cannot be followed must never become a wrong graph."""

VALUES = "control flow depends on the values of an array"
ALIAS = "an array is changed that a branch has chosen among others"
VIEW = "an array is changed through another view of it"

# name: source of a function over an array (T, N), why it is refused
REFUSED = {
    "while_value": (
        """
def f(x):
    h = x[0].sum()
    while h > 1:
        h = h / 2
    return h
""",
        VALUES,
    ),
    "branch_of_another_shape": (
        """
def f(x):
    if x[0, 0] > 0:
        y = x[0]
    else:
        y = x
    return y
""",
        VALUES,
    ),
    "branch_returns_from_a_loop": (
        """
def f(x):
    for i in range(x.shape[0]):
        if x[i, 0] > 0.5:
            return x[i]
    return x[0]
""",
        VALUES,
    ),
    "branch_changes_what_a_view_shows": (
        """
def f(x):
    y = x.copy()
    v = y[0]
    if x[0, 0] > 0:
        y[0] = 5
    return y + v
""",
        VIEW,
    ),
    "branch_changes_a_view": (
        """
def f(x):
    y = x.copy()
    v = y[0]
    if x[0, 0] > 0:
        v += 5
    return y
""",
        VIEW,
    ),
    "branch_that_other_code_sees": (
        """
kept = {}
def g(h):
    kept[len(kept)] = h
def f(x):
    if x[0, 0] > 0:
        g(x)
    return x * len(kept)
""",
        VALUES,
    ),
    "branch_chooses_what_is_changed": (
        """
def f(x):
    a, b = x[0].copy(), x[1].copy()
    c = a if x[0, 0] > 0 else b
    c += 1
    return a, b
""",
        ALIAS,
    ),
    "branch_chooses_what_changes_later": (
        """
def f(x):
    a = x[0].copy()
    p = a if x[0, 0] > 0 else x[0]
    a += 1
    return p
""",
        VIEW,
    ),
    "branch_chooses_a_list": (
        """
def f(x):
    a, b = [x[0]], [x[0] * 2]
    c = a if x[0, 0] > 0 else b
    c[0] = c[0] * 9
    return a[0], b[0]
""",
        VALUES,
    ),
    "branch_appends_in_a_side": (
        """
def f(x):
    a = [x[0]]
    y = a.append(x[0]) if x[0, 0] > 0 else a.append(x[0] * 2)
    return a[-1]
""",
        VALUES,
    ),
    "operand_that_counts": (
        """
def f(x):
    c = [0]
    def g():
        c[0] += 1
        return True
    y = x * 2 if x[0, 0] > 0 and g() else x
    return y * c[0]
""",
        VALUES,
    ),
    "iterator_in_a_side": (
        """
def f(x):
    numbers = iter([1, 2, 3])
    y = x
    if x[0, 0] > 0:
        y = x * next(numbers)
    return y * next(numbers)
""",
        VALUES,
    ),
    "global_of_a_helper": (
        """
n = 0
def g():
    global n
    n += 1
def f(x):
    if x[0, 0] > 0:
        g()
    return x * n
""",
        VALUES,
    ),
    "exception_in_a_side": (
        """
def f(x):
    try:
        if x[0, 0] > 0:
            y = x / {}["nothing"]
        else:
            y = x
    except KeyError:
        y = -x
    return y
""",
        "an exception in a branch that depends on the values of an array",
    ),
    "exception_of_a_helper": (
        """
def g(x):
    if x[0, 0] > 0:
        raise ValueError
def f(x):
    try:
        g(x)
    except ValueError:
        return -x
    return x
""",
        VALUES,
    ),
    "from_the_end_to_the_front": ("def f(x):\n    return x[-2:1] * 2\n", "a slice that begins at the end and ends at the front"),
}
