"""A Kubernetes of one node: `kubectl.py create|get|delete|config ...` keeps jobs as folders in $FAKE_KUBERNETES.

The pods of an Indexed Job are processes here, one after another, each a file pod_INDEX_TRY.json in the job's folder.
Files of these names change what happens: `refuse` (what create says before it fails), `down` (get fails), `waits` (pods
wait for an image), `context` (the current one), JOB/evict (the running pod is evicted, and made again). `calls` has all
command lines.
"""

import json
import os
import pathlib
import signal
import subprocess
import sys
import time

from fake_commands import fail, replace, value

ROOT = pathlib.Path(os.environ["FAKE_KUBERNETES"])
INDEX = "batch.kubernetes.io/job-completion-index"


def write(file, content):
    replace(file, json.dumps(content))


def read(file):
    return json.loads(file.read_text(encoding="utf-8"))


def is_ignored(manifest, pod):
    """Whether its podFailurePolicy has another pod made."""
    code = pod["status"]["containerStatuses"][0]["state"]["terminated"]["exitCode"]
    conditions = {(one["type"], one["status"]) for one in pod["status"].get("conditions", [])}
    for rule in manifest["spec"]["podFailurePolicy"]["rules"]:
        asked = {(one["type"], one["status"]) for one in rule.get("onPodConditions", [])}
        if asked & conditions or code in rule.get("onExitCodes", {}).get("values", []):
            return rule["action"] == "Ignore"
    return False


def run_pod(folder, manifest, index, attempt):
    """The pod as it ended; nothing where the job was deleted before it began."""
    file = folder / f"pod_{index}_{attempt}.json"
    container = manifest["spec"]["template"]["spec"]["containers"][0]
    pod = {"kind": "Pod", "spec": manifest["spec"]["template"]["spec"], "status": {"phase": "Pending"},
           "metadata": {"name": file.stem, "labels": manifest["spec"]["template"]["metadata"]["labels"],
                        "annotations": {INDEX: str(index)}, "creationTimestamp": f"2026-01-01T00:00:{attempt:02}Z"}}
    while (ROOT / "waits").exists() and not (folder / "delete").exists():
        waiting = {"reason": "ImagePullBackOff", "message": "Back-off pulling image"}
        pod["status"]["containerStatuses"] = [{"state": {"waiting": waiting}}]
        write(file, pod)
        time.sleep(0.02)
    if (folder / "delete").exists():
        return None
    process = subprocess.Popen([*container["command"], *container["args"]], stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True,
                               env={**os.environ, "JOB_COMPLETION_INDEX": str(index)})
    pod["status"] = {"phase": "Running"}
    write(file, pod)
    while process.poll() is None:
        if (folder / "evict").exists():
            (folder / "evict").unlink()
            pod["status"]["conditions"] = [{"type": "DisruptionTarget", "status": "True"}]
            process.send_signal(signal.SIGTERM)      # to the container's first process
        if (folder / "delete").exists() and "deletionTimestamp" not in pod["metadata"]:
            pod["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
            write(file, pod)
            process.send_signal(signal.SIGTERM)
        time.sleep(0.02)
    ended = {"exitCode": process.returncode, "message": process.stderr.read()}
    pod["status"].update(phase="Failed" if process.returncode else "Succeeded",
                         containerStatuses=[{"name": container["name"], "state": {"terminated": ended}}])
    write(file, pod)
    return pod


def run_job(folder):
    manifest = read(folder / "job.json")
    ended = {"completedIndexes": [], "failedIndexes": []}
    for index in range(manifest["spec"]["completions"]):
        attempt = 0
        while (pod := run_pod(folder, manifest, index, attempt)) and pod["status"]["phase"] == "Failed" and is_ignored(
                manifest, pod) and not (folder / "delete").exists():
            attempt += 1
        if pod:
            ended["failedIndexes" if pod["status"]["phase"] == "Failed" else "completedIndexes"].append(str(index))
        write(folder / "status.json", {name: ",".join(indexes) for name, indexes in ended.items()})
    (folder / "over").touch()


def create(words):
    if (ROOT / "refuse").exists():
        fail((ROOT / "refuse").read_text(encoding="utf-8"))
    manifest = read(pathlib.Path(value(words, "--filename")))
    folder = ROOT / manifest["metadata"]["name"]
    folder.mkdir()
    write(folder / "status.json", {})
    write(folder / "job.json", manifest)
    if os.fork() == 0:
        os.setsid()
        nothing = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(nothing, descriptor)
        run_job(folder)
        os._exit(0)
    print(f"job.batch/{folder.name} created")


def get(words):
    if (ROOT / "down").exists():
        fail("E1126 08:05:44 memcache.go:265\nThe connection to the server 10.0.0.1:6443 was refused")
    label, _, name = value(words, "--selector").partition("=")
    folder, items = ROOT / name, []
    if (folder / "job.json").exists() and not ((folder / "over").exists() and (folder / "delete").exists()):
        job = {**read(folder / "job.json"), "status": read(folder / "status.json")}
        if (folder / "delete").exists():
            job["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
        items = [job, *map(read, folder.glob("pod_*.json"))]
        items = [item for item in items if item["metadata"]["labels"].get(label) == name]
    print(json.dumps({"kind": "List", "items": items}))


def delete(words):
    if (ROOT / words[1]).exists():
        (ROOT / words[1] / "delete").touch()


def config(_):
    if not (ROOT / "context").exists():
        fail("error: current-context must exist in order to minify")
    print((ROOT / "context").read_text(encoding="utf-8"), end="")


if __name__ == "__main__":
    with open(ROOT / "calls", "a", encoding="utf-8") as calls:
        calls.write(" ".join(sys.argv[1:]) + "\n")
    {"create": create, "get": get, "delete": delete, "config": config}[sys.argv[1]](sys.argv[2:])
