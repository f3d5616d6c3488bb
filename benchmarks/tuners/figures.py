"""The tables of a comparison, and the same figures as data."""

import re
import statistics

import score
from measured import Space

BUDGETS = (25, 50, 100, 200, 400)
OURS = ("strop", "random")


def summary(spaces: list[Space], runs: dict[str, list[list]], evaluations: int) -> dict:
    """The figures of one method on the spaces that it was run on."""
    spaces = [space for space in spaces if runs.get(space.label)]
    budgets = {}
    for budget in (one for one in BUDGETS if one <= evaluations):
        groups = [[score.ratio(space, found, budget) for found in runs[space.label]] for space in spaces]
        low, high = score.interval(groups)
        budgets[str(budget)] = {"mean": score.geometric_mean(groups), "low": low, "high": high}
    return {"spaces": len(spaces), "repeats": min(len(runs[space.label]) for space in spaces), "budgets": budgets}


def report(methods: list[str], spaces: list[Space], lines: list[dict], evaluations: int) -> tuple[dict, str]:
    overall, each = {}, {space.label: {} for space in spaces}
    for method in methods:
        mine = [line for line in lines if line["method"] == method]
        if not mine:
            continue
        runs = {space.label: [line["steps"] for line in mine if line["digest"] == space.digest] for space in spaces}
        curves = {space.label: score.curve(space, runs[space.label], evaluations)
                  for space in spaces if runs[space.label]}
        overall[method] = summary(spaces, runs, evaluations)
        overall[method]["score"] = score.score(list(curves.values()))
        overall[method]["seconds"] = statistics.median(line["seconds"] for line in mine)
        overall[method]["ended_early"] = sum(line.get("ended", "budget") != "budget" for line in mine)
        for space in spaces:
            if runs[space.label]:
                own = each[space.label][method] = summary([space], runs, evaluations)
                own["score"] = score.score([curves[space.label]])
    best = {
        str(budget): max(((figures["budgets"][str(budget)]["mean"], method) for method, figures in overall.items()
                          if method.split("+")[0] not in OURS), default=None)
        for budget in BUDGETS if budget <= evaluations
    }
    peers = [f"- {budget} evaluations: {found[1]} {number(found[0])}" for budget, found in best.items() if found]
    parts = [table(f"All {len(spaces)} spaces", overall)]
    if peers:
        parts.append("Best of the peers:\n\n" + "\n".join(peers))
    parts += [table(about(space, evaluations), each[space.label]) for space in spaces]
    return {"overall": overall, "best_peer": best, "spaces": each}, "\n\n".join(parts)


def about(space: Space, evaluations: int) -> str:
    baseline = score.Baseline.of(space)
    end = baseline.times(evaluations, 2)[-1] / baseline.mean_cost
    return (f"{space.label}: {len(space.times)} configurations, {len(space.valid)} of them valid; "
            f"scored up to {end:.0f} evaluations of average cost")


def number(value: float) -> str:
    return re.sub(r"^(-?)0\.", r"\1.", f"{value:.3f}")


def table(title: str, figures: dict[str, dict]) -> str:
    if not figures:
        return f"### {title}\n\nNo search was made."
    budgets, whole = list(next(iter(figures.values()))["budgets"]), "seconds" in next(iter(figures.values()))
    rows = [["method", *(["spaces"] if whole else []), "repeats", *budgets, "score",
             *(["seconds", "ended early"] if whole else [])]]
    for method, own in figures.items():
        row = [method, *([str(own["spaces"])] if whole else []), str(own["repeats"])]
        for one in own["budgets"].values():
            row.append(f"{number(one['mean'])} [{number(one['low'])} {number(one['high'])}]")
        row.append(number(own["score"]))
        if whole:
            row += [f"{own['seconds']:.2f}", str(own["ended_early"])]
        rows.append(row)
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    rows.insert(1, ["-" * width for width in widths])
    text = "\n".join("| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths)) + " |" for row in rows)
    return f"### {title}\n\n{text}"
