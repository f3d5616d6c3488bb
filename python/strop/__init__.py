"""The Python side of Strop: the tracer and the hosts of references and baselines."""
