"""The main job on every PyTorch module of benchmarks/modules/: `scripts/bench --modules`.

A folder of benchmarks/modules/ is a family. Results are kept in one JSON file, written after each module; what has one
for this commit and budget is not run again.
"""

import concurrent.futures
import json
import math
import os
import subprocess
import time
from pathlib import Path

HOME = Path(__file__).resolve().parent.parent
MODULES = HOME / "benchmarks" / "modules"
BINARY = os.environ.get("STROP_BINARY", str(HOME / "strop"))
BASELINES = ("pytorch", "torch.compile", "onednn")
ANSWERS = (0, 1, 2)  # exit codes that say something of the module, and not of the machine or an interruption
COVER_LIMIT = 2.0  # seconds that importing, tracing and planning of a module should take


def chosen(families, names):
    """The files of these families, or of these names (pooling/max_2d, max_2d)."""
    files = sorted(MODULES.glob("*/*.py"))
    known = {file.parent.name for file in files}
    for family in families:
        if family not in known:
            raise SystemExit(f"bench: --family {family}: there is {', '.join(sorted(known))}")
    files = [file for file in files if not families or file.parent.name in families]
    for name in names:
        if not any(name in (name_of(file), file.stem) for file in files):
            raise SystemExit(f"bench: {name}: there is no such module in {MODULES}")
    return [file for file in files if not names or name_of(file) in names or file.stem in names]


def name_of(file):
    return f"{file.parent.name}/{file.stem}"


def commit():
    def git(*words):
        done = subprocess.run(["git", "-C", str(HOME), *words], capture_output=True, text=True, check=False)
        return done.stdout.strip()

    return git("rev-parse", "--short", "HEAD") + ("-dirty" if git("status", "--porcelain", "-uno") else "")


def strop(words, folder):
    """Each module in a folder of its own: names are unique in their family only."""
    folder.mkdir(parents=True, exist_ok=True)
    return subprocess.run([BINARY, *words], capture_output=True, text=True, check=False, cwd=folder,
                          env={**os.environ, "STROP_HOME": str(HOME)})


def reason(done):
    lines = [line for line in done.stderr.splitlines() if line.strip() and not line.startswith(("!", "hint:"))]
    return lines[-1].removeprefix("strop: ") if lines else f"exit {done.returncode}"


# ---- is it covered? --------------------------------------------------------------------------------------


def cover(file, out):
    begin = time.monotonic()
    done = strop(["write", str(file), "--json"], out / name_of(file))
    result = {"module": name_of(file), "seconds": time.monotonic() - begin, "strategies": []}
    if done.returncode == 0:
        result["strategies"] = [one["id"] for one in json.loads(done.stdout)["strategies"]]
    else:
        result["refused"] = reason(done)
    return result


def cover_all(files, out):
    """Traced and planned, nothing measured; as many at a time as there are cores."""
    results = []
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for result in pool.map(lambda file: cover(file, out), files):
            results.append(result)
            slow = f"  ({result['seconds']:.1f} s)" if result["seconds"] > COVER_LIMIT else ""
            plan = ", ".join(i for i in result["strategies"] if "+" not in i)
            print(f"{result['module']:>34}  {plan or 'refused: ' + result['refused']}{slow}", flush=True)
    lines = []
    for family, mine in by_family(results):
        covered = sum("refused" not in result for result in mine)
        plain = sum(result["strategies"] == ["plain_stages"] for result in mine)
        lines.append(f"{family:>16}  {covered} of {len(mine)} covered" + (f", {plain} by plain loops only" if plain else ""))
    return results, lines


# ---- how fast is it? -------------------------------------------------------------------------------------


def optimize(file, budget, out):
    folder = out / name_of(file)
    done = strop(["optimize", str(file), "--budget", budget, "--json", "--quiet", "--out", str(folder / "result"),
                  "--store", str(out / "modules.db")], folder)
    result = {"module": name_of(file), "exit": done.returncode, "verified": False}
    if done.returncode not in (0, 1) or not done.stdout.strip():
        return result | {"error": reason(done)}
    record = json.loads(done.stdout)
    result |= {key: record[key] for key in ("run", "outcome", "verified", "verification", "note", "headline", "shapes",
                                            "in_process", "evaluations", "missing_baselines", "machine")}
    if not record["verified"]:
        result["error"] = record["note"] or record["outcome"]
    return result


