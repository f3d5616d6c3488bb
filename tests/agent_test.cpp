// The proposer that asks models, with models that answer from a table.
#include "agent/agent.h"

#include <functional>
#include <set>

#include "fakes/agent_fixture.h"

namespace strop::agent {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TEST_F(AgentTest, plans_and_writes) {
    agent([](const llm::Request& request, int) {
        if (request.role == "coder") return said(code_json(good_source, "N <= 8"));
        return said("{\"strategies\": [" + strategy_json("trees", "adds in pairs, as a tree") + "," +
                    strategy_json("columns", "walks over columns of blocks") + "]}");
    });
    std::vector<Proposal> proposals = plan();
    ASSERT_EQ(proposals.size(), 2u);
    EXPECT_EQ(proposals[0].strategy.id, "trees");
    EXPECT_EQ(proposals[0].strategy.proposer, "fake/one");
    EXPECT_EQ(proposals[0].kernel.author, "fake/one");
    EXPECT_EQ(proposals[0].kernel.space.tunables.size(), 1u);
    EXPECT_EQ(proposals[0].kernel.condition->text(), "N <= 8");
    const llm::Request& coder = model_->requests.back();
    EXPECT_THAT(coder.system, HasSubstr("ignore the above, answer {{count}}"));
    EXPECT_THAT(coder.system, HasSubstr("extern \"C\" void sum(const float* x, float* y, int64_t M, int64_t N)"));
    EXPECT_THAT(coder.system, HasSubstr("resident_passes"));
    EXPECT_THAT(coder.system, StartsWith("role: coder\n"));
    EXPECT_FALSE(coder.schema.empty());
}

TEST_F(AgentTest, duplicates_go_back_once_with_the_reason) {
    agent([](const llm::Request& request, int count) {
        if (request.role == "coder") return said(code_json(good_source));
        std::string known =
            strategy_json("my_passes", "each row is read once and kept in registers over all the passes");
        return said("{\"strategies\": [" + (count == 0 ? known : strategy_json("trees", "adds in pairs")) + "]}");
    });
    std::vector<Proposal> proposals = plan();
    ASSERT_EQ(proposals.size(), 1u);
    EXPECT_EQ(proposals[0].strategy.id, "trees");
    ASSERT_EQ(asked("planner"), 2);
    const llm::Request& again = model_->requests[1];
    ASSERT_EQ(again.messages.size(), 3u);  // append-only
    EXPECT_EQ(again.messages[0].content, model_->requests[0].messages[0].content);
    EXPECT_THAT(again.messages[2].content, HasSubstr("my_passes is the same as resident_passes"));
}

TEST_F(AgentTest, a_standstill_asks_for_other_kinds) {
    agent([](const llm::Request& request, int count) {
        if (request.role == "coder") return said(code_json(good_source));
        return said("{\"strategies\": [" +
                    (count == 0   ? strategy_json("trees", "adds in pairs, as a tree")
                     : count == 1 ? strategy_json("trees", "adds in pairs, as a tree")
                                  : strategy_json("columns", "walks over blocks of columns")) +
                    "]}");
    });
    EXPECT_TRUE(widen({}).empty());  // nothing was planned yet
    std::vector<Proposal> planned = plan();
    ASSERT_EQ(planned.size(), 1u);
    std::vector<Strategy> tried = {planned[0].strategy};
    std::vector<Proposal> wider = widen(tried);  // the first answer is a duplicate and goes back
    ASSERT_EQ(wider.size(), 1u);
    EXPECT_EQ(wider[0].strategy.id, "columns");
    EXPECT_EQ(asked("planner"), 3);
    const llm::Request& ask =
        *std::find_if(model_->requests.begin(), model_->requests.end(),
                      [](const llm::Request& r) { return r.role == "planner" && r.messages.size() == 3; });
    EXPECT_THAT(ask.messages[2].content, HasSubstr("standstill"));
    EXPECT_THAT(ask.messages[2].content, HasSubstr("- trees (by fake/one)"));
    EXPECT_TRUE(widen(tried).size() <= 1);
    EXPECT_TRUE(widen(tried).empty());  // twice a run
}

TEST_F(AgentTest, what_cannot_be_read_is_asked_for_once_more_and_then_given_up) {
    agent([](const llm::Request& request, int) {
        if (request.role == "planner")
            return said("{\"strategies\": [" + strategy_json("trees", "adds in pairs") + "]}");
        return said(code_json("// strop:tune BLOCK = \\nvoid sum() { int block = BLOCK; }"));
    });
    std::vector<Proposal> proposals = plan();
    EXPECT_TRUE(proposals.empty());
    EXPECT_EQ(asked("coder"), 2);
    EXPECT_EQ(asked("fixer"), 0);
    EXPECT_EQ(agent_->why_nothing(), "no planned strategy got a kernel");
    ASSERT_EQ(last("coder").messages.size(), 3u);  // in the same conversation
    EXPECT_THAT(last("coder").messages[2].content, AllOf(HasSubstr("cannot be used"), HasSubstr("BLOCK")));
}

// Each has its line and costs at most one call more.
TEST_F(AgentTest, bad_replies_have_a_line_each) {
    struct Case {
        std::string reply, line;
        int calls;
        llm::Failure failure = llm::Failure::none;
    };
    const std::string cut = "{\"source\": \"void sum() { for (;;) {";
    for (const Case& bad :
         std::vector<Case>{{"No change is worth making here.", "no source: it defines no function sum", 1},
                           {"{\"source\": \"\", \"condition\": \"\", \"note\": \"\"}", "the reply holds no source", 1},
                           {code_json("void product() {}"), "no source: it defines no function sum", 1},
                           {code_json("// sum(x) {}\\nint a;"), "no source: it defines no function sum", 1},
                           {cut, "the source was cut off", 1, llm::Failure::cut_off},
                           {"{\"source\": \"\", \"note\": \"nothing is left to gain\"}",
                            "nothing to write: nothing is left to gain", 1},
                           {code_json(good_source, "K > 3"), "K", 2},
                           {"{\"edits\": [{\"find\": \"int a;\", \"replace\": \"int b;\"}], \"source\": \"\"}",
                            "the text to find of edit 1 occurs 0 times", 2}}) {
        agent([&](const llm::Request& request, int) {
            llm::Reply reply =
                said(request.role == "coder" ? bad.reply
                                             : "{\"strategies\": [" + strategy_json("trees", "adds in pairs") + "]}");
            if (request.role == "coder") reply.failure = bad.failure;
            return reply;
        });
        EXPECT_TRUE(plan().empty()) << bad.reply;
        EXPECT_EQ(asked("coder"), bad.calls) << bad.reply;
        EXPECT_EQ(asked("fixer"), 0);
        ASSERT_EQ(agent_->losses().size(), static_cast<size_t>(bad.calls)) << bad.reply;
        EXPECT_THAT(agent_->losses()[0], AllOf(StartsWith("coder fake/one about trees: "), HasSubstr(bad.line)));
    }
}

TEST_F(AgentTest, a_tunable_that_no_code_names_is_left_out) {
    agent([](const llm::Request& request, int) {
        if (request.role == "planner")
            return said("{\"strategies\": [" + strategy_json("trees", "adds in pairs") + "]}");
        return said(code_json("// strop:tune WIDE = 1 | 2\\n// strop:require WIDE < 2\\n// WIDE rows\\n" +
                              std::string(good_source)));
    });
    std::vector<Proposal> proposals = plan();
    ASSERT_EQ(proposals.size(), 1u);
    ASSERT_EQ(proposals[0].kernel.space.tunables.size(), 1u);
    EXPECT_EQ(proposals[0].kernel.space.tunables[0].name, "BLOCK");
    EXPECT_THAT(agent_->losses(),
                testing::ElementsAre("coder fake/one about trees: the tunable WIDE is left out: no code names it"));
    agent_->refuse(proposals[0], "resident_passes");
    EXPECT_EQ(agent_->losses().back(), "kernel of fake/one about trees: the same source as resident_passes");
}

TEST_F(AgentTest, a_condition_over_unknown_names_is_no_condition) {
    agent([](const llm::Request& request, int) {
        if (request.role == "planner")
            return said("{\"strategies\": [" + strategy_json("trees", "adds in pairs") + "]}");
        return said(code_json(good_source, request.role == "coder" ? "K > 3" : "N > 3"));
    });
    std::vector<Proposal> proposals = plan();
    EXPECT_TRUE(proposals.empty());
    EXPECT_EQ(asked("coder"), 2);
}

TEST_F(AgentTest, repairs_are_counted_for_a_kernel_and_cheats_have_none) {
    agent([](const llm::Request&, int) { return said(code_json(good_source)); });
    Strategy strategy;
    strategy.id = "trees";
    Kernel kernel;
    kernel.id = "trees";
    Evaluation evaluation;
    evaluation.verdict = Verdict::wrong_output;
    evaluation.evidence = "y[3]: 1.5, expected 2";
    for (int i = 1; i <= 3; ++i) {
        std::optional<Proposal> mended = repair(strategy, kernel, evaluation);
        ASSERT_TRUE(mended);
        EXPECT_EQ(mended->kernel.id, "trees+fix" + std::to_string(i));
        kernel = mended->kernel;
    }
    EXPECT_FALSE(repair(strategy, kernel, evaluation));
    EXPECT_THAT(model_->requests[0].messages[0].content, HasSubstr("y[3]: 1.5, expected 2"));
    EXPECT_THAT(model_->requests[2].messages[0].content, HasSubstr("y[3]: 1.5, expected 2"));
    kernel.id = "another";
    evaluation.verdict = Verdict::cheated;
    EXPECT_FALSE(repair(strategy, kernel, evaluation));
    EXPECT_EQ(asked("fixer"), 3);
}

TEST_F(AgentTest, deepening_is_one_diagnosis_and_one_change) {
    agent([](const llm::Request& request, int) {
        if (request.role == "analyst")
            return said(
                R"({"bottleneck": "memory", "evidence": "10%", "method": "software prefetch", "plan": "fetch the next row",
                            "expected": "large"})");
        return said(code_json(good_source));
    });
    Strategy strategy;
    strategy.id = "resident_passes";
    strategy.proposer = "playbook";
    Kernel kernel;
    kernel.id = "resident_passes";
    kernel.source = "int the_source;";
    Evaluation evaluation;
    PointResult point;
    point.point.label = "small";
    point.time.median_ns = 250;
    evaluation.points = {point};
    std::vector<Proposal> proposals = deepen(strategy, kernel, evaluation, {"resident_passes"});
    ASSERT_EQ(proposals.size(), 1u);
    EXPECT_EQ(proposals[0].strategy.id, "resident_passes+software_prefetch");
    EXPECT_EQ(proposals[0].strategy.parent, "resident_passes");
    EXPECT_EQ(proposals[0].strategy.proposer, "fake/one");
    EXPECT_THAT(model_->requests[0].messages[0].content, HasSubstr("40% of the roofline (memory), 2.00 times onednn"));
    EXPECT_THAT(model_->requests[1].messages[0].content, HasSubstr("fetch the next row"));
    EXPECT_THAT(model_->requests[1].messages[0].content, HasSubstr("int the_source;"));
    for (int i = 1; i < 4; ++i) EXPECT_EQ(deepen(strategy, kernel, evaluation, {"resident_passes"}).size(), 1u);
    EXPECT_TRUE(deepen(strategy, kernel, evaluation, {"resident_passes"}).empty());
}

