#include "run_result_fixture.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "base/strings.h"

namespace strop {
namespace {

using namespace result_fixture;
using testing::HasSubstr;
using testing::Not;

// ---- the Python module
// --------------------------------------------------------------------------------------

TEST_F(ResultFolder, PythonComputesOverArraysWithoutCopies) {
    write(scale_shift(), scale_shift_files());
    expect_python(R"py(
from scale_shift import scale_shift
assert "torch" not in sys.modules
x, shift = np.arange(6, dtype=np.float32).reshape(2, 3), np.array([1, 2, 3], np.float32)
y = scale_shift(x, shift, 2)
assert y.dtype == np.float32 and (y == 2 * x + shift).all()
assert np.allclose(scale_shift(x, shift), np.float32(0.1) * x + shift)
out = np.empty((2, 3), np.float32)
assert scale_shift(x, shift, factor=3.0, out=out) is out and (out == 3 * x + shift).all()
x.flags.writeable = False
assert (scale_shift(x, shift, 2) == y).all()
)py");
}

TEST_F(ResultFolder, PythonRefusesWhatTheKernelCannotRead) {
    write(scale_shift(), scale_shift_files());
    expect_python(R"py(
from scale_shift import scale_shift
x, shift = np.ones((4, 3), np.float32), np.ones(3, np.float32)
scale_shift(x, shift)  # compiles: what follows meets the binding first
bad = lambda kind, words, *a, **k: refused(kind, ["scale_shift: "] + words, scale_shift, *a, **k)
bad(TypeError, ["x has dtype float64", "float32"], x.astype(np.float64), shift)
bad(TypeError, ["x has dtype >f4"], x.astype(">f4"), shift)
bad(TypeError, ["x is of type list", "NumPy array"], [[1.0]], shift)
bad(ValueError, ["x has shape (3,)", "2 dimensions, [M, N]"], shift, shift)
bad(ValueError, ["shift has shape (4,)", "(3,)", "[N]"], x, np.ones(4, np.float32))
bad(ValueError, ["x is not contiguous"], np.ones((3, 4), np.float32).T, shift)
bad(ValueError, ["x is not contiguous"], np.ones((4, 6), np.float32)[:, ::2], shift)
bad(ValueError, ["shift is not contiguous"], x, np.zeros(13, np.uint8)[1:].view(np.float32))
bad(ValueError, ["M >= 1", "M = 0"], np.ones((0, 3), np.float32), shift)
bad(TypeError, ["factor is 'two'", "number"], x, shift, "two")
bad(ValueError, ["out has shape (3, 4)", "(4, 3)"], x, shift, out=np.ones((3, 4), np.float32))
bad(TypeError, ["out has dtype int32"], x, shift, out=np.ones((4, 3), np.int32))
bad(ValueError, ["out overlaps x"], x, shift, out=x)
memory = np.ones(20, np.float32)
bad(ValueError, ["out overlaps shift"], x, memory[11:14], out=memory[:12].reshape(4, 3))
scale_shift(x, memory[12:15], out=memory[:12].reshape(4, 3))
frozen = np.ones((4, 3), np.float32)
frozen.flags.writeable = False
bad(ValueError, ["out is read-only"], x, shift, out=frozen)
)py");
}

TEST_F(ResultFolder, PythonTakesAndReturnsTensors) {
    write(scale_shift(), scale_shift_files());
    expect_python(R"py(
try:
    import torch
except ImportError:
    sys.exit(0)
from scale_shift import scale_shift
x, shift = torch.arange(6, dtype=torch.float32).reshape(2, 3), torch.ones(3)
y = scale_shift(x, shift, 2.0)
assert isinstance(y, torch.Tensor) and torch.equal(y, 2 * x + 1)
assert torch.equal(scale_shift(x, shift, 2.0), y)
out = torch.empty(2, 3)
assert scale_shift(x, shift, 2.0, out=out) is out and torch.equal(out, y)
refused(TypeError, ["x has dtype float64"], scale_shift, x.double(), shift)
refused(ValueError, ["x is on device meta", "CPU"], scale_shift, x.to("meta"), shift)
refused(ValueError, ["x is not contiguous", "contiguous()"], scale_shift, torch.ones(3, 2).T, shift)
refused(ValueError, ["dense"], scale_shift, x.to_sparse(), shift)
refused(ValueError, ["out overlaps x"], scale_shift, x, shift, out=x)
leaf = torch.ones(2, 3, requires_grad=True)
refused(ValueError, ["x requires a gradient", "x.detach()"], scale_shift, leaf, shift)
with torch.no_grad():
    assert torch.equal(scale_shift(leaf, shift, 2.0), 2 * leaf + 1)
)py");
}

TEST_F(ResultFolder, PythonReturnsSeveralOutputs) {
    write(gather(), gather_files());
    expect_python(R"py(
from gather_rows import gather_rows
table, index = np.array([0.5, -1, 3]), np.array([2, 0, 1, 2])
picked, positive = gather_rows(table, index)
assert (picked == table[index]).all() and positive.dtype == bool and (positive == (picked > 0)).all()
out = np.empty(4), np.empty(4, bool)
result = gather_rows(table, index, out=out)
assert result[0] is out[0] and result[1] is out[1] and (out[0] == picked).all()
refused(TypeError, ["out is of type ndarray", "tuple of 2"], gather_rows, table, index, out=out[0])
refused(TypeError, ["out is of type tuple", "tuple of 2"], gather_rows, table, index, out=(out[0],))
refused(TypeError, ["out[1] has dtype float64", "bool"], gather_rows, table, index, out=(out[0], np.empty(4)))
refused(ValueError, ["out[0] overlaps table"], gather_rows, out[0][:3], index, out=out)
refused(TypeError, ["index has dtype int32", "int64"], gather_rows, table, index.astype(np.int32))
)py");
}

TEST_F(ResultFolder, PythonTakesNumbersOfNumPyForArraysWithoutAxes) {
    Problem problem = scale_shift();
    problem.parameters.clear();
    problem.inputs.insert(problem.inputs.begin(), tensor("factor", DType::float32, {}));
    ResultFiles files = scale_shift_files();
    files.source = R"text(#include <cstdint>

extern "C" void scale_shift(const float* factor, const float* x, const float* shift, float* y, int64_t M, int64_t N) {
    for (int64_t m = 0; m < M; ++m)
        for (int64_t n = 0; n < N; ++n) y[m * N + n] = *factor * x[m * N + n] + shift[n];
}
)text";
    files.vectors.clear();
    write(problem, files);
    expect_python(R"py(
from scale_shift import scale_shift
x, shift = np.arange(6, dtype=np.float32).reshape(2, 3), np.array([1, 2, 3], np.float32)
for factor in (x.max(), np.array(5, np.float32), x.max()):  # before and after the binding is loaded
    assert (scale_shift(factor, x, shift) == 5 * x + shift).all()
refused(TypeError, ["factor has dtype float64", "float32"], scale_shift, np.float64(5), x, shift)
refused(TypeError, ["factor is of type float"], scale_shift, 5.0, x, shift)
refused(ValueError, ["factor has shape (3,)"], scale_shift, shift, x, shift)
)py");
}

TEST_F(ResultFolder, PythonReadsDimensionsOutOfExpressions) {
    write(window_sum(), window_files());
    expect_python(R"py(
from window_sum import window_sum
x, w = np.arange(8, dtype=np.float32).reshape(2, 4), np.ones((4, 2, 3), np.float32)
assert window_sum(x, w).tolist() == [[10, 18, 24, 18]] * 4
assert window_sum(x, w, stride=2, padding=0).tolist() == [[18]] * 4
assert window_sum(x, w[:, :1].copy(), groups=2, padding=0).tolist() == [[3, 6], [3, 6], [15, 18], [15, 18]]
refused(ValueError, ["w has shape (4, 2, 3)", "(4, 1, 3)", "[K, C//groups, R]"], window_sum, x, w, groups=2)
refused(ValueError, ["stride >= 1 and groups >= 1", "groups = 0"], window_sum, x, w, groups=0)
refused(ValueError, ["C%groups == 0", "groups = 3"], window_sum, x, w[:, :0].copy(), groups=3)
refused(ValueError, ["L + 2*padding >= R", "padding = -1"], window_sum, x, w, padding=-1)
refused(TypeError, ["stride is 1.5", "integer"], window_sum, x, w, stride=1.5)
refused(ValueError, ["stride is 9223372036854775808"], window_sum, x, w, stride=2**63)
)py");
}

TEST_F(ResultFolder, PythonInvertsSimpleExtentsAndAsksForTheRest) {
    Problem problem;
    problem.name = "spread_out";
    problem.inputs = {tensor("steps", DType::int32, {"N - 1"}), tensor("pairs", DType::int32, {"2*M + N"}),
                      tensor("halves", DType::int32, {"H//2"})};
    problem.outputs = {tensor("out", DType::int32, {"4"})};
    problem.dimensions = {"N", "M", "H"};
    ResultFiles files;
    files.source = R"text(#include <cstdint>

extern "C" void spread_out(const int32_t*, const int32_t*, const int32_t*, int32_t* out, int64_t N, int64_t M,
                           int64_t H) {
    out[0] = static_cast<int32_t>(N);
    out[1] = static_cast<int32_t>(M);
    out[2] = static_cast<int32_t>(H);
    out[3] = 0;
}
)text";
    write(problem, files);
    expect_python(R"py(
from spread_out import spread_out
ints = lambda n: np.zeros(n, np.int32)
assert spread_out(ints(4), ints(19), ints(3), H=7).tolist() == [5, 7, 7, 0]
out = ints(4)
assert spread_out(ints(4), ints(19), ints(3), H=6, out=out) is out and out.tolist() == [5, 7, 6, 0]
refused(ValueError, ["pairs has shape (20,)", "(19,)"], spread_out, ints(4), ints(20), ints(3), H=7)
refused(ValueError, ["halves has shape (3,)", "(4,)"], spread_out, ints(4), ints(19), ints(3), H=8)
refused(TypeError, ["H"], spread_out, ints(4), ints(19), ints(3))
)py");
}

