#!/usr/bin/env python3
"""How long the pages of `strop serve` take in a browser on a large store.

    benchmarks/page.py [--runs 10000] [--evaluations 5000] [--store /tmp/strop-page.db] [--strop build/release/strop]

Makes a store (unless it is there) of so many runs, of which one has so many evaluations and goes on. Opens each page in
headless Chromium several times and prints the median and the slowest time from asking to the page's load event, and the
size. Exit 1: a page took a second or longer.
"""

import argparse
import pathlib
import re
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import urllib.request

HOME = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(HOME), str(HOME / "benchmarks")]

from query import fill  # noqa: E402
from tests.cli.test_browser import browser  # noqa: E402

MOST_SECONDS = 1.0
OF_A_RUN = 20


def make(store, program, runs, evaluations):
    fill(store, program, [evaluations] + [OF_A_RUN] * (runs - 1))


def busiest(store):
    with sqlite3.connect(f"file:{store}?mode=ro", uri=True) as connection:
        return connection.execute("SELECT run FROM runs ORDER BY evaluations DESC LIMIT 1").fetchone()[0]


def seconds_to_load(driver, address):
    driver.get(address)
    start, end = driver.execute_script(
        "const t = performance.getEntriesByType('navigation')[0]; return [t.startTime, t.loadEventEnd]")
    return (end - start) / 1e3


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--evaluations", type=int, default=5_000)
    parser.add_argument("--store", default="/tmp/strop-page.db")
    parser.add_argument("--strop", default=str(HOME / "build/release/strop"))
    parser.add_argument("--repeats", type=int, default=7)
    given = parser.parse_args()
    if not pathlib.Path(given.store).exists():
        make(given.store, given.strop, given.runs, given.evaluations)
    run = busiest(given.store)
    server = subprocess.Popen([given.strop, "serve", "--port", "0", "--store", given.store], text=True,
                              stdout=subprocess.PIPE)
    slow = False
    with tempfile.TemporaryDirectory() as folder:
        driver = browser(folder)
        try:
            address = server.stdout.readline().strip()
            kernel = re.search(r'"id": ?"([^"]+)"', urllib.request.urlopen(f"{address}api/runs/{run}").read().decode()).group(1)
            for name, path in {"the list": "", "its last page": f"?page={given.runs // 50}", "one problem": "?problem=scan_0",
                               "the busy run": f"runs/{run}", "its progress": f"runs/{run}/progress",
                               "a kernel": f"runs/{run}/kernels/{kernel}", "experience": "knowledge",
                               "experience of some hardware": "knowledge?hardware=avx512&tags=scan"}.items():
                took = [seconds_to_load(driver, address + path) for _ in range(given.repeats)]
                size = len(driver.page_source)
                print(f"{name}: {1e3 * statistics.median(took):.0f} ms, at worst {1e3 * max(took):.0f} ms, {size / 1024:.0f} KiB")
                slow |= statistics.median(took) >= MOST_SECONDS
        finally:
            driver.quit()
            server.terminate()
            server.wait()
    return slow


if __name__ == "__main__":
    sys.exit(main())
