"""PyTorch's linear algebra of small matrices, written out over the elements, and its windows of signals."""

from __future__ import annotations

import math

from strop import trace_layout as layout
from strop import trace_matrices as matrices
from strop.import_values import OPERATIONS, as_tensor, imports
from strop.trace_array import pointwise
from strop.trace_dims import Untraceable, is_int

# ---- matrices: what else PyTorch's operations return (factors, pivots, whether it worked) is not there -----------


@imports("_linalg_det")
def _det(out, x):
    return matrices.determinant(x), None, None


@imports("linalg_inv_ex")
def _inv(out, x, check_errors=False):
    return matrices.inverse(x), None


@imports("_linalg_solve_ex")
def _solve(out, a, b, *, left=True, check_errors=False):
    if not left:
        raise Untraceable("'aten._linalg_solve_ex' from the right has no graph operation")
    vector = b.ndim == 1 or (b.ndim + 1 == a.ndim and b.shape == a.shape[:-1])
    found = matrices.solve(a, layout.expand_dims(b, -1) if vector else b)
    return layout.squeeze(found, -1) if vector else found, None, None, None


@imports("linalg_cholesky_ex")
def _cholesky(out, x, *, upper=False, check_errors=False):
    return matrices.cholesky(x, upper), None


@imports("_linalg_slogdet")
def _slogdet(out, x):
    return *matrices.log_determinant(x), None, None


# ---- windows -------------------------------------------------------------------------------------------


def _register_windows():
    """Sums of cosines: the coefficients of cos(2 pi k i / n)."""
    coefficients = {"hann": (0.5, -0.5), "hamming": (0.54, -0.46), "blackman": (0.42, -0.5, 0.08)}

    def window(name):
        def apply(out, count, periodic=True, *given, **_):
            terms = coefficients[name]
            if name == "hamming" and given:
                terms = (given[0], -given[1] if len(given) > 1 else -0.46)
            if not is_int(count) or count < 2:
                raise Untraceable(f"'aten.{name}_window' of a length that varies has no graph operation")
            angle = as_tensor(layout.arange(count), out) * (2 * math.pi / (count if periodic else count - 1))
            result = terms[0]
            for k, factor in enumerate(terms[1:], 1):
                result = result + pointwise("cos", angle * k) * factor
            return result

        return apply

    for name in coefficients:
        for overload in ("", ".periodic", ".periodic_alpha", ".periodic_alpha_beta"):
            OPERATIONS[f"{name}_window{overload}"] = window(name)


_register_windows()