// Without _shape the careful way cannot be gone.
TEST_F(ResultFolder, PythonCallsThroughTheBinding) {
    write(scale_shift(), scale_shift_files());
    expect_python(R"py(
import scale_shift as module
x, shift = np.arange(6, dtype=np.float32).reshape(2, 3), np.array([1, 2, 3], np.float32)
module.scale_shift(x, shift)
refused(TypeError, ["x has dtype float64"], module.scale_shift, x.astype(np.float64), shift)
assert module._call is not module._checked
shape, module._shape = module._shape, None
y = module.scale_shift(x, shift, 2.0)
assert (y == 2 * x + shift).all() and y.dtype == np.float32
out = np.empty((2, 3), np.float32)
assert module.scale_shift(x, shift, factor=3.0, out=out) is out and (out == 3 * x + shift).all()
rows = np.ones((3, 3), np.float32)[1:]
assert (module.scale_shift(rows, rows[0], 1.0) == 2).all()
large = np.ones((2000, 64), np.float32)
assert (module.scale_shift(large, large[0], 1.0) == 2).all()
try:
    import torch
except ImportError:
    sys.exit(0)
module._shape = shape
x, shift = torch.from_numpy(x), torch.from_numpy(shift)
module.scale_shift(x, shift)  # PyTorch is new to the binding
module._shape = None
y = module.scale_shift(x, shift, 2.0)
assert type(y) is torch.Tensor and torch.equal(y, 2 * x + shift)
out = torch.empty(2, 3)
assert module.scale_shift(x, torch.nn.Parameter(shift, requires_grad=False), 3.0, out=out) is out
assert torch.equal(out, 3 * x + shift)
)py");
}

