"""PyTorch modules in memory: the file that is written computes what the module does, at other shapes too."""

import contextlib
import importlib.util
import inspect
import io
import math
import os
import pathlib
import re
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(HERE)), "python"))

HAVE_TORCH = importlib.util.find_spec("torch") is not None
if HAVE_TORCH:
    import torch
    from torch import nn

    from strop import import_file, module_arguments, module_target
    from strop.import_names import Refusal
    from strop.program import BadInput

    class Attention(nn.Module):
        """Constants of its own, arguments with defaults, tensors in a dictionary."""

        def __init__(self, width, heads):
            super().__init__()
            self.heads = heads
            self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width, bias=False)
            self.register_buffer("scale", torch.arange(width) / width, persistent=False)
            self.hidden = torch.ones(width, width).tril().bool()

        def forward(self, x, mask=None, causal=True):
            batch, steps, width = x.shape
            q, k, v = self.qkv(x).view(batch, steps, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
            y = nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask, is_causal=causal)
            y = self.out(y.transpose(1, 2).reshape(batch, steps, width)) * self.scale
            return {"y": y, "parts": [y @ self.hidden.float(), y.sum((1, 2))]}

    class Tied(nn.Module):
        """A parameter with two names, one that is frozen, and lists of modules."""

        def __init__(self):
            super().__init__()
            self.embed, self.head = nn.Embedding(50, 16), nn.Linear(16, 50, bias=False)
            self.head.weight = self.embed.weight
            self.bias = nn.Parameter(torch.randn(50), requires_grad=False)
            self.layers = nn.ModuleList(nn.Linear(16, 16) for _ in range(2))

        def forward(self, ids):
            x = self.embed(ids)
            for layer in self.layers:
                x = torch.tanh(layer(x))
            return (self.head(x) + self.bias).log_softmax(-1)

    class BesideAMask(nn.Module):
        def forward(self, x, mask):
            return nn.functional.scaled_dot_product_attention(x[:, None], x[:, None], x[:, None], attn_mask=mask)

    class Stateful(nn.Module):
        def forward(self, state, x):
            h, c = state
            return torch.tanh(h + x) * c

    class Batch(nn.Module):
        def forward(self, batch):
            return batch["a"] + batch["b"][0] * batch["b"][1]["c"]

    class ByPlace(nn.Module):
        def forward(self, x, /, y, scale=1.0):
            return (x - y) * scale

    class Sums(nn.Module):
        def forward(self, x, y):
            return x.sum(0) + y.mean(0)

    class Pair(nn.Module):
        def forward(self, a, b, *, scale: float = 1.0):
            return (a * scale + b).relu(), a.argmax(-1)

    class Several(nn.Module):
        def forward(self, *xs):
            return sum(xs)

    class ByExtents(nn.Module):
        """Python's arithmetic and branches over extents are done when it is exported."""

        def forward(self, x):
            y = x / math.log(x.shape[1] + 1)
            return y * 2 if x.shape[0] > 3 else y

    class Late(nn.Module):
        def forward(self, x, scale=1.0, bound=0.0, y=None):
            return (x * scale).clamp(min=bound) if y is None else x * scale + y

    class Masked(nn.Module):
        def __init__(self, eps=1.0):
            super().__init__()
            self.linear, self.eps = nn.Linear(8, 8), eps
            self.register_buffer("mask", torch.arange(8) % 2 == 0)

        def forward(self, x):
            return torch.where(self.mask, self.linear(x), self.eps)

    class ByValues(nn.Module):
        def forward(self, x):
            return x * 2 if x.sum() > 0 else x

    class Mixed(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(32, 16)

        def forward(self, x):
            with torch.autocast("cpu", torch.bfloat16):
                return self.linear(x)

    class Half(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(32, 16, dtype=torch.bfloat16)

        def forward(self, x):
            with torch.no_grad():
                mean = x.mean(-1, keepdim=True)
            return self.linear(x - mean)


@unittest.skipUnless(HAVE_TORCH, "PyTorch is not installed")
class ModuleFile(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        torch.manual_seed(0)

    def written(self, module, inputs, shapes=None):
        return module_target.write_module(pathlib.Path(self.folder.name), module, inputs, shapes, module_target.name_of(module))

    def imported(self, module, inputs, shapes=None):
        path = str(self.written(module, inputs, shapes))
        self.addCleanup(sys.modules.pop, "original", None)
        with contextlib.redirect_stderr(io.StringIO()):
            return import_file.import_file(path)["files"]["problem.yaml"]

    def check(self, module, inputs, *others):
        """At the example's shapes and others, with the module's own state."""
        path = self.written(module, inputs)
        spec = importlib.util.spec_from_file_location("written", path)
        made = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(made)
        copy = made.Model()
        self.assertEqual(list(copy.state_dict()), list(module.state_dict()))
        copy.load_state_dict(module.state_dict())
        names = list(inspect.signature(copy.forward).parameters)
        for given in (dict(zip(names, made.get_inputs())), *others):
            with torch.no_grad():
                found, expected = copy(**given), module(**given)
            self.assertEqual(type(found), type(expected))
            leaves = torch.utils._pytree.tree_leaves
            for one, other in zip(leaves(found), leaves(expected), strict=True):
                torch.testing.assert_close(one, other)

    def test_the_file_computes_what_the_module_does(self):
        draw = torch.randn
        cases = [
            (Attention(32, 4), {"x": draw(2, 9, 32)}, {"x": draw(3, 5, 32)}),
            (Attention(32, 4), {"x": draw(2, 9, 32), "mask": draw(9, 9), "causal": False},
             {"x": draw(2, 4, 32), "mask": draw(4, 4), "causal": False}),
            (Tied(), torch.randint(0, 50, (4, 7)), {"ids": torch.randint(0, 50, (2, 3))}),
            (Pair(), [draw(4, 6), draw(6)], {"a": draw(3, 5), "b": draw(5)}),
            (Pair(), {"a": draw(4, 6), "b": draw(6), "scale": 2.0}),
            (Half(), draw(5, 32).bfloat16(), {"x": draw(2, 32).bfloat16()}),
            (Mixed(), draw(5, 32), {"x": draw(2, 32)}),
            (Late(), {"x": draw(3, 4), "scale": math.inf, "y": draw(3, 4)}),
            (Late(), {"x": draw(3, 4), "scale": 2.0, "bound": -math.inf}, {"x": draw(5, 2), "scale": 2.0, "bound": -math.inf}),
            (Late(), {"x": draw(3, 4).masked_fill(torch.eye(3, 4).bool(), -math.inf)}),
            (nn.LSTM(8, 16, batch_first=True), draw(2, 5, 8), {"input": draw(3, 7, 8)}),
            (nn.TransformerEncoderLayer(16, 4, 32, batch_first=True).eval(), draw(2, 6, 16)),
            (nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU()).eval(), draw(2, 3, 9, 9)),
            (nn.Dropout(0.5).eval(), draw(3, 4)),
        ]
        for module, inputs, *others in cases:
            with self.subTest(type(module).__name__):
                self.check(module, inputs, *others)

    def test_shapes_are_those_that_were_asked_for(self):
        problem = self.imported(Attention(32, 4), {"x": "float32[B, N, 32]"}, {"first": {"B": 1, "N": 1}, "long": {"B": 4, "N": 4}})
        self.assertIn("  first: {B: 1, N: 1}\n  long: {B: 4, N: 4}\n", problem)
        self.assertIn("range: {B: [1, 4], N: [1, 5]}", problem)
        problem = self.imported(Tied(), "int64[B, S] integers < 50", [{"B": 4, "S": 7}, {"B": 1, "S": 3}])
        self.assertIn("  4_7: {B: 4, S: 7}\n  1_3: {B: 1, S: 3}\n", problem)
        self.assertIn("ids: {dtype: int64, shape: [B, S], fill: integers, limit: 50}", problem)

    def test_extents_of_one_name_are_one_dimension(self):
        both = {"a": {"B": 2, "T": 8}, "b": {"B": 1, "T": 16}}
        for module, inputs, shapes, written in (
            (nn.MultiheadAttention(64, 4, batch_first=True), {key: "float32[B, T, 64]" for key in ("query", "key", "value")},
             both, "value: {dtype: float32, shape: [B, T, 64]}"),
            (BesideAMask(), {"x": "float32[B, T, 32]", "mask": "float32[T, T]"}, both, "mask: {dtype: float32, shape: [T, T]}"),
            (BesideAMask(), {"x": "float32[B, T, 32]", "mask": "float32[2*T - T, T]"}, both, "mask: {dtype: float32, shape: [T, T]}"),
            (Sums(), {"x": "float32[rows, W]", "y": "float32[other, W]"}, {"a": {"rows": 20, "other": 30, "W": 40}},
             "y: {dtype: float32, shape: [other, W]}"),
            (Sums(), {"x": "float32[rows, 8]", "y": "float32[1, 8]"}, {"a": {"rows": 20}}, "x: {dtype: float32, shape: [rows, 8]}"),
            (nn.ReLU(), "float32[input, auto]", {"a": {"input": 20, "auto": 9}}, "input: {dtype: float32, shape: [input_, auto_]}")):
            with self.subTest(type(module).__name__, written=written):
                self.assertIn(written, self.imported(module.eval(), inputs, shapes))

    def test_extents_that_have_to_be_multiples(self):
        for module, inputs, shapes, written in (
            (nn.PixelUnshuffle(2), "float32[B, 3, H, H]", {"a": {"B": 2, "H": 32}, "b": {"B": 1, "H": 64}},
             "input: {dtype: float32, shape: [B, 3, 2*H_by_2, 2*H_by_2]}"),
            (nn.PixelUnshuffle(2), "float32[B, 3, 2*H, W*2]", {"a": {"B": 2, "H": 32, "W": 16}},
             "y: {dtype: float32, shape: [B, 12, H, W]}"),
            (nn.GLU(), torch.randn(20, 60), None, "input: {dtype: float32, shape: [M, 2*N_by_2]}"),
            (nn.Unflatten(1, (-1, 5)), torch.randn(8, 15), None, "y: {dtype: float32, shape: [M, N_by_5, 5]}"),
            (nn.Unflatten(1, (3, 5)), torch.randn(8, 15), None, "y: {dtype: float32, shape: [M, 3, 5]}")):
            with self.subTest(written):
                self.assertIn(written, self.imported(module, inputs, shapes))

    def test_arguments_that_hold_tensors(self):
        state, x = (torch.randn(4, 8), torch.randn(4, 8)), torch.randn(4, 8)
        for module, inputs, names in (
            (Stateful(), [state, x], ["state_0", "state_1", "x"]),
            (Stateful(), {"x": x, "state": list(state)}, ["state_0", "state_1", "x"]),
            (Batch(), {"batch": {"a": x, "b": [x, {"c": x}]}}, ["batch_a", "batch_b_0", "batch_b_1_c"]),
            (ByPlace(), [x, x, 2.0], ["x", "y"])):
            with self.subTest(type(module).__name__, names=names):
                problem = self.imported(module, inputs)
                self.assertEqual(re.findall(r"(?m)^  (\w+): \{dtype", problem)[:-1], names)
                given, structure = module_arguments.taken_apart(module_target._by_name(module, inputs))
                leaves = module_arguments.with_leaves(module, structure)
                again = module_arguments.with_containers(leaves, structure)
                expected = module(*inputs) if isinstance(inputs, list) else module(**inputs)
                torch.testing.assert_close(leaves(**given), expected)
                torch.testing.assert_close(again(*inputs) if isinstance(inputs, list) else again(**inputs), expected)
        self.assertIn("shape: [B, 8]}", self.imported(
            Stateful(), {"state": ("float32[B, 8]", "float32[B, 8]"), "x": "float32[B, 8]"}, {"a": {"B": 4}, "b": {"B": 9}}))

    def test_what_get_dimensions_may_give(self):
        for called, words in (("3", "get_dimensions() gives 3"), ("[['A']]", "get_dimensions() gives"),
                              ("[['A', 9]]", "get_dimensions() gives"), ("[['2 A', 8]]", "get_dimensions() gives"),
                              ("[['0*A', 8]]", "get_dimensions() gives"),
                              ("[['A', 'A']]", "gives extents of one name, 'A', which would be 3 and 8"),
                              ("[['A', '3*A']]", "which would be 2.66667 and 3")):
            path = self.written(nn.Linear(8, 4), {"input": torch.randn(3, 8)})
            path.write_text(path.read_text() + f"\n\ndef get_dimensions():\n    return {called}\n")
            with self.subTest(called), self.assertRaises(Refusal) as refused:
                import_file.import_file(str(path))
            self.assertIn(words, str(refused.exception))

    def test_a_layer_varies_where_its_weights_do_not_say_otherwise(self):
        self.assertIn("range: {B: [1, 2], M: [1, 5]}", self.imported(nn.LSTM(8, 16, batch_first=True), torch.randn(2, 5, 8)))

    def test_what_python_has_computed_of_extents_does_not_vary(self):
        problem = self.imported(ByExtents(), torch.randn(5, 9))
        self.assertIn("x: {dtype: float32, shape: [5, 9]}", problem)
        with self.assertRaises(BadInput) as refused:
            self.imported(ByExtents(), {"x": "float32[B, T]"}, {"a": {"B": 5, "T": 9}, "b": {"B": 5, "T": 6}})
        self.assertIn("cannot be exported for 'b': forward is for x.shape[0] >= 4 and x.shape[1] == 9", refused.exception.phrase)

    def test_what_is_asked_for_and_cannot_vary(self):
        path = self.written(nn.Linear(8, 4), {"input": torch.randn(3, 8)})
        path.write_text(path.read_text() + "\n\ndef get_shapes():\n    return {'wide': [[3, 9]]}\n")
        with self.assertRaises(Refusal) as refused:
            import_file.import_file(str(path))
        self.assertIn("get_shapes() asks for 'wide', [[3, 9]], where inputs are input ['M', 8]", str(refused.exception))

    def test_what_get_shapes_may_give(self):
        for asked in ("{}", "[[3, 8]]", "{'a': [[3]]}", "{'a': [[3, 0]]}", "{'a': 3}"):
            path = self.written(nn.Linear(8, 4), {"input": torch.randn(3, 8)})
            path.write_text(path.read_text() + f"\n\ndef get_shapes():\n    return {asked}\n")
            with self.subTest(asked), self.assertRaises(Refusal) as refused:
                import_file.import_file(str(path))
            self.assertIn("get_shapes() gives", str(refused.exception))

    def test_refusals(self):
        cases = [
            (nn.BatchNorm1d(4), torch.randn(3, 4), None, "call .eval() first"),
            (nn.Linear(8, 4), "float32[B, 8]", None, "no shapes were given"),
            (nn.Linear(8, 4), {"input": torch.randn(3, 8)}, {"a": {"B": 3}}, "inputs that are examples"),
            (nn.Linear(8, 4), "float32[B, 8]", {"a": {"C": 3}}, "a shape has no 'B'"),
            (nn.ReLU(), "float32[for]", {"a": {"for": 3}}, "the extent 'for' is no formula"),
            (nn.Linear(8, 4), {"x": torch.randn(3, 8)}, None, "Linear.forward"),
            (nn.Linear(8, 4), torch.randn(0, 8), None, "every extent has to be at least 1"),
            (nn.Linear(8, 4), torch.randn(3, 9), None, "cannot be exported"),
            (nn.Unflatten(1, (2, 4)), "float32[B, N]", {"a": {"B": 2, "N": 8}, "b": {"B": 2, "N": 4}}, "fails at 'b'"),
            (Several(), [torch.randn(3)], None, "any number of arguments"),
            (ByValues(), torch.randn(3), None, "control flow depends on the values of a tensor (test_module_target.py:"),
        ]
        for module, inputs, shapes, words in cases:
            with self.subTest(words), contextlib.redirect_stderr(io.StringIO()), self.assertRaises(BadInput) as refused:
                self.written(module, inputs, shapes)
            self.assertIn(words, f"{refused.exception.phrase} {refused.exception.hint}")

    def test_the_name(self):
        self.assertEqual(module_target.name_of(nn.TransformerEncoderLayer(8, 2, 8)), "transformer_encoder_layer")
        self.assertEqual(module_target.name_of(nn.Conv2d(3, 3, 3)), "conv2d")
        self.assertEqual(module_target.name_of(torch.compile(nn.Linear(2, 2))), "linear")


if __name__ == "__main__":
    unittest.main()
