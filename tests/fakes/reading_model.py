#!/usr/bin/env python3
"""A model that reads passages, for `--model exec:...`.

    reading_model.py REPLIES LOG

REPLIES: a list of [text, reply]; the first whose text the last message has answers, no lessons where none does. Every
call is a line of LOG. While $READING_WAITS is a text of the message, it waits.
"""

import fcntl
import json
import os
import sys
import time


def main():
    request = json.load(sys.stdin)
    prompt = request["messages"][-1]["content"]
    with open(sys.argv[2], "a", encoding="utf-8") as log:
        fcntl.flock(log, fcntl.LOCK_EX)
        log.write(json.dumps({"role": request["role"], "prompt": prompt, "system": request["system"]}) + "\n")
    waits = os.environ.get("READING_WAITS")
    while waits and waits in prompt:
        time.sleep(0.1)
    try:
        with open(sys.argv[1], encoding="utf-8") as file:
            replies = json.load(file)
    except FileNotFoundError:
        replies = []
    reply = next((reply for text, reply in replies if text in prompt), {"lessons": []})
    text = reply if isinstance(reply, str) else json.dumps(reply)
    if text:
        json.dump({"text": text, "usage": {"input_tokens": 300, "output_tokens": 100}}, sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main())