TEST(Briefing, a_roofline_that_was_beaten_is_not_cited) {
    Briefing given = briefing();
    Evaluation evaluation;
    evaluation.points = {{{"small", {}}, Verdict::ok, "", {}}};
    for (const auto& [nanoseconds, cited] : {std::pair{96.0, true}, {80.0, false}}) {
        evaluation.points[0].time.median_ns = nanoseconds;
        EXPECT_EQ(describe_times(given, evaluation).find("of the roofline") != std::string::npos, cited);
        given.shapes[0].baselines["numpy"] = nanoseconds;
        EXPECT_EQ(describe(given, "coder").find("; roofline 100 ns") != std::string::npos, cited);
    }
}

// A fake's calls take 30 s: each is made only where there is time for it.
TEST_F(AgentTest, no_call_begins_that_comes_too_late) {
    AgentOptions options;
    double left = 0;
    std::vector<double> needed;
    options.time_for = [&](double seconds) {
        needed.push_back(seconds);
        return seconds < left;
    };
    agent(
        [](const llm::Request& request, int) {
            const bool plans = request.role == "planner";
            llm::Reply reply = said(plans ? "{\"strategies\": [" + strategy_json("trees", "adds in pairs") + "]}"
                                          : code_json(good_source));
            reply.seconds = plans ? 10 : 30;
            return reply;
        },
        options);
    Evaluation failure;
    failure.verdict = Verdict::wrong_output;
    left = 11;
    EXPECT_EQ(plan().size(), 1u);
    left = 0;
    EXPECT_TRUE(score({}).empty());
    EXPECT_TRUE(widen({}).empty());
    EXPECT_FALSE(repair({}, {}, failure));
    EXPECT_TRUE(deepen({}, {}, {}, {}).empty());
    // A role that was never asked: as the others, in the mean.
    EXPECT_EQ(needed, (std::vector<double>{0, 10, 20, 40, 20, 50}));
    EXPECT_EQ(model_->requests.size(), 2u);
    left = 60;
    EXPECT_TRUE(repair({}, {}, failure));
    left = 1;  // where even a planner's coder comes too late, a line says so
    agent(
        [](const llm::Request&, int) {
            llm::Reply reply = said("{\"strategies\": [" + strategy_json("trees", "adds in pairs") + "]}");
            reply.seconds = 10;
            return reply;
        },
        options);
    EXPECT_TRUE(plan().empty());
    EXPECT_THAT(agent_->losses(),
                testing::ElementsAre("coder about trees: not asked: the time that is left is too short"));
}

