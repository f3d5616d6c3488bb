"""What the fake commands of schedulers share."""

import sys


def value(words, name):
    return next((word.split("=", 1)[1] for word in words if word.startswith(name + "=")), "")


def fail(text):
    print(text, file=sys.stderr)
    sys.exit(1)


def replace(file, text):
    """Whoever reads it sees the old or the new."""
    new = file.with_name("new")
    new.write_text(text, encoding="utf-8")
    new.rename(file)