// A kernel that writes 16 MiB of new memory spends most of its time in page faults, unless the pages are huge.
TEST_F(ResultFolder, ALargeNewTensorAsksForHugePages) {
    write(scale_shift(), scale_shift_files());
    expect_python(R"py(
try:
    import torch
except ImportError:
    sys.exit(0)
from scale_shift import scale_shift

def asks(tensor):
    middle, inside = tensor.data_ptr() + tensor.nbytes // 2, False
    for line in open("/proc/self/smaps"):
        words = line.split()
        if "-" in words[0]:
            begin, end = (int(number, 16) for number in words[0].split("-"))
            inside = begin <= middle < end
        elif inside and words[0] == "VmFlags:":
            return "hg" in words
    raise AssertionError("no mapping holds the tensor")

x, shift = torch.ones(64, 65536), torch.ones(65536)
scale_shift(torch.ones(2, 3), torch.ones(3))  # compiles
given = torch.empty(64, 65536)  # first: the allocator may hand out memory again that was asked for
assert not asks(given)
scale_shift(x, shift, 2.0, out=given)
assert not asks(given)
assert asks(scale_shift(x, shift, 2.0))
)py");
}

TEST_F(ResultFolder, BindingFloorsAsPythonDoes) {
    write(window_sum(), window_files());
    Problem loose = window_sum();
    loose.name = "loose_sum";
    loose.require.clear();
    ResultFiles files = window_files();
    files.source = replace_all(files.source, "window_sum", "loose_sum");
    write(loose, files);
    expect_python(R"py(
import loose_sum, window_sum
x, w = np.arange(8, dtype=np.float32).reshape(2, 4), np.ones((4, 2, 3), np.float32)
for module, function in (window_sum, window_sum.window_sum), (loose_sum, loose_sum.loose_sum):
    function(x, w)
    shape, module._shape = module._shape, None
    assert function(x, w).tolist() == [[10, 18, 24, 18]] * 4
    assert function(x, w, stride=2, padding=0).tolist() == [[18]] * 4
    grouped = function(x, w[:, :1].copy(), groups=2, padding=0)
    assert grouped.tolist() == [[3, 6], [3, 6], [15, 18], [15, 18]]
    module._shape = shape
refused(ZeroDivisionError, [""], loose_sum.loose_sum, x, w, groups=0)
assert loose_sum.loose_sum(x[:, :2].copy(), w, padding=0, stride=3).shape == (4, 0)  # (2 - 3)//3 + 1
refused(ValueError, ["out has shape (4, 1)", "(4, 0)"], loose_sum.loose_sum, x[:, :2].copy(), w, padding=0, stride=3,
        out=np.empty((4, 1), np.float32))
refused(ValueError, ["padding is 9223372036854775808"], window_sum.window_sum, x, w, padding=2**63)
refused(ValueError, ["L + 2*padding >= R"], window_sum.window_sum, x, w, padding=-2**62 - 2**61)
)py");
}

