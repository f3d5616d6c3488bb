#!/usr/bin/env python3
"""Fails on an include that breaks the layers of src/.

A module (a folder of src/) includes only from the modules that its row lists, and libraries that belong to one
module are included nowhere else. `--self-test` plants violations and expects to find them.
"""

import argparse
import pathlib
import re
import sys
import tempfile

# The same table as in CMakeLists.txt, from the bottom up.
LAYERS = {
    "base": "",
    "stats": "",
    "core": "base",
    "sandbox": "base",
    "device": "sandbox core base",
    "problem": "sandbox core base",
    "language": "device sandbox core base",
    "judge": "language device problem sandbox core stats base",
    "report": "core stats base",
    "knowledge": "core base",
    "llm": "sandbox base",
    "mcp": "sandbox base",
    "tune": "core stats base",
    "exchange": "tune core stats base",
    "graph": "core base",
    "playbook": "graph language device core base",
    "agent": "llm language core base",
    "search": "tune core stats base",
    "run": "search tune agent llm playbook graph knowledge report judge language device problem sandbox core stats base",
    "cli": "run mcp exchange search tune agent llm playbook graph knowledge judge problem report language device sandbox core stats base",
}

# Headers that only one module may include.
RESERVED = {
    re.compile(r"sqlite3\.h|SQLiteCpp/"): "knowledge",
    re.compile(r"seccomp\.h|linux/seccomp\.h"): "sandbox",
    re.compile(r"yaml-cpp/"): "problem",
    re.compile(r"CLI/"): "cli",
    re.compile(r"hwloc(\.h|/)"): "device",
    re.compile(r"zlib\.h"): "exchange",
    re.compile(r"curl/"): "llm",
}

INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]')


def violations_of_file(path, module):
    """Yields "line: reason" for each include of a file that its module may not have."""
    allowed = set(LAYERS[module].split()) | {module}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        quote, target = match.groups()
        for pattern, owner in RESERVED.items():
            if pattern.match(target) and module != owner:
                yield f"{number}: {module} includes <{target}>, which only {owner} may"
        if quote != '"':
            continue
        folder, slash, _ = target.partition("/")
        if not slash:
            yield f'{number}: "{target}" is not written from src/'
        elif folder in LAYERS and folder not in allowed:
            yield f'{number}: {module} includes "{target}", but may include only {LAYERS[module] or "nothing"}'
        elif folder not in LAYERS:
            yield f'{number}: "{target}" belongs to no module'


def violations(source):
    """All violations below `source`, as "path:line: reason"."""
    found = []
    for folder in sorted(path for path in source.iterdir() if path.is_dir()):
        files = sorted(path for path in folder.rglob("*") if path.suffix in (".h", ".cpp"))
        if files and folder.name not in LAYERS:
            found.append(f"{folder}: is no module of the table")
            continue
        for path in files:
            found += [f"{path}:{reason}" for reason in violations_of_file(path, folder.name)]
    return found


PLANTED = {
    "core/bad.h": ('#include "judge/judge.h"\n', "core includes"),
    "stats/bad.cpp": ('#include "base/error.h"\n', "may include only nothing"),
    "search/bad.cpp": ('#  include "playbook/graph.h"\n', "search includes"),
    "report/bad.cpp": ("#include <sqlite3.h>\n", "only knowledge may"),
    "judge/bad.cpp": ("#include <SQLiteCpp/SQLiteCpp.h>\n", "only knowledge may"),
    "judge/worse.cpp": ("#include <seccomp.h>\n", "only sandbox may"),
    "run/bad.cpp": ("#include <yaml-cpp/yaml.h>\n", "only problem may"),
    "language/bad.cpp": ("#include <CLI/CLI.hpp>\n", "only cli may"),
    "tune/bad.cpp": ("#include <hwloc.h>\n", "only device may"),
    "base/bad.cpp": ('#include "file.h"\n', "not written from src/"),
    "base/worse.cpp": ('#include "elsewhere/file.h"\n', "belongs to no module"),
    "extra/bad.cpp": ("\n", "no module of the table"),
}
HARMLESS = {
    "core/good.cpp": '#include "core/kernel.h"\n#include <vector>\n// #include "judge/judge.h"\n',
    "search/good.cpp": '#include "tune/space.h"\n#include "stats/sample.h"\n',
    "knowledge/good.cpp": "#include <SQLiteCpp/SQLiteCpp.h>\n",
    "cli/good.cpp": '#include <CLI/CLI.hpp>\n#include "run/run.h"\n',
}


def self_test():
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder)
        for name, text in {**HARMLESS, **{name: text for name, (text, _) in PLANTED.items()}}.items():
            (source / name).parent.mkdir(exist_ok=True)
            (source / name).write_text(text, encoding="utf-8")
        found = violations(source)
    for name, (_, reason) in PLANTED.items():
        place = "/extra:" if name.startswith("extra/") else f"/{name}:"
        if not any(place in line and reason in line for line in found):
            sys.exit(f"the violation planted in {name} was not found; found: {found}")
    if len(found) != len(PLANTED):
        sys.exit(f"{len(PLANTED)} violations were planted, {len(found)} found: {found}")


def main():
    parser = argparse.ArgumentParser(description="checks the layers of src/")
    parser.add_argument("--self-test", action="store_true", help="plant violations and find them")
    if parser.parse_args().self_test:
        self_test()
        return
    found = violations(pathlib.Path(__file__).resolve().parent.parent / "src")
    if found:
        sys.exit("\n".join(found))


if __name__ == "__main__":
    main()