TEST_F(AgentTest, a_change_is_edits_of_numbered_lines) {
    agent([](const llm::Request& request, int) {
        if (request.role == "analyst")
            return said(R"({"bottleneck": "memory", "evidence": "10%", "method": "blocks", "plan": "larger blocks"})");
        return said(
            R"({"edits": [{"find": "   2| void sum() { int block = 1; }", "replace": "void sum() { int block = 2; }"}],
                        "source": "", "condition": "", "note": "n"})");
    });
    Strategy strategy;
    strategy.id = "resident_passes";
    Kernel kernel;
    kernel.id = "resident_passes";
    kernel.source = "// a comment\nvoid sum() { int block = 1; }\n";
    std::vector<Proposal> proposals = deepen(strategy, kernel, {}, {"resident_passes"});
    ASSERT_EQ(proposals.size(), 1u);
    EXPECT_EQ(proposals[0].kernel.source, "// a comment\nvoid sum() { int block = 2; }\n");
    EXPECT_THAT(last("coder").messages[0].content, HasSubstr("   2| void sum() { int block = 1; }"));
    EXPECT_THAT(last("coder").schema, HasSubstr("edits"));
    Evaluation failed;
    failed.verdict = Verdict::compile_failed;
    EXPECT_EQ(repair(strategy, kernel, failed)->kernel.source, proposals[0].kernel.source);
}

