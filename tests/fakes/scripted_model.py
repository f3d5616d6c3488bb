#!/usr/bin/env python3
"""A model that answers from a script, for `--model exec:...`.

    scripted_model.py SCRIPT LOG

SCRIPT: {"ROLE": [{"when": "a text of the last message, or empty", "reply": text or object, "times": 1}, ...]}.
The first entry of the role that fits and is not used up answers; without one the program fails. Every answered call
is a line of LOG, written before the answer is.
"""

import fcntl
import json
import sys


def main():
    script_file, log_file = sys.argv[1:3]
    request = json.load(sys.stdin)
    with open(script_file, encoding="utf-8") as file:
        entries = json.load(file).get(request["role"], [])
    last = request["messages"][-1]["content"]
    with open(log_file, "a+", encoding="utf-8") as log:
        fcntl.flock(log, fcntl.LOCK_EX)
        log.seek(0)
        used = [json.loads(line) for line in log]
        for index, entry in enumerate(entries):
            count = sum(use["role"] == request["role"] and use["entry"] == index for use in used)
            if entry.get("when", "") not in last or count >= entry.get("times", 1):
                continue
            line = {"role": request["role"], "entry": index, "prompt": last, "system": request["system"]}
            log.write(json.dumps(line) + "\n")
            log.flush()
            reply = entry["reply"]
            text = reply if isinstance(reply, str) else json.dumps(reply)
            json.dump({"text": text, "usage": {"input_tokens": 1000, "output_tokens": 200}}, sys.stdout)
            return 0
    print(f"the script has no reply for {request['role']}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
