// A referee of the small problem, which the tests of a program share.
#pragma once

#include <string>

#include <gtest/gtest.h>

#include "base/file.h"
#include "device/machine.h"
#include "judge/referee.h"
#include "judge_scale_fixture.h"
#include "problem/loader.h"

namespace strop::judge {

class RefereeTest : public testing::Test {
protected:
    static void SetUpTestSuite() {
        folder_ = new TemporaryFolder("strop-test");
        write_file(folder_->path() / "scale/problem.yaml", problem_yaml);
        write_file(folder_->path() / "scale/reference.py", reference_py);
        problem_ = new Problem(load_problem((folder_->path() / "scale").string()));
        RefereeOptions options;
        options.seed = 7;
        referee_ = new Referee(*problem_, detect_machine(), options);
    }
    static void TearDownTestSuite() {
        delete referee_;
        delete problem_;
        delete folder_;
    }

    static Evaluation judge(const std::string& source, Effort effort = Effort::full) {
        EvaluationRequest request;
        request.kernel.id = "kernel";
        request.kernel.source = source;
        request.points = problem_->points;
        request.effort = effort;
        return referee_->evaluate({request}).front();
    }

    inline static TemporaryFolder* folder_ = nullptr;
    inline static Problem* problem_ = nullptr;
    inline static Referee* referee_ = nullptr;
};

}  // namespace strop::judge
