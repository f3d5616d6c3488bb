"""What imports of all kinds share: names of a problem, and how a file is refused. Needs no PyTorch."""

from __future__ import annotations

import ctypes
import keyword
import os
import re

CPP_WORDS = set(
    "alignas alignof and asm auto bool break case catch char class concept const constexpr default delete do double else "
    "enum explicit export extern false float for friend goto if inline int long mutable namespace new noexcept not "
    "operator or private protected public register requires return short signed sizeof static struct switch template "
    "this throw true try typedef typeid typename union unsigned using virtual void volatile wchar_t while xor min max abs"
    .split()
)


class Refusal(Exception):
    """Why the file is no problem, and what to do."""

    def __init__(self, phrase, hint):
        super().__init__(phrase)
        self.hint = hint


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
    reserved = keyword.iskeyword(name) or name in CPP_WORDS or hasattr(ctypes.CDLL(None), name)
    return name + "_module" if reserved else name
