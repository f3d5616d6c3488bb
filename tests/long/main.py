"""The long-run proof of what goes beyond one machine; `scripts/fleet --help`."""

import argparse
import os
import sys

from tests.long.scene import Failure, Scene


def parser():
    top = argparse.ArgumentParser(prog="scripts/fleet", description=__doc__)
    top.add_argument("--json", action="store_true", help="print JSON in place of a table")
    commands = top.add_subparsers(dest="command", required=True)

    def command(name, about):
        one = commands.add_parser(name, help=about, description=about)
        one.add_argument("--json", action="store_true", default=argparse.SUPPRESS)
        return one

    one = command("hosts", "the same winners on two hosts behind OpenSSH as here")
    one.add_argument("--problem", default="problems/softmax")
    one.add_argument("--budget", default="60s")
    one = command("screening", "compile-bound screening by two workers of one core each against one: at least 1.8")
    one.add_argument("--problem", default="problems/softmax")
    one.add_argument("--evaluations", type=int, default=64)
    one.add_argument("--rounds", type=int, default=3)
    one = command("faults", "runs with two workers on two hosts, one fault each at a random moment")
    one.add_argument("--runs", type=int, default=50)
    one.add_argument("--first", type=int, default=0, help="the number of the first run, which its fault follows from")
    one.add_argument("--seed", type=int, default=1)
    one.add_argument("--only", action="append", help="this fault only; may be repeated")
    one.add_argument("--keep", help="a folder for the files of runs that went wrong")
    one = command("store", "processes that write to one PostgreSQL database, killed again and again, its server too")
    one.add_argument("--minutes", type=float, default=5)
    one.add_argument("--clients", type=int, default=16)
    one.add_argument("--kills", type=int, default=200)
    one.add_argument("--restarts", type=int, default=10)
    one.add_argument("--seed", type=int, default=1)
    one = command("leader", "processor time and memory of who leads 10, 30 and 100 simulated workers")
    one.add_argument("--problem", default="problems/softmax")
    one.add_argument("--evaluations", type=int, default=2000, help="by 100 workers")
    one = command("hostile", "workers that lie, alone and beside a good one")
    one.add_argument("--seeds", type=int, default=1, help="lies of each kind")
    one.add_argument("--only", action="append", help="this kind only; may be repeated")
    command("slurm", "a real Slurm with two nodes here: workers by srun, batches, preemption")
    return top


def main():
    arguments = parser().parse_args()
    name = arguments.command
    try:
        with Scene() as scene:
            if name == "faults":
                from tests.long.faults import faults as work
            elif name in ("hosts", "screening"):
                from tests.long import elsewhere
                work = getattr(elsewhere, name)
                arguments.problem = os.path.abspath(arguments.problem)
            elif name == "leader":
                from tests.long.leader import leader as work
                arguments.problem = os.path.abspath(arguments.problem)
            elif name == "store":
                from tests.long.store import store as work
            elif name == "slurm":
                from tests.long.slurm import slurm as work
            elif name == "hostile":
                from tests.long.hostile import hostile as work
            return work(scene, arguments)
    except Failure as failure:
        print(f"scripts/fleet {name}: {failure}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"scripts/fleet {name}: interrupted", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
