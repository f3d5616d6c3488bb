"""PyTorch's linear algebra of small matrices, written out over the elements, and its windows of signals."""

from __future__ import annotations

import math

from strop import trace_layout as layout
from strop import trace_matrices as matrices
from strop.import_values import OPERATIONS, as_tensor, imports
from strop.trace_dims import Untraceable, is_int
from strop.trace_windows import COEFFICIENTS, sum_of_cosines

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
    def window(name, coefficients):
        def apply(out, count, periodic=True, *given, **_):
            if not is_int(count) or count < 2:
                raise Untraceable(f"'aten.{name}_window' of a length that varies has no graph operation")
            terms = coefficients
            if name == "hamming" and given:
                terms = (given[0], -given[1] if len(given) > 1 else terms[1])
            step = 2 * math.pi / (count if periodic else count - 1)
            return sum_of_cosines(terms, as_tensor(layout.arange(count), out) * step)

        return apply

    for name, coefficients in COEFFICIENTS.items():
        for overload in ("", ".periodic", ".periodic_alpha", ".periodic_alpha_beta"):
            OPERATIONS[f"{name}_window{overload}"] = window(name, coefficients)


_register_windows()