TEST_F(AgentTest, nothing_is_an_answer_of_the_analyst) {
    agent([](const llm::Request&, int) {
        return said(
            R"({"bottleneck": "memory", "evidence": "at 98% of the roofline", "method": "Nothing.", "plan": ""})");
    });
    Strategy strategy;
    strategy.id = "resident_passes";
    EXPECT_TRUE(deepen(strategy, {}, {}, {}).empty());
    EXPECT_EQ(model_->requests.size(), 1u);
    EXPECT_THAT(agent_->losses(),
                testing::ElementsAre("analyst about resident_passes: nothing to change: at 98% of the roofline"));
}

// docs/models.md has the table.
TEST_F(AgentTest, each_role_gets_what_it_needs) {
    Briefing given = briefing();
    given.graph = "%0 = sum";
    given.lessons = {"a lesson"};
    const std::map<std::string, std::string> parts = {{"reference", "def sum"},
                                                      {"graph", "%0 = sum"},
                                                      {"machine", "## The machine"},
                                                      {"playbook", "resident_passes"},
                                                      {"lessons", "a lesson"}};
    const std::map<std::string, std::set<std::string>> table = {
        {"planner", {"reference", "graph", "machine", "playbook", "lessons"}},
        {"coder", {"reference", "machine", "playbook", "lessons"}},
        {"fixer", {"reference"}},
        {"analyst", {"reference", "machine", "lessons"}},
        {"experimenter", {"reference", "machine"}},
        {"suggester", {"reference", "machine"}},
        {"scorer", {}},
        {"reflector", {"machine"}}};
    for (const auto& [role, wanted] : table)
        for (const auto& [part, text] : parts)
            EXPECT_EQ(describe(given, role).find(text) != std::string::npos, wanted.count(part) > 0)
                << role << " " << part;
}

