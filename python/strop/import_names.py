"""What imports of all kinds share: names of a problem, how a file is refused, how they answer. Needs no PyTorch."""

from __future__ import annotations

import contextlib
import ctypes
import json
import keyword
import os
import re
import sys
from typing import Callable

SEED = 42  # of modules and their inputs

CPP_WORDS = set(
    "alignas alignof and asm auto bool break case catch char class concept const constexpr default delete do double else "
    "enum explicit export extern false float for friend goto if inline int long mutable namespace new noexcept not "
    "operator or private protected public register requires return short signed sizeof static struct switch template "
    "this throw true try typedef typeid typename union unsigned using virtual void volatile wchar_t while xor min max abs"
    .split()
)


# That name no problem: what kernels use, and modules that the Python file of a result imports.
OTHERS = set(
    "std vec team vmask ctypes functools hashlib importlib math ml_dtypes numpy os operator pathlib shlex shutil subprocess "
    "sys sysconfig tempfile threading tilelang torch triton".split()
)


class Refusal(Exception):
    """Why the file is no problem, and what to do."""

    def __init__(self, phrase, hint):
        super().__init__(phrase)
        self.hint = hint


def answer(made: Callable[[], dict]) -> int:
    """The document on standard output, or {"error", "hint"} of a refusal; what the user's code prints goes elsewhere."""
    try:
        with contextlib.redirect_stdout(sys.stderr):
            document = made()
    except Refusal as refusal:
        document = {"error": str(refusal), "hint": refusal.hint}
    print(json.dumps(document))
    return 0


class Names:
    """Identifiers that are taken once, and neither C++ nor Python reserves."""

    def __init__(self):
        self.taken = set()

    def take(self, wanted: str) -> str:
        name = re.sub(r"\W", "_", wanted).strip("_") or "x"
        name = name if name[0].isalpha() else "p" + name
        while name in self.taken or keyword.iskeyword(name) or name in CPP_WORDS:
            name += "_"
        self.taken.add(name)
        return name


def problem_name(path: str) -> str:
    """12_Gemm_Max.py: gemm_max."""
    stem = re.sub(r"\W", "_", os.path.splitext(os.path.basename(path))[0]).lower()
    name = re.sub(r"^[\d_]+", "", stem).rstrip("_") or "model"
    reserved = keyword.iskeyword(name) or name in CPP_WORDS or hasattr(ctypes.CDLL(None), name) or name in OTHERS
    return name + "_module" if reserved else name
