"""The text of an HTML page, as blocks.

    python html_text.py < PAGE

Standard output: a JSON list of [line, level, text]; `level` is that of a heading, 0 of other text; `line` is where the
text begins in the page. What a browser does not show as text of the page (scripts, styles, navigation) is left out.
"""

from __future__ import annotations

import html.parser
import json
import re
import sys

HIDDEN = {"script", "style", "noscript", "template", "svg", "math", "nav", "select", "button"}
WITHIN = {"a", "abbr", "b", "bdi", "bdo", "cite", "code", "del", "dfn", "em", "font", "i", "ins", "kbd", "mark", "q",
          "s", "samp", "small", "span", "strong", "sub", "sup", "time", "tt", "u", "var", "wbr", "img"}
CELLS = {"td", "th"}
HEADINGS = {"title": 1, **{f"h{level}": level for level in range(1, 7)}}


class Blocks(html.parser.HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.blocks = []
        self.hidden = []     # open elements that hide what is in them
        self.level = 0
        self.parts, self.line = [], 0

    def close_block(self):
        text = "".join(self.parts)
        lead = len(text) - len(text.lstrip())
        if text.strip():
            self.blocks.append([self.line + text[:lead].count("\n"), self.level, text.strip()])
        self.parts = []

    def handle_starttag(self, tag, attrs):
        if tag in HIDDEN:
            self.hidden.append(tag)
        if tag in CELLS:
            self.parts.append(" ")
        elif tag == "br":
            self.parts.append(" ")
        elif tag not in WITHIN:
            self.close_block()
        if tag in HEADINGS:
            self.level = HEADINGS[tag]

    def handle_endtag(self, tag):
        if tag in self.hidden:
            while self.hidden.pop() != tag:
                pass
        if tag not in WITHIN and tag not in CELLS:
            self.close_block()
        if tag in HEADINGS:
            self.level = 0

    def handle_startendtag(self, tag, attrs):
        if tag not in HIDDEN:    # "<script/>" hides nothing that follows
            self.handle_starttag(tag, attrs)

    def handle_data(self, data):
        if self.hidden:
            return
        if not self.parts:
            self.line = self.getpos()[0]
        self.parts.append(data)


def text_of(page):
    declared = re.search(rb"<meta[^>]{0,200}charset=[\"']?([A-Za-z0-9_-]{1,40})", page[:4096], re.IGNORECASE)
    for encoding in ([declared[1].decode()] if declared else []) + ["utf-8", "latin-1"]:
        try:
            return page.decode(encoding)
        except (LookupError, UnicodeDecodeError):
            continue
    return ""


def main():
    parser = Blocks()
    parser.feed(text_of(sys.stdin.buffer.read()))
    parser.close()
    parser.close_block()
    json.dump(parser.blocks, sys.stdout)


if __name__ == "__main__":
    main()
