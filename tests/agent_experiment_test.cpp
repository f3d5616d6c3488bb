// Probes that decide between two explanations.
#include "fakes/agent_fixture.h"

namespace strop::agent {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string diagnosis_json(const std::string& plan, const std::string& alternative) {
    return R"({"bottleneck": "memory", "evidence": "10%", "method": "blocks", "plan": ")" + plan +
           R"(", "expected": "large", "alternative": ")" + alternative + R"("})";
}

constexpr const char* experiment_json =
    R"({"hypothesis": "stores cost half of the time", "probes": [
        {"name": "No stores", "source": "int no_stores;", "tells": "near 1: the stores are free"},
        {"name": "No stores", "source": "int no_arithmetic;", "tells": "near 1: arithmetic is free"},
        {"name": "third", "source": "int third;", "tells": "one too many"}]})";

// One deepening of a kernel that takes 250 ns, by a model that gives its table's answers.
class ExperimentTest : public AgentTest {
protected:
    std::vector<Proposal> deepen() {
        Strategy strategy;
        strategy.id = "resident_passes";
        Kernel kernel;
        kernel.id = "resident_passes";
        kernel.source = "// strop:tune BLOCK = 16 | 32\nint block = BLOCK;\n";
        kernel.space.tunables = {{"BLOCK", {int64_t{16}, int64_t{32}}}};
        Evaluation evaluation;
        evaluation.configuration = {{"BLOCK", int64_t{32}}};
        PointResult point;
        point.point.label = "small";
        point.time.median_ns = 250;
        evaluation.points = {point};
        return AgentTest::deepen(strategy, kernel, evaluation, {"resident_passes"});
    }
    static TableModel::Answer doubtful(const std::string& experiment = experiment_json) {
        return [=](const llm::Request& request, int) {
            bool again = request.messages.size() > 1;
            if (request.role == "analyst" && !again) return said(diagnosis_json("fewer loads", "stores"));
            if (request.role == "analyst") return said(diagnosis_json("fewer stores", ""));
            if (request.role == "experimenter") return said(experiment);
            if (request.role == "planner")
                return said("{\"strategies\": [" + strategy_json(again ? "columns" : "trees", "adds in some order") +
                            "]}");
            return said(code_json(good_source));
        };
    }
};

TEST_F(ExperimentTest, what_the_analyst_cannot_tell_is_measured) {
    agent(doubtful());
    ASSERT_EQ(deepen().size(), 1u);
    const llm::Request& asked_for = last("experimenter");
    EXPECT_THAT(asked_for.system, HasSubstr("extern \"C\" void sum("));
    EXPECT_THAT(asked_for.messages[0].content,
                AllOf(HasSubstr("fewer loads"), HasSubstr("stores"), HasSubstr("int block = BLOCK;")));

    ASSERT_EQ(judge_.probes.size(), 3u);  // the kernel beside two probes
    EXPECT_TRUE(judge_.requests.empty());
    EXPECT_THAT(judge_.probes[0].kernel.source, HasSubstr("int block"));
    EXPECT_EQ(judge_.probes[1].kernel.source, "int no_stores;\n");
    for (const EvaluationRequest& request : judge_.probes) {
        EXPECT_EQ(strop::describe(request.configuration), "BLOCK=32");
        EXPECT_EQ(request.kernel.space.tunables.size(), 1u);
        EXPECT_EQ(request.points.size(), 1u);
        EXPECT_EQ(request.best_ns.at("small"), 2500);  // only a far slower one is given up early
    }

    ASSERT_EQ(asked("analyst"), 2);
    const llm::Request& again = last("analyst");
    ASSERT_EQ(again.messages.size(), 3u);  // append-only
    EXPECT_EQ(again.messages[0].content, model_->requests[0].messages[0].content);
    EXPECT_THAT(again.messages[1].content, HasSubstr("fewer loads"));
    EXPECT_THAT(again.messages[2].content,
                HasSubstr("- on resident_passes: stores cost half of the time\n"
                          "  probe no_stores: small 125 ns, the kernel 250 ns (0.50); it tells: near 1: the stores "
                          "are free\n"
                          "  probe no_stores_2: small 250 ns, the kernel 250 ns (1.00); it tells: near 1: arithmetic "
                          "is free\n"));
    EXPECT_THAT(last("coder").messages[0].content, AllOf(HasSubstr("fewer stores"), Not(HasSubstr("fewer loads"))));

    ASSERT_EQ(agent_->experiments().size(), 1u);
    const Experiment& made = agent_->experiments()[0];
    EXPECT_EQ(made.strategy, "resident_passes");
    EXPECT_EQ(made.kernel_ns.at("small"), 250);
    ASSERT_EQ(made.probes.size(), 2u);
    EXPECT_EQ(made.probes[0].nanoseconds.at("small"), 125);
}

