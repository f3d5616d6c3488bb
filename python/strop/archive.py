"""Past runs."""

from __future__ import annotations

import json
import pathlib
from typing import Any, Optional, Union

from strop.program import run
from strop.result import Result


class Archive:
    """The runs in one store, a file or a database's address (default: $STROP_STORE, else strop-out/strop.db)."""

    def __init__(self, store: Union[str, pathlib.Path, None] = None) -> None:
        self._place = store
        self._store = ["--store", str(store)] if store else []

    def runs(self, problem: Optional[str] = None) -> list[dict[str, Any]]:
        """Newest first: run, problem, outcome, speedup, baseline, seconds, evaluations, result."""
        return json.loads(run(["runs", *([problem] if problem else []), "--json", *self._store]).output)

    def get(self, name: str) -> Result:
        """One run, by its name or the first letters of it."""
        return Result(json.loads(run(["report", name, "--format", "json", *self._store]).output), self._place)

    def best(self, problem: str) -> Optional[Result]:
        """The verified run with the largest speedup; None where there is none."""
        improved = [entry for entry in self.runs(problem) if entry["outcome"] == "improved"]
        return self.get(max(improved, key=lambda entry: entry["speedup"])["run"]) if improved else None

    def statistics(self) -> dict[str, dict[str, Any]]:
        """By problem: how many runs and evaluations, how long, the largest speedup."""
        table: dict[str, dict[str, Any]] = {}
        for entry in self.runs():
            row = table.setdefault(entry["problem"], {"runs": 0, "evaluations": 0, "seconds": 0.0, "speedup": None})
            row["runs"] += 1
            row["evaluations"] += entry["evaluations"]
            row["seconds"] += entry["seconds"]
            if entry["outcome"] == "improved":
                row["speedup"] = max(row["speedup"] or 0.0, entry["speedup"])
        return table

    def export(self, name: str, folder: Union[str, pathlib.Path]) -> pathlib.Path:
        """Copies the result folder of a run."""
        return self.get(name).save(folder)
