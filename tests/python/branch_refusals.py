"""Branches by values or steps that are refused: what cannot be followed must never become a wrong graph."""

VALUES = "control flow depends on the values of an array"

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
        "a 'while' ends by the values of an array: let it count its steps too",
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
    "branch_returns_other_shapes": (
        """
def f(x):
    for i in range(x.shape[0]):
        if x[i, 0] > 0.5:
            return x[i]
    return x
""",
        VALUES,
    ),
    "branch_returns_a_growing_part": (
        """
def f(x):
    for i in range(x.shape[0]):
        if x[i, 0] > 0.5:
            return x[:i]
    return x
""",
        "'return' in a loop of what is neither a number nor an array of one shape",
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
    "from_the_end_to_the_front": (
        """
def f(x):
    return x[-2:1] * 2
""",
        "a slice that begins at the end and ends at the front",
    ),
    "new_list_alias": (
        """
def f(x):
    if x[0, 0] > 0:
        p = m = [x[0]]
    else:
        p = [x[1]]
        m = [x[0] * 2]
    m[0] = m[0] * 7
    return p[0]
""",
        VALUES,
    ),
    "dict_order_made": (
        """
def f(x):
    if x[0, 0] > 0:
        d = {"a": x[0], "b": x[1]}
    else:
        d = {"b": x[1], "a": x[0]}
    return list(d.values())[0]
""",
        VALUES,
    ),
    "set_ior": (
        """
def f(x):
    s = {1}
    if x[0, 0] > 0:
        s |= {2}
    return x * len(s)
""",
        VALUES,
    ),
    "iter_consumed": (
        """
def f(x):
    it = iter([1.0, 2.0, 3.0])
    a = 0.0
    if x[0, 0] > 0:
        a = it.__next__()
    return x * a + it.__next__()
""",
        VALUES,
    ),
    "iter_sum": (
        """
def f(x):
    it = iter([1.0, 2.0, 3.0])
    a = sum(it) if x[0, 0] > 0 else 0.0
    return x * a + sum(it)
""",
        VALUES,
    ),
    "try_clamp": (
        """
def f(x):
    v = x[0, 0]
    if x[0, 0] > 0:
        try:
            v = x[20, 0]
        except IndexError:
            v = 0.0
    return x * v
""",
        "'try' around an index that depends on a branch",
    ),
    "try_in_branch": (
        """
def f(x):
    y = x
    if x[0, 0] > 0:
        try:
            y = x[:, 20]
        except Exception:
            y = x[:, 0]
    else:
        y = x[:, 1]
    return y
""",
        "'try' around an index that depends on a branch",
    ),
    "object_alias": (
        """
def f(x):
    class S:
        def __init__(self, v): self.v = v
    if x[0, 0] > 0:
        s = S(x[0])
        r = s
    else:
        s, r = S(x[1]), S(x[2])
    s.v = s.v * 9
    return r.v
""",
        VALUES,
    ),
    "isinstance_chosen": (
        """
def f(x):
    v = 1.0 if x[0, 0] > 0 else x[0, 0]
    return x * (2 if isinstance(v, np.floating) else 3)
""",
        "isinstance() of what a branch has chosen among different types",
    ),
    "isinstance_int_chosen": (
        """
def f(x):
    v = 3 if x[0, 0] > 0 else 2.5
    return x * (2 if isinstance(v, int) else 3)
""",
        "isinstance() of what a branch has chosen among different types",
    ),
    "list_chosen": (
        """
def f(x):
    l, k = [x[0]], [x[1]]
    m = l if x[0, 0] > 0 else k
    m[0] = m[0] * 5
    return l[0], k[0]
""",
        VALUES,
    ),
    "object_chosen": (
        """
def f(x):
    class S:
        pass
    p, q = S(), S()
    p.v, q.v = x[0], x[1]
    r = q if x[0, 0] > 0 else p
    r.v = r.v * 3
    return p.v, q.v
""",
        VALUES,
    ),
    "side_of_ternary_appends": (
        """
def f(x):
    l = [x[0]]
    l.append(x[1]) if x[0, 0] > 0 else l.append(x[2])
    return l[-1]
""",
        VALUES,
    ),
    "side_of_ternary_counts": (
        """
def f(x):
    c = [0]
    def f(v):
        c[0] += 1
        return v
    y = f(x[0]) if x[0, 0] > 0 else x[1]
    return y * c[0]
""",
        VALUES,
    ),
    "and_operand_changes_array": (
        """
def f(x):
    y = x.copy()
    def f():
        y[0] = 0
        return x[1, 1] > 0
    if x[0, 0] > 0 and f():
        y[1] = 5
    return y
""",
        VALUES,
    ),
    "or_operand_counts": (
        """
def f(x):
    c = [0]
    def f():
        c[0] += 1
        return x[1, 1] > 0
    k = 0
    if x[0, 0] > 0 or f():
        k = 1
    return x * k + c[0]
""",
        VALUES,
    ),
    "and_operand_pops": (
        """
def f(x):
    q = [x[0, 1], x[0, 2]]
    s = x[0] * 0
    if x[0, 0] > 0 and q.pop() > 0:
        s = s + 1
    return s + q[-1]
""",
        VALUES,
    ),
    "attribute_of_function": (
        """
def f(x):
    def f(): pass
    f.n = 0
    if x[0, 0] > 0:
        f.n = 1
    return x * f.n
""",
        VALUES,
    ),
    "keyword_default": (
        """
def f(x):
    def add(v, *, acc=[0]):
        acc[0] += 1
        return v * acc[0]
    y = x
    if x[0, 0] > 0:
        y = add(x)
    return add(y)
""",
        VALUES,
    ),
    "iterator": (
        """
def f(x):
    it = iter([1.0, 2.0, 3.0])
    y = x
    if x[0, 0] > 0:
        y = x * next(it)
    return y * next(it)
""",
        VALUES,
    ),
    "generator": (
        """
def f(x):
    def g():
        k = 1
        while True:
            yield k
            k += 1
    it = g()
    y = x
    if x[0, 0] > 0:
        y = x * next(it)
    return y * next(it)
""",
        VALUES,
    ),
    "bytearray": (
        """
def f(x):
    b = bytearray([1, 2])
    if x[0, 0] > 0:
        b[0] = 3
    return x * b[0]
""",
        VALUES,
    ),
    "global_in_helper": (
        """
def f(x):
    global COUNT
    COUNT = 0
    def bump():
        global COUNT
        COUNT += 1
    if x[0, 0] > 0:
        bump()
    return x * COUNT
""",
        VALUES,
    ),
    "nonlocal_in_call": (
        """
def f(x):
    n = 0
    class C:
        def __call__(self, v):
            nonlocal n
            n += 1
            return v
    c = C()
    y = x
    if x[0, 0] > 0:
        y = c(x)
    return y * (n + 1)
""",
        VALUES,
    ),
    "bound_method": (
        """
def f(x):
    l = [x[0]]
    def helper(push, v):
        if v[0] > 0:
            push(v * 2)
    helper(l.append, x[1])
    return l[-1]
""",
        VALUES,
    ),
    "raise_in_side": (
        """
def f(x):
    try:
        if x[0, 0] > 0:
            y = x * 2
        else:
            raise ValueError("neg")
    except ValueError:
        y = -x
    return y
""",
        VALUES,
    ),
    "raise_in_helper": (
        """
def f(x):
    def check(v):
        if v < 0:
            raise ValueError("neg")
        return v
    try:
        y = x * check(x[0, 0])
    except ValueError:
        y = x * 0
    return y
""",
        VALUES,
    ),
    "index_error": (
        """
def f(x):
    out = np.zeros_like(x)
    for t in range(x.shape[0]):
        try:
            out[t] = x[t + 1]
        except IndexError:
            out[t] = x[0]
    return out
""",
        "'try' in a loop of varying length",
    ),
    "key_error_in_side": (
        """
def f(x):
    d = {"a": x[0]}
    try:
        if x[0, 0] > 0:
            y = d["zz"]
        else:
            y = d["a"]
    except KeyError:
        y = x[1]
    return y
""",
        "an exception in a branch that depends on the values of an array",
    ),
    "swapped_objects_in_list": (
        """
def f(x):
    a, b = [x[0]], [x[1]]
    ps = [a, b]
    if x[0, 0] > 0:
        ps[0], ps[1] = ps[1], ps[0]
    ps[0][0] = ps[0][0] + 100
    return a[0], b[0]
""",
        VALUES,
    ),
}
