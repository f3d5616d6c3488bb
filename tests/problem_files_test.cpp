// The files of a problem that a worker needs, there or by value.
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/file.h"
#include "problem/loader.h"
#include "problem/problem_files.h"

namespace strop {
namespace {

class Files : public testing::Test {
protected:
    void SetUp() override {
        write("problem.yaml",
              "name: twice\ninputs: {x: {dtype: float32, shape: [N]}}\n"
              "outputs: {y: {dtype: float32, shape: [N]}}\nshapes: {small: {N: 8}}\nbaselines: [own.py]\n");
        write("reference.py", "import helper\nfrom tools.more import table\n\n\ndef twice(x):\n    return 2 * x\n");
        write("own.py", "def twice(x):\n    return x + x\n");
        write("helper.py", "open('weights.bin')\n");
        write("weights.bin", std::string("\0\xff", 2));
        write("tools/more.py", "");
        write("helperx.py", "");
        write("notes.md", "nothing");
    }
    void write(const std::string& name, const std::string& text) { write_file(folder() / name, text); }
    fs::path folder() const { return root_.path() / "twice"; }
    Problem problem() const { return load_problem(folder().string()); }
    std::string refusal() const {
        try {
            read_files(problem(), marks_of_files(problem()));
        } catch (const UsageError& error) {
            return error.what();
        }
        return "none";
    }

    TemporaryFolder root_{"strop-test"};
};

TEST_F(Files, are_those_that_it_names_and_those_that_these_mention) {
    std::vector<std::string> names;
    for (const auto& [name, mark] : marks_of_files(problem())) names.push_back(name);
    EXPECT_EQ(names, (std::vector<std::string>{"helper.py", "own.py", "problem.yaml", "reference.py", "tools/more.py",
                                               "weights.bin"}));
}

TEST_F(Files, are_the_same_problem_where_they_arrive) {
    const FileMarks marks = marks_of_files(problem());
    EXPECT_TRUE(holds(folder(), marks));
    const TemporaryFolder other("strop-test");
    EXPECT_FALSE(holds(other.path(), marks));
    write_files(other.path(), read_files(problem(), marks));
    EXPECT_TRUE(holds(other.path(), marks));
    EXPECT_EQ(load_problem(other.path().string()).hash, problem().hash);
    write_file(other.path() / "weights.bin", "x");
    EXPECT_FALSE(holds(other.path(), marks));
}

TEST_F(Files, that_cannot_travel_are_named) {
    EXPECT_EQ(refusal(), "none");
    fs::remove(folder() / "helper.py");
    fs::create_symlink(root_.path() / "helper.py", folder() / "helper.py");
    write_file(root_.path() / "helper.py", "");
    EXPECT_EQ(refusal(), (folder() / "helper.py").string() + ": is a link");
    fs::remove(folder() / "helper.py");
    write("helper.py", std::string(most_problem_bytes + 1, ' '));
    EXPECT_EQ(refusal(), (folder() / "helper.py").string() + ": more than 16 MiB of files do not travel to a worker");
    fs::remove(folder() / "helper.py");
    fs::remove(root_.path() / "helper.py");
    write("problem.yaml", "reference: ../reference.py\n" + read_file(folder() / "problem.yaml"));
    fs::rename(folder() / "reference.py", root_.path() / "reference.py");
    EXPECT_EQ(refusal(), (root_.path() / "reference.py").string() + ": lies outside of " + folder().string());
    EXPECT_TRUE(holds(folder(), marks_of_files(problem())));
}

}  // namespace
}  // namespace strop