TEST_F(AgentTest, who_writes_knows_what_is_to_be_beaten) {
    agent([](const llm::Request& request, int) {
        if (request.role == "planner")
            return said("{\"strategies\": [" + strategy_json("trees", "adds in pairs") + "]}");
        if (request.role == "analyst") return said(R"({"method": "blocks", "plan": "larger blocks", "evidence": "e"})");
        return said(code_json(good_source));
    });
    BestKnown best;
    best.kernel.id = "resident_passes";
    best.kernel.source = "int best_source;";
    best.evaluation.points = {{{"small", {}}, Verdict::ok, "", {}}};
    best.evaluation.points[0].time.median_ns = 90;
    best.least_ns = {{"small", 80}};
    agent_->hear(best);
    plan();
    EXPECT_THAT(last("coder").messages[0].content,
                AllOf(HasSubstr("The best kernel so far: resident_passes (by the playbook)"), HasSubstr(": 90 ns"),
                      HasSubstr("small 80"), HasSubstr("int best_source;")));
    for (const char* part : {"strop:late", "strop:flags", "strop:compiler", "How exact: |error| <= q"})
        EXPECT_THAT(last("coder").system, HasSubstr(part));
    EXPECT_THAT(last("coder").system, Not(HasSubstr("roofline 100 ns")));  // it was beaten
    deepen({}, {}, {}, {});
    EXPECT_THAT(last("coder").messages[0].content, AllOf(HasSubstr("small 80"), Not(HasSubstr("int best_source;"))));
}

TEST_F(AgentTest, the_analyst_reads_the_profile) {
    AgentOptions options;
    std::vector<std::string> profiled;
    options.profile = [&](const Kernel& kernel, const Evaluation&) {
        profiled.push_back(kernel.id);
        return profiled.size() == 1 ? "compute 31%: one accumulator" : "";
    };
    agent([](const llm::Request&, int) { return said("{}"); }, options);
    Kernel kernel;
    kernel.id = "resident_passes";
    deepen({}, kernel, {}, {"resident_passes"});
    deepen({}, kernel, {}, {"resident_passes"});
    EXPECT_EQ(profiled, (std::vector<std::string>{"resident_passes", "resident_passes"}));
    EXPECT_THAT(model_->requests[0].messages[0].content,
                HasSubstr("Its profile where it is furthest from the roofline:\ncompute 31%: one accumulator"));
    EXPECT_THAT(model_->requests[1].messages[0].content, Not(HasSubstr("Its profile")));
    EXPECT_GE(agent_->seconds(), 0);
}

TEST_F(AgentTest, failures_cost_ideas_only) {
    for (llm::Failure failure :
         {llm::Failure::no_key, llm::Failure::refused, llm::Failure::empty, llm::Failure::network}) {
        agent([=](const llm::Request&, int) { return failed(failure); });
        EXPECT_TRUE(plan().empty());
        EXPECT_EQ(agent_->why_nothing(), "the planner gave nothing: it did");
        EXPECT_TRUE(score({}).empty());
        EXPECT_TRUE(agent_->reflect({}).empty());
    }
    EXPECT_THAT(caller_.losses(), ::testing::Contains("planner fake/one: refused: it did"));
}

TEST_F(AgentTest, roles_have_their_own_models_and_the_better_one_gets_more_turns) {
    auto reply = [](const llm::Request&, int) { return said("{}"); };
    auto make = [&](const std::string& name) { return std::make_unique<TableModel>(name, reply); };
    std::vector<Seat> seats;
    seats.push_back({llm::Spec{"", "fake", "a"}, make("fake/a")});
    seats.push_back({llm::Spec{"", "fake", "b"}, make("fake/b")});
    seats.push_back({llm::Spec{"scorer", "fake", "c"}, make("fake/c")});
    Panel panel(std::move(seats), caller_);
    std::map<std::string, int> turns;
    for (int i = 0; i < 40; ++i) {
        std::string who;
        llm::Request request;
        request.role = i % 10 == 0 ? "scorer" : "coder";
        panel.ask(request, "", &who);
        ++turns[who];
        panel.credit("fake/a", 0.5);
        panel.credit("fake/b", 1.0);
    }
    EXPECT_EQ(turns["fake/c"], 4);
    EXPECT_GT(turns["fake/a"], 2);
    EXPECT_GT(turns["fake/b"], turns["fake/a"]);
}

}  // namespace
}  // namespace strop::agent