TEST_F(ExperimentTest, later_prompts_cite_what_was_shown) {
    agent(doubtful());
    plan();
    deepen();
    const std::string shown = "probe no_stores: small 125 ns";
    score({});
    EXPECT_THAT(last("scorer").messages[0].content, HasSubstr(shown));
    widen({});
    EXPECT_THAT(last("planner").messages.back().content, HasSubstr(shown));
    agent_->reflect({});
    EXPECT_THAT(last("reflector").messages[0].content, HasSubstr(shown));
    deepen();
    EXPECT_THAT(last("analyst").messages[0].content, HasSubstr(shown));
}

TEST_F(ExperimentTest, a_clear_diagnosis_needs_none) {
    for (const char* clear : {"", "None", "n/a"}) {
        agent([=](const llm::Request& request, int) {
            return said(request.role == "analyst" ? diagnosis_json("fewer loads", clear) : code_json(good_source));
        });
        EXPECT_EQ(deepen().size(), 1u);
        EXPECT_EQ(asked("analyst"), 1);
        EXPECT_EQ(asked("experimenter"), 0);
    }
    EXPECT_TRUE(judge_.probes.empty());
}

TEST_F(ExperimentTest, nobody_need_fill_the_role) {
    agent(doubtful(), {}, {"analyst", "coder"});
    EXPECT_EQ(deepen().size(), 1u);
    EXPECT_EQ(asked("analyst"), 1);
    EXPECT_EQ(asked("experimenter"), 0);
    EXPECT_TRUE(judge_.probes.empty());
    agent(doubtful(), {}, {"analyst", "coder", "experimenter"});
    EXPECT_EQ(deepen().size(), 1u);
    EXPECT_EQ(asked("experimenter"), 1);
}

TEST_F(ExperimentTest, a_broken_reply_leaves_the_first_diagnosis) {
    for (const char* broken : {"I would rather not.", R"({"hypothesis": "h", "probes": []})", "[3]", "",
                               R"({"hypothesis": "h", "probes": [{"name": "x", "source": " ", "tells": "t"}]})"}) {
        agent(doubtful(broken));
        ASSERT_EQ(deepen().size(), 1u) << broken;
        EXPECT_EQ(asked("experimenter"), 1) << broken;
        EXPECT_EQ(asked("analyst"), 1) << broken;
        EXPECT_THAT(last("coder").messages[0].content, HasSubstr("fewer loads"));
        EXPECT_TRUE(agent_->experiments().empty()) << broken;
    }
    EXPECT_TRUE(judge_.probes.empty());
    agent([](const llm::Request& request, int count) {
        if (request.role == "analyst" && count > 0) return failed(llm::Failure::refused);
        return doubtful()(request, count);
    });
    ASSERT_EQ(deepen().size(), 1u);
    EXPECT_THAT(last("coder").messages[0].content, HasSubstr("fewer loads"));
    EXPECT_EQ(agent_->experiments().size(), 1u);
}

TEST_F(ExperimentTest, what_a_probe_declares_beside_the_kernels_tunables_keeps_its_first_value) {
    agent(doubtful(R"({"hypothesis": "h", "probes": [
        {"name": "wider", "source": "// strop:tune BLOCK = 8 | 16\n// strop:late ROWS = 4 | 2", "tells": "t"},
        {"name": "mistaken", "source": "// strop:tune ROWS = ", "tells": "t"}]})"));
    deepen();
    ASSERT_EQ(judge_.probes.size(), 3u);
    EXPECT_EQ(strop::describe(judge_.probes[0].configuration), "BLOCK=32");
    EXPECT_EQ(strop::describe(judge_.probes[1].configuration), "BLOCK=32 ROWS=4");
    ASSERT_EQ(judge_.probes[1].kernel.space.tunables.size(), 2u);
    EXPECT_EQ(judge_.probes[1].kernel.space.tunables[1].kind, Tunable::Kind::late);
    EXPECT_EQ(strop::describe(judge_.probes[2].configuration), "BLOCK=32");
}

TEST_F(ExperimentTest, a_probe_that_fails_is_a_line_and_is_not_repaired) {
    judge_.judgement = [](const Kernel& kernel, const Configuration&, const ShapePoint&) {
        return kernel.id == "no_stores" ? Verdict::compile_failed : Verdict::ok;
    };
    agent(doubtful());
    EXPECT_EQ(deepen().size(), 1u);
    EXPECT_THAT(last("analyst").messages[2].content,
                HasSubstr("  probe no_stores: compile_failed: first line; it tells: near 1: the stores are free\n"));
    EXPECT_EQ(asked("fixer"), 0);
    EXPECT_EQ(judge_.probes.size(), 3u);
}

TEST_F(ExperimentTest, one_a_deepening_and_a_few_a_run) {
    AgentOptions options;
    options.most_experiments = 2;
    agent(
        [](const llm::Request& request, int count) {  // in doubt for ever
            return request.role == "analyst" ? said(diagnosis_json("fewer loads", "stores"))
                                             : doubtful()(request, count);
        },
        options);
    for (int expected : {1, 2, 2}) {
        EXPECT_EQ(deepen().size(), 1u);
        EXPECT_EQ(asked("experimenter"), expected);
    }
    EXPECT_EQ(asked("analyst"), 5);
    EXPECT_EQ(agent_->experiments().size(), 2u);
}

}  // namespace
}  // namespace strop::agent
