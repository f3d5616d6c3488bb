"""How many configurations a script of Kernel Tuner has, by trying all: python -m tests.long.space_count SCRIPT

The script runs until it calls `tune_kernel`. Packages that it needs and that are not here are mocks. Nothing of Strop's
reader is used. Prints {"configurations": N, "combinations": N, "tunables": [names]}.
"""

import importlib.abc
import importlib.machinery
import inspect
import itertools
import json
import os
import sys
import types
from unittest.mock import MagicMock

MOCKED = ("kernel_tuner", "cupy", "pycuda", "pyopencl")
NAMES = ["kernel_name", "kernel_source", "problem_size", "arguments", "tune_params", "grid_div_x", "grid_div_y", "grid_div_z",
         "restrictions"]


class Tuned(BaseException):
    """The call that the script wants to make; its own handlers do not catch it."""

    def __init__(self, named):
        super().__init__()
        self.named = named


def tune_kernel(*given, **named):
    raise Tuned(dict(zip(NAMES, given)) | named)


def run_kernel(_name, _source, _size, arguments, *_more, **_named):
    return arguments


class Mocks(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Modules in which any name is a mock; what ends in Observer is a class to derive from."""

    def find_spec(self, fullname, _path=None, _target=None):
        if fullname.split(".")[0] in MOCKED:
            return importlib.machinery.ModuleSpec(fullname, self, is_package=True)
        return None

    def create_module(self, spec):
        module = types.ModuleType(spec.name)

        def attribute(name):
            if name.startswith("__"):
                raise AttributeError(name)
            if name.endswith("Observer"):
                return type(name, (), {"__init__": lambda self, *given, **named: None})
            return MagicMock(name=f"{spec.name}.{name}")

        module.__getattr__ = attribute
        return module

    def exec_module(self, module):
        if module.__name__ == "kernel_tuner":
            module.tune_kernel, module.run_kernel = tune_kernel, run_kernel
        if module.__name__ == "kernel_tuner.utils.directives":
            module.process_directives = lambda *_given, **_named: (MagicMock(), MagicMock())


def captured(path):
    """The arguments of the script's first call of tune_kernel."""
    sys.meta_path.insert(0, Mocks())
    sys.argv = [path]
    module = types.ModuleType("__main__")
    module.__file__ = path
    sys.modules["__main__"] = module
    with open(path, encoding="utf-8") as file:
        text = file.read()
    try:
        exec(compile(text, path, "exec"), module.__dict__)  # pylint: disable=exec-used
    except Tuned as tuned:
        return tuned.named
    raise SystemExit(f"{path}: does not call tune_kernel")


def predicate(restriction, names):
    """A function of a configuration, as Kernel Tuner reads the restriction."""
    if isinstance(restriction, str):
        code, scope = compile(restriction.strip(), "restriction", "eval"), {}
        return lambda config: eval(code, scope, config)  # pylint: disable=eval-used
    parameters = list(inspect.signature(restriction).parameters)
    if set(parameters) <= set(names):
        return lambda config: restriction(**{name: config[name] for name in parameters})
    return restriction


def count(call):
    params = {name: list(values) for name, values in call["tune_params"].items()}
    given = call.get("restrictions") or []
    tests = [predicate(one, params) for one in (given if isinstance(given, (list, tuple)) else [given])]
    names, found, tried = list(params), 0, 0
    for values in itertools.product(*params.values()):
        config = dict(zip(names, values))
        tried += 1
        found += all(test(config) for test in tests)
    return {"configurations": found, "combinations": tried, "tunables": names}


if __name__ == "__main__":
    print(json.dumps(count(captured(os.path.abspath(sys.argv[1])))))