TEST_F(ResultFolder, BindingCompilesWithoutWarnings) {
    const std::vector<Compiler> compilers = kernel_compilers();
    if (compilers.empty()) GTEST_SKIP() << "no compiler";
    for (const auto& [problem, files] :
         {std::pair{scale_shift(), scale_shift_files()}, std::pair{gather(), gather_files()},
          std::pair{window_sum(), window_files()}}) {
        write(problem, files);
        expect_python(fmt::format(R"py(
import os, subprocess, sysconfig
include = sysconfig.get_path("include")
if os.path.exists(include + "/Python.h"):
    subprocess.run(["{}", "-std=c++17", "-Wall", "-Wextra", "-Wshadow", "-Werror", "-fsyntax-only", "-isystem", include,
                    "{}_python.cpp"], check=True)
)py",
                                  compilers[0].path, problem.name));
    }
}

TEST_F(ResultFolder, PythonSaysOnceThatItHasNoBinding) {
    write(scale_shift(), scale_shift_files());
    expect_python(R"py(
import contextlib, io, os, sysconfig
sysconfig.get_path = lambda name: "/nowhere"
from scale_shift import scale_shift
x, shift, said = np.ones((2, 3), np.float32), np.ones(3, np.float32), io.StringIO()
with contextlib.redirect_stderr(said):
    assert (scale_shift(x, shift, 2) == 3).all() and (scale_shift(x, shift, 3) == 4).all()
assert said.getvalue().count("no Python.h in /nowhere") == 1 and said.getvalue().count("ctypes") == 1, said.getvalue()
(library,) = os.listdir("build")
assert library.startswith("libscale_shift-") and library.endswith(".so"), library
refused(TypeError, ["x has dtype float64"], scale_shift, x.astype(np.float64), shift)
)py");
}

TEST_F(ResultFolder, PythonCompilesAnotherSourceAndNamesAMissingCompiler) {
    write(scale_shift(), scale_shift_files());
    expect_python(R"py(
import os, subprocess
program = """
import numpy as np, scale_shift
one = np.ones((1, 1), np.float32)
print(scale_shift.scale_shift(one, one[0], 1)[0, 0])
"""
def result(**environment):
    return subprocess.run([sys.executable, "-c", program], env={**os.environ, **environment},
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)

failed = result(CXX="no-such-compiler")
assert "no C++ compiler was found (tried no-such-compiler)" in failed.stderr, failed.stderr
assert result().stdout == "2.0\n"
assert result(CXX="no-such-compiler").stdout == "2.0\n"
text = open("scale_shift.cpp").read()
open("scale_shift.cpp", "w").write(text.replace("+ shift[n]", "- shift[n]"))
assert result().stdout == "0.0\n"
open("scale_shift.cpp", "w").write("nonsense")
failed = result()
assert "could not be compiled" in failed.stderr and "nonsense" in failed.stderr, failed.stderr
names = sorted(name.partition("-")[0] for name in os.listdir("build"))
assert names == ["libscale_shift"] * 2 + ["scale_shift_python"] * 2, os.listdir("build")
)py");
}

// A process keeps a library under its name, so the second of two results in one folder was the first.
TEST_F(ResultFolder, PythonCallsWhatTheFolderHoldsNow) {
    write(scale_shift(), scale_shift_files());
    expect_python(R"py(
import importlib.util
def loaded():
    spec = importlib.util.spec_from_file_location("found", "scale_shift.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.scale_shift
one = np.ones((1, 1), np.float32)
first = loaded()
assert first(one, one[0], 1)[0, 0] == 2
text = open("scale_shift.cpp").read()
open("scale_shift.cpp", "w").write(text.replace("+ shift[n]", "- shift[n]"))
second = loaded()
assert second(one, one[0], 1)[0, 0] == 0 and first(one, one[0], 1)[0, 0] == 2
)py");
}

}  // namespace
}  // namespace strop
