#include "problem/trace.h"

#include <cstdlib>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/file.h"
#include "problem/framework.h"

namespace strop {
namespace {

using nlohmann::json;
using testing::HasSubstr;

// A shell script in Python's place, so that these tests need neither NumPy nor the tracer. Only built-in
// commands: a reference may not start processes.
class Trace : public testing::Test {
protected:
    Trace() {
        problem_.name = problem_.function = "scaled";
        problem_.folder = folder_.path();
        problem_.reference = folder_.path() / "reference.py";
        write_file(problem_.reference, "import numpy as np\n");
        problem_.inputs = {{"x", DType::float32, {Expression::parse("M"), Expression::parse("N-1")}}};
        problem_.parameters = {{"eps", DType::float32, 0.5}, {"stride", DType::int64, 2}};
    }
    ~Trace() override { ::unsetenv("STROP_PYTHON"); }

    std::string trace_with(const std::string& script) {
        fs::path program = folder_.path() / "python";
        write_file(program, "#!/bin/sh\n" + script + "\n");
        fs::permissions(program, fs::perms::owner_all);
        ::setenv("STROP_PYTHON", program.c_str(), 1);
        return trace_reference(problem_);
    }

    std::string reason_of(const std::string& script) {
        return json::parse(trace_with(script)).at("untraceable").get<std::string>();
    }

    TemporaryFolder folder_;
    Problem problem_;
};

TEST(Framework, IsWhatTheReferenceImports) {
    EXPECT_EQ(framework_of_text("import numpy as np\n"), "numpy");
    EXPECT_EQ(framework_of_text("\"\"\"Not import torch.\"\"\"\nimport numpy\n"), "numpy");
    EXPECT_EQ(framework_of_text("import torchlike\n"), "numpy");
    EXPECT_EQ(framework_of_text("def f(x):\n    import torch\n"), "numpy");
    EXPECT_EQ(framework_of_text("import math\nimport torch\n"), "pytorch");
    EXPECT_EQ(framework_of_text("import torch.nn.functional as F\n"), "pytorch");
    EXPECT_EQ(framework_of_text("from torch import nn\n"), "pytorch");
    EXPECT_EQ(framework_of_text("import math, torch as t\n"), "pytorch");
    EXPECT_EQ(framework_of_text("import math, torchlike, os.torch\n"), "numpy");
}

TEST(Framework, OfAKernelIsItsOwnOrThatOfTheReference) {
    const TemporaryFolder folder("strop-framework");
    const fs::path tensors = folder.path() / "tensors.py", arrays = folder.path() / "arrays.py";
    write_file(tensors, "import torch\n");
    write_file(arrays, "import numpy\n");
    EXPECT_EQ(framework_of_kernel("def f(x):\n    return x\n", tensors), "pytorch");
    EXPECT_EQ(framework_of_kernel("def f(x):\n    return x\n", arrays), "numpy");
    EXPECT_EQ(framework_of_kernel("def f(x):\n    return x\n", folder.path() / "reference.cpp"), "numpy");
    EXPECT_EQ(framework_of_kernel("import numpy as np\n", tensors), "numpy");
    EXPECT_EQ(framework_of_kernel("import torch\n", arrays), "pytorch");
    EXPECT_EQ(framework_of_kernel("import numpy\n\n\ndef custom_kernel(data):\n", tensors), "pytorch");
    EXPECT_EQ(framework_of_kernel("import numpy\n\n\nclass ModelNew(Base):\n", tensors), "pytorch");
    EXPECT_EQ(framework_of_kernel("def custom_kernel(data):\n", arrays), "numpy") << "PyTorch may not be there";
}

TEST_F(Trace, TensorsAreTracedAtThePointsOfTheSweep) {
    write_file(problem_.reference, "import torch\n");
    problem_.points = {{"small", {{"M", 4}, {"N", 8}}}};
    json seen = json::parse(trace_with("read -r line; echo \"$line\""));
    EXPECT_EQ(seen["framework"], "pytorch");
    EXPECT_EQ(seen["points"], json::parse(R"([{"M": 4, "N": 8}])"));
}

TEST_F(Trace, SendsTheSpecification) {
    json seen = json::parse(trace_with("read -r line; echo \"$line\""));  // what came in goes out
    EXPECT_EQ(seen["reference"], problem_.reference.string());
    EXPECT_EQ(seen["function"], "scaled");
    EXPECT_EQ(seen["inputs"],
              json::parse(R"([{"name": "x", "dtype": "float32", "stored": "float32", "shape": ["M", "N - 1"]}])"));
    EXPECT_EQ(seen["parameters"][0], json::parse(R"({"name": "eps", "dtype": "float32", "value": 0.5})"));
    EXPECT_EQ(seen["parameters"][1].dump(), R"({"dtype":"int64","name":"stride","value":2})");
}

TEST_F(Trace, RunsTheTracerOnStandardInput) {
    std::string document = trace_with("echo \"{\\\"arguments\\\": \\\"$*\\\"}\"");
    EXPECT_THAT(json::parse(document)["arguments"].get<std::string>(), testing::EndsWith("python/strop/trace.py -"));
}

TEST_F(Trace, WhatTheReferencePrintsIsPassedOver) {
    EXPECT_EQ(trace_with("echo loading...; echo '{\"nodes\": []}'"), "{\"nodes\": []}");
}

TEST_F(Trace, FailuresAreUntraceable) {
    EXPECT_THAT(reason_of("echo first >&2; echo 'ValueError: bad' >&2; exit 3"), HasSubstr("exit 3: ValueError: bad"));
    EXPECT_THAT(reason_of("echo no graph here"), HasSubstr("no graph"));
    EXPECT_THAT(reason_of("true"), HasSubstr("no graph"));
    EXPECT_THAT(reason_of("printf '\\377\\376' >&2; exit 1"), HasSubstr("exit 1"));
}

TEST_F(Trace, MissingPythonOrNumpyIsTheEnvironments) {
    EXPECT_THROW(trace_with("echo \"ModuleNotFoundError: No module named 'numpy'\" >&2; exit 1"), EnvironmentError);
    ::setenv("STROP_PYTHON", (folder_.path() / "no-such-python").c_str(), 1);
    EXPECT_THROW(trace_reference(problem_), EnvironmentError);
}

}  // namespace
}  // namespace strop
