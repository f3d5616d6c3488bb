"""Loops of varying length that are refused: what cannot be followed must never become a wrong graph."""

KEPT = "a value of a loop is kept where it cannot be followed"
LIST = "a list that a loop makes is used in a way that is not followed"
VIEW = "an array is changed through another view of it"
EXTENT = "an extent that changes with each step"
STEP = "control flow depends on the step of a loop"
PLACES = "an array that a loop writes step by step is used in a way that is not followed"
DIMENSION = "control flow depends on dimension 'T'"

# name: source of a function over an array (T, N), why it is refused
REFUSED = {
    "closure_counter": (
        """
def f(x):
    k = 0
    def g(h):
        nonlocal k
        k += 1
        return h * k
    h = x[0]
    for row in x:
        h = g(h) + row
    return h
""",
        KEPT,
    ),
    "global_counter": (
        """
n = 0
def g(h):
    global n
    n += 1
    return h * n
def f(x):
    h = x[0]
    for row in x:
        h = g(h) + row
    return h
""",
        KEPT,
    ),
    "attr_external": (
        """
class A: pass
a = A()
def g(h):
    a.v = h
def f(x):
    h = x[0]
    for row in x:
        h = h*0.5 + row
        g(h)
    return a.v
""",
        KEPT,
    ),
    "alias_inplace_then_rebind": (
        """
def f(x):
    h = x[0] * 1
    g = h
    for row in x:
        h += row
        h = h * 0.5
    return h, g
""",
        KEPT,
    ),
    "list_alias": (
        """
def f(x):
    out = []
    other = out
    for row in x:
        out.append(row * 2)
    return np.stack(other)
""",
        KEPT,
    ),
    "list_of_caller": (
        """
def g(x, out):
    for row in x:
        out.append(row * 2)
def f(x):
    out = []
    g(x, out)
    return np.stack(out)
""",
        KEPT,
    ),
    "list_both_levels": (
        """
def f(x):
    out = []
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            out.append(x[i, j])
    return np.array(out)
""",
        KEPT,
    ),
    "np_random": (
        """
def f(x):
    h = x[0]
    for row in x:
        h = h + np.random.rand()
    return h
""",
        KEPT,
    ),
    "alias_list_inplace": (
        """
def f(x):
    h = x[0] * 1
    out = []
    for row in x:
        h += row
        out.append(h)
    return np.stack(out)
""",
        KEPT,
    ),
    "alias_list_rebind": (
        """
def f(x):
    h = x[0] * 1
    out = []
    for row in x:
        h += row
        h = h * 0.5
        out.append(h)
    return np.stack(out)
""",
        KEPT,
    ),
    "alias_prev2": (
        """
def f(x):
    h = x[0] * 1
    g = x[0] * 2
    s = x[0] * 0
    for row in x:
        h += row
        s = s + g
        h = h * 0.5
        g = h
    return s
""",
        KEPT,
    ),
    "hidden_alias": (
        """
def f(x):
    h = x[0] * 1
    g = h
    def see(): return g * 2
    s = x[0] * 0
    for row in x:
        h += row
        s = s + see()
        h = h * 0.5
    return s
""",
        KEPT,
    ),
    "counter_after": (
        """
def f(x):
    c = [0]
    def g():
        c[0] += 1
    h = x[0]
    for row in x:
        g()
        h = h + row
    return h * c[0]
""",
        KEPT,
    ),
    "ndarray_counter_after": (
        """
def f(x):
    c = np.array([0, 0])
    h = x[0]
    for row in x:
        c[0] += 1
        h = h + row
    return h * c[0]
""",
        KEPT,
    ),
    "nonlocal_after": (
        """
def f(x):
    k = 0
    def g():
        nonlocal k
        k += 1
    h = x[0]
    for row in x:
        g()
        h = h + row
    return h * k
""",
        KEPT,
    ),
    "global_after": (
        """
k = 0
def g():
    global k
    k += 1
def f(x):
    h = x[0]
    for row in x:
        g()
        h = h + row
    return h * k
""",
        KEPT,
    ),
    "class_attr": (
        """
class A:
    n = 0
def f(x):
    h = x[0]
    for row in x:
        A.n += 1
        h = h + row
    return h * A.n
""",
        KEPT,
    ),
    "hidden_iter": (
        """
def f(x):
    c = iter([1.0] * 50 + [3])
    h = x[0]
    for row in x:
        h = h + row * next(c)
    return h * next(c)
""",
        KEPT,
    ),
    "comp_state": (
        """
def f(x):
    h = [x[0]]
    def step(r):
        h[0] = h[0] * 0.5 + r
        return h[0]
    return np.stack([step(r) for r in x])
""",
        KEPT,
    ),
    "closure_kept": (
        """
keep = []
def f(x):
    h = x[0]
    for row in x:
        h = h + row
        keep.append(h)
    return keep[-1]
""",
        LIST,
    ),
    "break": (
        """
def f(x):
    h = x[0]
    for t in range(x.shape[0]):
        h = h + x[t]
        break
    return h
""",
        "'break' in a loop of varying length",
    ),
    "return": (
        """
def f(x):
    for t in range(x.shape[0]):
        return x[t]
""",
        "'return' in a loop of varying length",
    ),
    "yield": (
        """
def g(x):
    for t in range(x.shape[0]):
        yield x[t]
def f(x):
    return np.stack(list(g(x)))
""",
        "'yield' in a loop of varying length",
    ),
    "wrap_back2": (
        """
def f(x):
    y = x.copy()
    T = x.shape[0]
    for t in range(T):
        y[t] = y[T-2-t] * 2
    return y
""",
        STEP,
    ),
    "growing": (
        """
def f(x):
    h = x[:1]
    for row in x:
        h = np.concatenate([h, row[None]])
    return h
""",
        "a state of a loop that never settles",
    ),
    "return_from_with": (
        """
def f(x):
    for row in x:
        with np.errstate(all="ignore"):
            if row.sum() > 0:
                return row
    return x[0]
""",
        "control flow depends on the values of an array",
    ),
    "try_leave": (
        """
def f(x):
    h = x[0]
    try:
        for row in x:
            h = h + row
            raise ValueError
    except ValueError:
        pass
    return h
""",
        "a loop is left before its end",
    ),
    "while_loop": (
        """
def f(x):
    t = 1
    while t < x.shape[0]:
        t += t
    return x
""",
        DIMENSION,
    ),
    "preallocated": (
        """
def f(x):
    out = [None] * x.shape[0]
    for t in range(x.shape[0]):
        out[t] = x[t]
    return np.stack(out)
""",
        DIMENSION,
    ),
    "zip_mismatch": (
        """
def f(x):
    h = x[0]
    for a, b in zip(x, x[1:]):
        h = a * b
    return h
""",
        "a loop over arrays of different extents",
    ),
    "one_hot": (
        """
def f(x):
    h = x[0] * 0
    for t in range(x.shape[0]):
        e = np.zeros(x.shape[0], dtype=x.dtype)
        e[t] = 1
        h = h + (e[:, None] * x).sum(axis=0)
    return h
""",
        "a place that changes with each step of an array made in this step",
    ),
    "empty_state": (
        """
def f(x):
    y = np.empty_like(x)
    for t in range(1, x.shape[0]):
        y[t] = y[t-1] + x[t]
    return y
""",
        "np.empty is read before it is written",
    ),
    "both_ends_of_a_list": (
        """
def f(x):
    out = []
    for row in x:
        out.insert(0, row)
        out.append(row)
    return np.stack(out)
""",
        LIST,
    ),
    "member_of_a_set": (
        """
def f(x):
    h = x[0] * 0
    for t in range(x.shape[0]):
        h = h + x[t] * (2 if t in {2, 50} else 1)
    return h
""",
        STEP,
    ),
    "text_of_a_step": (
        """
def f(x):
    h = x[0] * 0
    for t in range(x.shape[0]):
        h = h + x[t] * len(str(t))
    return h
""",
        STEP,
    ),
    "member_of_a_set_without_a_loop": (
        """
def f(x):
    return x * (2 if x.shape[0] in {2, 50} else 1)
""",
        DIMENSION,
    ),
    "index_error": (
        """
def f(x):
    y = np.zeros_like(x)
    for t in range(x.shape[0]):
        try:
            y[t] = x[t + 1]
        except IndexError:
            y[t] = 0
    return y
""",
        "'try' in a loop of varying length",
    ),
    "view_by_broadcasting": (
        """
def f(x):
    y = x.copy()
    v = np.broadcast_to(y, (2, *y.shape))
    y += 1
    return v * 2
""",
        VIEW,
    ),
}
