"""Arrays that a branch chooses among others, and that are changed afterwards: in NumPy they are one of the others."""

ALIAS = "an array is changed that a branch has chosen among others"
VIEW = "an array is changed through another view of it"
LEFT = "an array is changed that is perhaps a part of another, which a loop has named"
KEPT = "a value of a loop is kept where it cannot be followed"

# name: source of a function over an array (T, N), why it is refused
REFUSED = {
    "list_of_views": (
        """
def f(x):
    y = x.copy()
    kept = []
    for t in range(x.shape[0]):
        kept.append(y[t])
    y *= 2
    return y, kept[0]
""",
        VIEW,
    ),
    "list_of_views_by_a_comprehension": (
        """
def f(x):
    y = x.copy()
    kept = [row for row in y]
    y *= 2
    return y, kept[0]
""",
        VIEW,
    ),
    "view_of_a_list_of_views": (
        """
def f(x):
    y = x.copy()
    rows = list(y)
    rows[0] *= 2
    return y
""",
        LEFT,
    ),
    "row_changed_after_the_loop": (
        """
def f(x):
    y = x.copy()
    s = 0
    for row in y:
        s = s + row
    row *= 3
    return y, s
""",
        LEFT,
    ),
    "row_read_after_the_loop": (
        """
def f(x):
    y = x.copy()
    s = 0
    for row in y:
        s = s + row
    y *= 3
    return row, s
""",
        VIEW,
    ),
    "last_entry_changed_after_the_loop": (
        """
def f(x):
    kept = []
    for t in range(x.shape[0]):
        row = x[t] * 2
        kept.append(row)
    row += 1
    return np.array(kept)
""",
        LEFT,
    ),
    "carried_view_changed": (
        """
def f(x):
    y = x.copy()
    prev = y[0]
    for t in range(1, x.shape[0]):
        prev += x[t]
        prev = y[t]
    return y
""",
        KEPT,
    ),
    "copy_in_another_order": (
        """
def f(x):
    y = x.T * 2
    z = y.ravel()
    z[0] = 100
    return y
""",
        VIEW,
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
    "new_alias_one_side": (
        """
def f(x):
    if x[0, 0] > 0:
        p = m = x * 2
    else:
        p = x * 3
        m = x * 4
    m += 1
    return p
""",
        ALIAS,
    ),
    "new_view_one_side": (
        """
def f(x):
    if x[0, 0] > 0:
        m = x * 2
        p = m[0]
    else:
        m = x * 4
        p = x[0] * 3
    m += 1
    return p
""",
        ALIAS,
    ),
    "tuple_alias": (
        """
def f(x):
    def f():
        u = x * 2
        return u, u
    p, m = f() if x[0, 0] > 0 else (x * 3, x * 4)
    m += 1
    return p
""",
        ALIAS,
    ),
    "loop_alias_then": (
        """
def f(x):
    best = x[0] * 1
    cur = x[0] * 0
    for t in range(x.shape[0]):
        cur += x[t]
        if cur[0] > best[0]:
            best = cur
    return best
""",
        KEPT,
    ),
    "walrus_alias": (
        """
def f(x):
    y = x.copy()
    v = (y if x[0, 0] > 0 else x)[0]
    y[0] = 3
    return v
""",
        VIEW,
    ),
    "out_arg": (
        """
def f(x):
    y = x.copy()
    v = y if x[0, 0] > 0 else x * 2
    w = v.T
    y += 1
    return w
""",
        VIEW,
    ),
    "array_in_list_alias": (
        """
def f(x):
    if x[0, 0] > 0:
        m = x * 2
        l = [m]
    else:
        m = x * 3
        l = [x * 5]
    m += 1
    return l[0]
""",
        ALIAS,
    ),
    "chosen_before_loop": (
        """
def f(x):
    y = x[0] * 1
    p = y if x[0, 0] > 0 else x[0] * 2
    s = 0.0
    for t in range(x.shape[0]):
        s = s + p[0]
        y += x[t]
    return s
""",
        "an array is changed through another view of it",
    ),
    "loop_alias_min": (
        """
def f(x):
    best = x[0] * 1
    cur = x[0] * 0
    for t in range(x.shape[0]):
        cur += x[t]
        if x[t, 0] > 0:
            best = cur
    return best
""",
        KEPT,
    ),
    "loop_alias_copy": (
        """
def f(x):
    best = x[0] * 1
    cur = x[0] * 0
    for t in range(x.shape[0]):
        cur += x[t]
        best = cur if x[t, 0] > 0 else best
    return best
""",
        KEPT,
    ),
    "loop_view_of_whole": (
        """
def f(x):
    best = x[0] * 1
    cur = x[:2] * 0
    for t in range(x.shape[0]):
        cur += x[t]
        if x[t, 0] > 0:
            best = cur[0]
    return best
""",
        KEPT,
    ),
    "alias_in_place": (
        """
def f(x):
    a = x.copy()
    b = x * 2
    c = a if x[0, 0] > 0 else b
    c += 1
    return a, b
""",
        ALIAS,
    ),
    "alias_read_after_change": (
        """
def f(x):
    a = x[0].copy()
    p = a if x[1, 0] > 0 else x[2]
    a += 1
    return p
""",
        VIEW,
    ),
    "view_chosen": (
        """
def f(x):
    y = x.copy()
    v = y[0]
    if x[0, 0] > 0:
        v = y[1]
    v += 1
    return y
""",
        ALIAS,
    ),
    "view_or_copy_in_loop": (
        """
def f(x):
    y = x.copy()
    for t in range(x.shape[0]):
        v = y[t]
        if x[t, 0] > 0:
            v = v * 2
        v += 1
    return y
""",
        ALIAS,
    ),
    "helper_returns_argument": (
        """
def f(x):
    def f(a):
        if a[0, 0] > 0:
            return a
        return a * 2
    z = f(x)
    z[0] = 3
    return x, z
""",
        ALIAS,
    ),
    "out_chosen": (
        """
def f(x):
    a, b = np.zeros_like(x), np.ones_like(x)
    o = a if x[0, 0] > 0 else b
    np.add(x, 1, out=o)
    return a, b
""",
        ALIAS,
    ),
    "kept_in_list": (
        """
def f(x):
    y = x.copy()
    l = []
    if x[0, 0] > 0:
        l.append(y)
    else:
        l.append(x)
    y[0] = 7
    return l[0]
""",
        VIEW,
    ),
    "aliased_state_of_loop": (
        """
def f(x):
    a = x[0].copy()
    b = x[0] * 3
    for r in x:
        if r[0] > 0:
            b = a
        a += r
    return a, b
""",
        VIEW,
    ),
    "assigned_view_twice": (
        """
def f(x):
    y = x.copy()
    a, b = y[0], y[1]
    if x[0, 0] > 0:
        a, b = b, a
    a[:] = 0
    return y
""",
        ALIAS,
    ),
}
