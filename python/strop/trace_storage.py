"""What an array and its views share."""

from __future__ import annotations

from strop.trace_graph import GRAPH


class Storage:
    """Shared by an array and its views, to notice a change made through one and read through another."""

    def __init__(self):
        self.version = 0
        self.seen = 0  # GRAPH.clock when it was read last
        self.born = GRAPH.tick()
        self.unwritten = 0  # rows that were left as they are when the version changed last
        self.contiguous = False  # whether NumPy's elements are known to lie one after another
        self.frozen = ""  # a copy of what NumPy would change: why it is not to be written

    def outdate(self, unwritten: int = 0) -> int:
        """Views are not what they were, but of the first rows: the version now."""
        self.version, self.unwritten = self.version + 1, unwritten
        return self.version
