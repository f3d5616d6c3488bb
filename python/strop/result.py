"""What a run found."""

from __future__ import annotations

import importlib.util
import json
import pathlib
import shutil
from typing import Any, Callable, Optional, Union

from strop import module_target
from strop.program import BadInput, run


class Result:
    """A finished run. Calling it calls the kernel that was found: `result(*inputs, out=None)`."""

    def __init__(self, report: dict[str, Any], store: Union[str, pathlib.Path, None] = None) -> None:
        self.report = report                  # docs/report.schema.json
        self._store = store                   # where its run is kept; None: the usual one
        self._function: Optional[Callable] = None

    @classmethod
    def load(cls, folder: Union[str, pathlib.Path], store: Union[str, pathlib.Path, None] = None) -> Result:
        """From a result folder. `store`: where its run is kept, which `text` asks."""
        path = pathlib.Path(folder) / "report.json"
        if not path.is_file():
            raise BadInput(f"{path}: there is no such file", "give a result folder, such as strop-out/softmax")
        try:
            report = json.loads(path.read_text(encoding="utf-8"))
        except ValueError as error:
            raise BadInput(f"{path}: is no report: {error}", "make it again with `strop optimize`") from error
        if not isinstance(report, dict) or not {"problem", "outcome", "run", "headline"} <= report.keys():
            raise BadInput(f"{path}: is no report of a run", "make it again with `strop optimize`")
        report["result"] = str(path.parent.resolve())    # it may have been moved
        return cls(report, store)

    @property
    def name(self) -> str:
        return self.report["problem"]

    @property
    def folder(self) -> Optional[pathlib.Path]:
        """Where the kernel, its tests and the report are; None where nothing was found."""
        return pathlib.Path(self.report["result"]) if self.report.get("result") else None

    @property
    def improved(self) -> bool:
        """Verified, and faster than the best baseline."""
        return self.report["outcome"] == "improved"

    @property
    def verified(self) -> bool:
        return bool(self.report["verified"])

    @property
    def speedup(self) -> Optional[float]:
        """Over the best baseline of each shape, geometric mean; None where nothing was compared."""
        return self.report["headline"]["speedup"]

    @property
    def source(self) -> str:
        """The source that is called, in C++ or CUDA C++."""
        return self._source_in(self._made()).read_text(encoding="utf-8")

    @property
    def history(self) -> dict[str, list[Any]]:
        """Every evaluation in order, as columns (`pandas.DataFrame(result.history)`)."""
        labels = [shape["label"] for shape in self.report["shapes"]]
        columns: dict[str, list[Any]] = {
            key: [entry[key] for entry in self.report["history"]]
            for key in ("seconds", "strategy", "kernel", "configuration", "verdict", "evidence")}
        for label in labels:
            columns[f"{label}_ns"] = [entry["nanoseconds"].get(label) for entry in self.report["history"]]
        return columns

    def text(self, form: str = "terminal") -> str:
        """The report as `terminal`, `markdown` or `html`."""
        store = ["--store", str(self._store)] if self._store else []
        return run(["report", self.report["run"], "--format", form, *store]).output

    def save(self, folder: Union[str, pathlib.Path]) -> pathlib.Path:
        """Copies the result folder."""
        return pathlib.Path(shutil.copytree(self._made(), folder, dirs_exist_ok=True))

    def __call__(self, *inputs: Any, **named: Any) -> Any:
        if self._function is None:
            self._function = self._load()
        return self._function(*inputs, **named)

    def module(self, module: Any) -> Any:
        """A module whose forward is the kernel, with the parameters and buffers of `module`, which was optimized."""
        return module_target.replacement(self._made(), self.name, module)

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_function": None}    # loaded again where it is called

    def __repr__(self) -> str:
        return f"<strop.Result {self}>"

    def __str__(self) -> str:
        """The first line of `strop optimize`."""
        return f"{self.name}: {self.report['headline']['text']}"

    def _source_in(self, folder: pathlib.Path) -> pathlib.Path:
        on_gpu = self.report["settings"].get("device") == "cuda"
        return folder / f"{self.name}{'.cu' if on_gpu else '.cpp'}"

    def _made(self) -> pathlib.Path:
        if not self.folder or not self._source_in(self.folder).is_file():
            raise BadInput(f"{self.name}: no kernel was found", self.report.get("note") or "see `.report`")
        if self._now_in(self.folder) != self.report["run"]:
            raise BadInput(f"{self.name}: {self.folder} holds the result of a later run by now",
                           "give each run a folder of its own with out=")
        return self.folder

    @staticmethod
    def _now_in(folder: pathlib.Path) -> Optional[str]:
        try:
            return json.loads((folder / "report.json").read_text(encoding="utf-8")).get("run")
        except (OSError, ValueError):
            return None

    def _load(self) -> Callable:
        path = self._made() / f"{self.name}.py"
        spec = importlib.util.spec_from_file_location(f"strop_result_{self.name}", path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return getattr(module, self.name)