def mean(values):
    values = [value for value in values if value and value > 0]
    return math.exp(sum(map(math.log, values)) / len(values)) if values else None


def ratio(result, baseline=None):
    """Over a baseline, or over the best one of each shape; None where it was not measured."""
    shapes = result.get("shapes") or []
    if not result["verified"]:
        return None
    if baseline is None:
        return mean([(shape["speedup"] or {}).get("ratio") for shape in shapes])
    return mean([shape.get("speedups", {}).get(baseline, {}).get("ratio") for shape in shapes])


def in_process(result):
    """Called from Python, over the best version of the framework in the same process; None where it was not measured."""
    return result["in_process"]["speedup"] if result["verified"] else None


def figure(value):
    return "–" if value is None else f"{value:.2f}×"


def line_of(result):
    if not result["verified"]:
        return f"{result['module']:>34}  not verified: {result['error']}"
    each = "  ".join(f"{name} {figure(ratio(result, name))}" for name in BASELINES if ratio(result, name))
    share = mean([shape["roofline_share"] for shape in result["shapes"]])
    roofline = f"{100 * share:3.0f}% of the roofline" if share else ""
    inside = f"{figure(in_process(result))} in its process"
    return f"{result['module']:>34}  {figure(ratio(result))} the best baseline  {inside}  [{each}]  {roofline}"


def by_family(results):
    families = sorted({result["module"].split("/")[0] for result in results})
    return [(f, [result for result in results if result["module"].startswith(f + "/")]) for f in families]


def summary_line(name, results):
    rated = [result for result in results if ratio(result)]
    text = f"{name:>16}  {sum(result['verified'] for result in results)} of {len(results)} correct"
    if not rated:
        return text
    worst = min(rated, key=ratio)
    text += f", {figure(mean(map(ratio, rated)))} the best baseline, worst {figure(ratio(worst))} ({worst['module']})"
    inside = mean(map(in_process, rated))
    text += f", {figure(inside)} in its process" if inside else ""
    for baseline in BASELINES:
        over = mean(ratio(result, baseline) for result in rated)
        text += f", {figure(over)} {baseline}" if over else ""
    share = mean(shape["roofline_share"] for result in rated for shape in result["shapes"])
    return text + (f", {100 * share:.0f}% of the roofline" if share else "")


def optimize_all(files, budget, path, out):
    document = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    results, now = document.get("modules", {}), commit()
    for file in files:
        kept = results.get(name_of(file), {})
        if (kept.get("commit"), kept.get("budget")) != (now, budget) or kept["exit"] not in ANSWERS:
            results[name_of(file)] = optimize(file, budget, out) | {"commit": now, "budget": budget}
            write(path, {"modules": results})
        print(line_of(results[name_of(file)]), flush=True)
    mine = [results[name_of(file)] for file in files]
    return mine, [summary_line(*family) for family in by_family(mine)] + [summary_line("all", mine)]


def write(path, document):
    """Beside the target and renamed, so that an interruption loses nothing."""
    beside = path.with_suffix(".new")
    beside.write_text(json.dumps(document, indent=1), encoding="utf-8")
    beside.replace(path)


def main(arguments):
    files = chosen(arguments.family, arguments.problems)
    out = Path(arguments.out).resolve()
    out.mkdir(parents=True, exist_ok=True)
    if arguments.cover:
        results, lines = cover_all(files, out)
        if arguments.json:
            write(Path(arguments.json), {"cover": results})
        done = all("refused" not in result for result in results)
    else:
        path = Path(arguments.json or out / "modules.json")
        results, lines = optimize_all(files, arguments.budget, path, out)
        done = all(result["verified"] for result in results)
    print("\n".join(["", *lines]))
    return 0 if done else 1
