#!/usr/bin/env python3
"""Fails on an include that breaks the layers of src/.

A module (a folder of src/) includes only from the modules that its row in cmake/layers.txt lists, and libraries that
belong to one module are included nowhere else. ARCHITECTURE.md says the same to people. `--self-test` plants violations and expects to find them.
"""

import argparse
import pathlib
import re
import sys
import tempfile

HOME = pathlib.Path(__file__).resolve().parent.parent


def read_layers(path):
    """{module: "the modules that it may include"}, from the bottom up."""
    rows = (line.partition(":") for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith("#"))
    return {name.strip(): modules.strip() for name, _, modules in rows if name.strip()}


LAYERS = read_layers(HOME / "cmake/layers.txt")

# Headers that only one module may include.
RESERVED = {
    re.compile(r"sqlite3\.h|SQLiteCpp/"): "knowledge",
    re.compile(r"libpq-fe\.h|libpq/"): "knowledge",
    re.compile(r"seccomp\.h|linux/seccomp\.h"): "sandbox",
    re.compile(r"yaml-cpp/"): "yaml",
    re.compile(r"CLI/"): "cli",
    re.compile(r"hwloc(\.h|/)"): "device",
    re.compile(r"zlib\.h"): "exchange",
    re.compile(r"curl/"): "llm",
    re.compile(r"httplib\.h|dtl/"): "serve",
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


PAGE_ROW = re.compile(r"^\| `(\w+)` \| [^|]* \| ([^|]*) \|$")


def differences_of_page(text):
    """What the page's table says otherwise than LAYERS."""
    said = {match[1]: set(re.findall(r"\w+", match[2])) for match in map(PAGE_ROW.match, text.splitlines()) if match}
    for module, modules in LAYERS.items():
        if module not in said:
            yield f"ARCHITECTURE.md: no row of {module}"
        elif module != "cli" and said[module] != set(modules.split()):    # its row says "all below"
            yield f"ARCHITECTURE.md: {module} may include {modules or 'nothing'}, says cmake/layers.txt"


PLANTED = {
    "core/bad.h": ('#include "judge/judge.h"\n', "core includes"),
    "stats/bad.cpp": ('#include "base/error.h"\n', "may include only nothing"),
    "search/bad.cpp": ('#  include "playbook/graph.h"\n', "search includes"),
    "report/bad.cpp": ("#include <sqlite3.h>\n", "only knowledge may"),
    "judge/bad.cpp": ("#include <SQLiteCpp/SQLiteCpp.h>\n", "only knowledge may"),
    "run/worse.cpp": ("#include <libpq-fe.h>\n", "only knowledge may"),
    "judge/worse.cpp": ("#include <seccomp.h>\n", "only sandbox may"),
    "run/bad.cpp": ("#include <yaml-cpp/yaml.h>\n", "only yaml may"),
    "language/bad.cpp": ("#include <CLI/CLI.hpp>\n", "only cli may"),
    "mcp/bad.cpp": ("#include <httplib.h>\n", "only serve may"),
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
    if len(list(differences_of_page("| `base` | errors | core |\n"))) != len(LAYERS):
        sys.exit("a page without rows and with a wrong one passed")


def main():
    parser = argparse.ArgumentParser(description="checks the layers of src/")
    parser.add_argument("--self-test", action="store_true", help="plant violations and find them")
    if parser.parse_args().self_test:
        self_test()
        return
    found = violations(HOME / "src") + list(differences_of_page((HOME / "ARCHITECTURE.md").read_text(encoding="utf-8")))
    if found:
        sys.exit("\n".join(found))


if __name__ == "__main__":
    main()
