#include "report/report.h"

#include <limits>
#include <regex>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "base/strings.h"
#include "core/json.h"
#include "fakes/sample_record.h"
#include "fakes/schema.h"
#include "report/facts.h"
#include "report/figures.h"
#include "report/format.h"
#include "report/svg.h"

namespace strop::report {
namespace {

using fakes::sample_record;
using fakes::SampleOptions;
using testing::ContainsRegex;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

// A record in which every text is hostile and many numbers are missing.
RunRecord hostile_record() {
    const std::string text = "<script>alert('x')</script> & \"q\" `|` \x1b[31m\xff\n# end";
    RunRecord record = sample_record({3, 2, 1, false, 2});
    record.in_process.framework = record.in_process.missing = text;
    for (InProcessPoint& point : record.in_process.points) {
        point.label = point.best_baseline = text;
        point.baselines = {{text, infinity}};
        point.speedups = {{text, {infinity, 0, infinity}}};
    }
    record.problem = record.run = record.compiler = record.verification = record.note = record.result = text;
    record.problem_folder = record.started = record.machine.cpu = record.headline_baseline = text;
    for (ShapeReport& shape : record.shapes) {
        shape.label = shape.kernel = shape.best_baseline = shape.bound = text;
        shape.speedups[text] = {infinity, 0, infinity};
        shape.baselines[text] = not_a_number;
        shape.baseline_overhead[text] = 5;
        shape.cold_baselines = {{text, 3}};
    }
    for (Strategy& strategy : record.strategies) {
        strategy.family = strategy.proposer = strategy.hypothesis = strategy.reason = strategy.bottleneck = text;
    }
    for (Regime& regime : record.regimes) {
        regime.condition = regime.kernel = text;
        regime.points = {text};
        regime.configuration = {{"OPT", text}};
    }
    for (Kernel& kernel : record.kernels) kernel.id = kernel.source = kernel.author = text;
    for (HistoryEntry& entry : record.history) entry.kernel = entry.evidence = text;
    record.experiments = {
        {record.strategies[0].id, text, {{text, 1}}, {{text, text, Verdict::crashed, text, {{text, 1}}}}}};
    record.missing_baselines = {{text, text}};
    record.weaker = {text};
    record.workers = {{text, 1, 1, 1, text}};
    record.sanitizers = {{text, 0, Verdict::crashed, text, ""}, {text, 0, Verdict::ok, "", text}};
    return record;
}

RunRecord empty_record() { return {}; }

// ---- workers ----

TEST(ReportWorkers, EachIsNamedWhileTheyAreFew) {
    EXPECT_EQ(workers_text({}), "");
    EXPECT_EQ(
        workers_text(fakes::sample_record()),
        "2 took part: 'node1' 12 batches, lost and back 1 time; 'node2 #2' 3 batches, gone in the end (it was lost "
        "and does not come back)");
}

TEST(ReportWorkers, OfManyOnlyThoseThatAreGone) {
    RunRecord record;
    for (int i = 0; i < 100; ++i) record.workers.push_back({"n" + std::to_string(i), 9 + i % 4, 40, i % 50 == 0, ""});
    EXPECT_EQ(workers_text(record), "100 took part, 9 to 12 batches each, 2 were lost and came back");
    record.workers[7].dropped = "no route";
    EXPECT_EQ(workers_text(record),
              "100 took part, 9 to 12 batches each, 2 were lost and came back: 'n7' 12 batches, gone in the end (no "
              "route)");
    for (WorkerUse& use : record.workers) use.dropped = "no route";
    EXPECT_TRUE(workers_text(record).ends_with("and 92 more that are gone"));
}

// ---- numbers ----

TEST(ReportFormat, TimesHaveThreeDigitsAndAdaptiveUnits) {
    EXPECT_EQ(time_text(0.5), "0.50 ns");
    EXPECT_EQ(time_text(638), "638 ns");
    EXPECT_EQ(time_text(999.4), "999 ns");
    EXPECT_EQ(time_text(999.7), "1.00 µs");
    EXPECT_EQ(time_text(12345), "12.3 µs");
    EXPECT_EQ(time_text(4.56e6), "4.56 ms");
    EXPECT_EQ(time_text(2.5e9), "2.50 s");
    EXPECT_EQ(time_text(2.5e13), "25000 s");
    for (double absent : {0.0, -1.0, infinity, not_a_number}) EXPECT_EQ(time_text(absent), "–");
}

TEST(ReportFormat, RatiosAndIntervals) {
    EXPECT_EQ(ratio_text(1.42), "1.42×");
    EXPECT_EQ(ratio_text(12.34), "12.3×");
    EXPECT_EQ(ratio_text(1234), "1234×");
    EXPECT_EQ(ratio_text(0.93), "0.93×");
    EXPECT_EQ(ratio_text(0.0123), "0.012×");
    EXPECT_EQ(ratio_text(not_a_number), "–");
    EXPECT_EQ(interval_text({1.42, 1.38, 1.47}), "1.38–1.47");
    EXPECT_EQ(interval_text({1.42, 0, infinity}), "0.00–∞");
}

TEST(ReportFormat, OtherQuantities) {
    EXPECT_EQ(percent_text(0.634), "63%");
    EXPECT_EQ(percent_text(0.004), "0.4%");
    EXPECT_EQ(percent_text(0), "–");
    EXPECT_EQ(spread_text(100, 99, 103), "±3.0%");
    EXPECT_EQ(spread_text(0, 0, 0), "–");
    EXPECT_EQ(rate_text(34e9, "B/s"), "34.0 GB/s");
    EXPECT_EQ(rate_text(0, "B/s"), "–");
    EXPECT_EQ(seconds_text(4.25), "4.2 s");
    EXPECT_EQ(seconds_text(59.99), "1 min 00 s");
    EXPECT_EQ(seconds_text(125), "2 min 05 s");
    EXPECT_EQ(seconds_text(3 * 3600 + 120), "3 h 02 min");
}

TEST(ReportFormat, TextsAreCutByCodePoints) {
    EXPECT_EQ(columns_of("µs×"), 3u);
    EXPECT_EQ(truncated("µµµµ", 4), "µµµµ");
    EXPECT_EQ(truncated("µµµµ", 3), "µµ…");
    EXPECT_EQ(truncated("abc", 0), "");
    EXPECT_EQ(padded("µ", 3), "µ  ");
    EXPECT_EQ(padded("µ", 3, true), "  µ");
    EXPECT_EQ(one_line("a\n\tb\x1b[31m "), "a b?[31m");
    EXPECT_THAT(wrapped("one two three", 7), ElementsAre("one two", "three"));
    EXPECT_THAT(wrapped("incomprehensible", 6), ElementsAre("incomp", "rehens", "ible"));
    EXPECT_THAT(wrapped("", 6), ElementsAre(""));
}

// ---- what is said ----

TEST(ReportFacts, HeadlineOfAWinNamesTheOnlyRival) {
    RunRecord record = sample_record({1, 1});
    record.headline = {1.42, 1.38, 1.47};
    EXPECT_EQ(headline(record), "1.42× faster than onednn (95% interval 1.38–1.47)");
    EXPECT_EQ(headline_meaning(record), "at one shape, against onednn, the only baseline measured");
    record.headline = {281, 1.75, 45131};
    EXPECT_EQ(headline(record), "at least 1.75× faster than onednn (95% interval 1.75–45131, too wide to say more)");
    EXPECT_THAT(headline_meaning(sample_record({1, 3})),
                testing::MatchesRegex("at one shape, against [a-z]+, the best of 3 baselines"));
    EXPECT_THAT(headline_meaning(sample_record({4, 2})), StartsWith("geometric mean over 4 shapes, "));
}

TEST(ReportFacts, HeadlineNamesBothFiguresWhereTheyDiffer) {
    RunRecord record = sample_record({1, 1, 1, false, 1.9});
    record.headline = {2.1, 2.05, 2.15};
    record.in_process.headline = {1.9, 1.85, 1.95};
    EXPECT_EQ(headline(record),
              "2.10× faster than onednn alone (95% interval 2.05–2.15); 1.90× from Python beside pytorch (1.85–1.95)");
    record.in_process.headline = {2, 1.95, 2.06};
    EXPECT_EQ(headline(record), "2.10× faster than onednn (95% interval 2.05–2.15)");
    record.headline = {1.1, 1.02, 1.2};
    record.in_process.headline = {0.99, 0.95, 1.03};  // the intervals meet, but only one is above 1
    record.outcome = Outcome::no_improvement;
    EXPECT_EQ(headline(record),
              "no improvement: 1.10× faster than onednn alone (95% interval 1.02–1.20); 0.99× from "
              "Python beside pytorch (0.95–1.03)");
    record.in_process = {"pytorch", "exit 1: no module", {}, {}};
    EXPECT_THAT(caveats(record), testing::Contains("not measured from Python beside pytorch: exit 1: no module"));
}

TEST(ReportFacts, TheDifferenceInProcessIsExplained) {
    RunRecord record = sample_record({2, 1, 1, false, 1.9});
    for (size_t i = 0; i < record.shapes.size(); ++i) {
        record.shapes[i].nanoseconds = 1000;
        record.shapes[i].baselines = {{"pytorch", 4000}};
        record.shapes[i].baseline_overhead = {{"pytorch", 1200}};
        record.in_process.points[i].nanoseconds = 2000;
        record.in_process.points[i].baselines = {{"pytorch", 4400}};
        record.in_process.points[i].speedups = {{"pytorch", {2.2, 2.1, 2.3}}};
    }
    EXPECT_EQ(
        in_process_explanation(record),
        "alone leaves out what calling a baseline costs (pytorch 1.20 µs); a call takes 2.00× as long as alone, the "
        "framework's 1.10×; threads meet: the other operation takes up to 1.20× as long beside the result");
    const std::string row = "2.00 µs, alone 1.00 µs: 2.20× (2.10–2.30) over pytorch, 4.40 µs";
    EXPECT_EQ(in_process_rows(record).front().value, row);
    EXPECT_THAT(terminal(record, false, 200), HasSubstr(row));
    EXPECT_THAT(html(record), HasSubstr(row));
    EXPECT_THAT(markdown(record), HasSubstr("2.20× (2.10–2.30) over pytorch"));
    EXPECT_TRUE(in_process_rows(sample_record()).empty());
}

TEST(ReportFacts, HeadlineSaysWhereABaselineStaysAhead) {
    RunRecord record = sample_record({4, 1});
    record.shapes[2].speedup = {0.9, 0.88, 0.92};
    EXPECT_THAT(headline(record), HasSubstr("onednn stays ahead at 1 of 4 shapes"));
    EXPECT_THAT(caveats(record), testing::Contains("onednn stays ahead at large (0.90×)"));
}

TEST(ReportFacts, NoImprovementIsToldPlainly) {
    RunRecord record = sample_record({2, 1, 0.7});
    record.headline = {0.93, 0.91, 0.95};
    EXPECT_EQ(headline(record), "no improvement: onednn stays ahead: 0.93× (95% interval 0.91–0.95)");
    record.headline = {1.01, 0.98, 1.03};
    EXPECT_EQ(headline(record),
              "no improvement: no difference to onednn that can be told: 1.01× (95% interval 0.98–1.03)");
    record.headline = {1.2, 1.1, 1.3};
    record.verified = false;
    EXPECT_THAT(headline(record), HasSubstr("did not hold up"));
}

TEST(ReportFacts, HeadlineWithoutMeasurements) {
    RunRecord record;
    record.outcome = Outcome::no_improvement;
    record.note = "the playbook has no emitter for 'cumsum'";
    EXPECT_EQ(headline(record), "no improvement: the playbook has no emitter for 'cumsum'");
    record.outcome = Outcome::failed;
    EXPECT_EQ(headline(record), "failed: the playbook has no emitter for 'cumsum'");
    record.outcome = Outcome::interrupted;
    EXPECT_EQ(headline(record), "interrupted");
    EXPECT_THAT(next_step(record), StartsWith("strop resume"));
}

TEST(ReportFacts, CaveatsNameWhatIsMissingUndecidedAndUnverified) {
    RunRecord record = sample_record({2, 1});
    record.shapes[0].speedup = {1.0, 0.97, 1.04};
    record.verified = false;
    record.verification = "the win shrank to 0.99×";
    record.missing_baselines.push_back({"fast", "failed: wrong_output: y[0] is 1"});
    std::string all = join(caveats(record), "\n");
    EXPECT_THAT(all, HasSubstr("undecided at small (0.97–1.04 against onednn)"));
    EXPECT_THAT(all, HasSubstr("not verified: the win shrank to 0.99×"));
    EXPECT_THAT(all, HasSubstr("not compared with jax: it is not installed (./strop setup jax)"));
    EXPECT_THAT(all, HasSubstr("not compared with fast: it failed: wrong_output: y[0] is 1"));
    EXPECT_THAT(all, HasSubstr("no user namespaces"));
}

TEST(ReportFacts, CaveatsTellWhatTheCeilingsDoNotAllow) {
    RunRecord record = sample_record({2, 1});
    record.shapes[0].roofline_share = 1.02;
    record.shapes[1].roofline_share = 0.9;
    EXPECT_THAT(join(caveats(record), "\n"), testing::Not(HasSubstr("not a bound")));
    record.shapes[1].roofline_share = 1.53;
    EXPECT_THAT(caveats(record), testing::Contains(HasSubstr("the roofline is not a bound at " +
                                                             record.shapes[1].label + " (153% of the roofline)")));
    EXPECT_EQ(roofline_text(record.shapes[0]), "102% " + record.shapes[0].bound);
    EXPECT_EQ(roofline_text(record.shapes[1]), "not a bound");
}

TEST(ReportFacts, ABudgetThatDidNotSufficeIsTold) {
    RunRecord record = sample_record({2, 2});
    record.stopped_by = "budget";
    record.settings.budget_seconds = 60;
    record.seconds.total = 62;
    EXPECT_THAT(stopped_text(record), Not(HasSubstr("(of ")));
    record.seconds.total = 79;
    EXPECT_THAT(stopped_text(record), HasSubstr("in 1 min 19 s (of 1 min 00 s: "));
}

TEST(ReportFacts, SanitizersAndColdTimes) {
    RunRecord record;
    EXPECT_EQ(sanitizers_text(record), "not run under sanitizers");
    record.sanitizers = {{"A", 1, Verdict::ok, "", ""},
                         {"B", 0, Verdict::ok, "", "clang 1.0 has no run-time of it"},
                         {"C", 3, Verdict::crashed, "C: overflow at k.cpp:3", ""}};
    EXPECT_EQ(sanitizers_text(record),
              "A found nothing at 1 shape; B: not run, clang 1.0 has no run-time of it; C: overflow at k.cpp:3");
    ShapeReport shape;
    EXPECT_EQ(cold_text(shape) + " " + cold_ratio_text(shape), "– –");
    shape.cold_ns = 2000;
    EXPECT_EQ(cold_text(shape) + " " + cold_ratio_text(shape), "2.00 µs –");
    shape.cold_baselines = {{"numpy", 9000}, {"onednn", 5000}};
    EXPECT_EQ(cold_ratio_text(shape), "2.50×");
}

TEST(ReportFacts, BaselinesComeHardestFirst) {
    EXPECT_THAT(baseline_names(sample_record({4, 6})),
                ElementsAre("onednn", "torch_compile_max_autotune", "pytorch", "jax", "naive_cpp", "numpy"));
}

std::vector<std::pair<std::string, int>> tree_of(const std::vector<std::pair<std::string, std::string>>& parents) {
    RunRecord record;
    for (const auto& [id, parent] : parents) {
        Strategy strategy;
        strategy.id = id;
        strategy.parent = parent;
        if (id.find("won") != std::string::npos) strategy.state = Strategy::State::winner;
        record.strategies.push_back(strategy);
    }
    std::vector<std::pair<std::string, int>> lines;
    for (const StrategyLine& line : strategy_tree(record)) lines.emplace_back(line.strategy->id, line.depth);
    return lines;
}

TEST(ReportFacts, StrategyTreeHoldsEveryStrategyOnce) {
    using Lines = std::vector<std::pair<std::string, int>>;
    EXPECT_EQ(tree_of({{"a", ""}, {"b", ""}, {"b_won", "b"}, {"a1", "a"}}),
              (Lines{{"b", 0}, {"b_won", 1}, {"a", 0}, {"a1", 1}}));
    EXPECT_EQ(tree_of({{"child", "absent"}}), (Lines{{"child", 0}}));
    EXPECT_EQ(tree_of({{"self", "self"}}), (Lines{{"self", 0}}));
    EXPECT_EQ(tree_of({{"a", "b"}, {"b", "a"}, {"c", "a"}}).size(), 3u);
    EXPECT_EQ(tree_of({{"a", ""}, {"a", ""}}).size(), 2u);
}

TEST(ReportFacts, FailuresAreCountedByVerdictAndKernel) {
    RunRecord record;
    HistoryEntry entry;
    entry.kernel = "k";
    record.history = {entry};
    entry.verdict = Verdict::crashed;
    entry.evidence = "first";
    record.history.push_back(entry);
    entry.evidence = "second";
    record.history.push_back(entry);
    std::vector<Failure> found = failures(record);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].count, 2);
    EXPECT_EQ(found[0].evidence, "first");
}

// ---- JSON ----

Json schema() { return Json::parse(read_file(fs::path(STROP_SOURCE_DIR) / "docs" / "report.schema.json")); }

TEST(ReportJson, FollowsItsSchema) {
    Json rules = schema();
    std::vector<RunRecord> records = {sample_record(), sample_record({12, 6, 1, true, 2}), sample_record({1, 1, 0.5}),
                                      empty_record()};
    records.push_back(hostile_record());
    records.back().shapes.clear();  // its "bound" is none of the known ones
    for (const RunRecord& record : records) EXPECT_EQ(fakes::violation(rules, Json::parse(json(record))), "");
}

// Every key that the schema names is required, wherever it stands.
void expect_each_key_missed(const Json& rules, const Json& document, const Json::json_pointer& at) {
    if (document[at].is_array() && !document[at].empty()) return expect_each_key_missed(rules, document, at / 0);
    if (!document[at].is_object()) return;
    for (const auto& [key, value] : document[at].items()) {
        Json without = document;
        without[at].erase(key);
        EXPECT_NE(fakes::violation(rules, without), "") << (at / key).to_string();
        bool named_by_user = key == "by_verdict" || key == "configuration" || key == "initial" || key == "dims" ||
                             key == "baselines" || key == "cold_baselines" || key == "baseline_overhead" ||
                             key == "nanoseconds" || key == "speedups" || key == "kernel_ns";
        if (!named_by_user) expect_each_key_missed(rules, document, at / key);
    }
}

TEST(ReportJson, SchemaCatchesAMissingKeyAndAWrongType) {
    Json rules = schema(), document = Json::parse(json(sample_record({4, 3, 1, false, 2})));
    expect_each_key_missed(rules, document, Json::json_pointer());
    for (const char* path : {"/outcome", "/headline/speedup", "/shapes/0/speedup/low", "/strategies/0/state",
                             "/evaluations/total", "/seconds/other", "/verified"}) {
        Json wrong = document;
        wrong[Json::json_pointer(path)] = "nonsense";
        EXPECT_NE(fakes::violation(rules, wrong), "") << path;
    }
}

TEST(ReportJson, HoldsTheNumbersOfTheRecord) {
    RunRecord record = sample_record();
    Json document = Json::parse(json(record));
    EXPECT_EQ(document["headline"]["speedup"], record.headline.ratio);
    EXPECT_EQ(document["headline"]["baseline"], "onednn");
    EXPECT_EQ(document["shapes"][2]["label"], "large");
    EXPECT_EQ(document["shapes"][2]["dims"]["N"], 8192);
    EXPECT_EQ(document["shapes"][2]["speedup"]["low"], record.shapes[2].speedup.low);
    EXPECT_EQ(document["shapes"][2]["baselines"]["jax"], record.shapes[2].baselines["jax"]);
    EXPECT_EQ(document["evaluations"]["total"], 60);
    EXPECT_EQ(document["evaluations"]["by_verdict"]["ok"], record.evaluations_by_verdict["ok"]);
    EXPECT_DOUBLE_EQ(document["seconds"]["other"], record.seconds.other());
    EXPECT_TRUE(document["in_process"]["framework"].is_null());
    EXPECT_TRUE(document["in_process"]["speedup"].is_null());
    EXPECT_EQ(document["strategies"][2]["state"], "pruned");
    EXPECT_EQ(document["experiments"][0]["kernel_ns"]["large"], 5.24e6);
    EXPECT_EQ(document["experiments"][0]["probes"][0]["nanoseconds"]["large"], 3.21e6);
    EXPECT_EQ(document["experiments"][0]["probes"][1]["verdict"], "compile_failed");
}

TEST(ReportJson, WhatWasNotMeasuredIsNull) {
    Json document = Json::parse(json(empty_record()));
    EXPECT_TRUE(document["headline"]["speedup"].is_null());
    EXPECT_TRUE(document["headline"]["baseline"].is_null());
    RunRecord record = sample_record({1, 1});
    record.shapes[0].speedup.high = infinity;
    record.shapes[0].baselines["onednn"] = not_a_number;
    document = Json::parse(json(record));
    EXPECT_TRUE(document["shapes"][0]["speedup"]["high"].is_null());
    EXPECT_TRUE(document["shapes"][0]["baselines"]["onednn"].is_null());
}

// ---- terminal ----

std::string without_colors(const std::string& text) {
    return std::regex_replace(text, std::regex("\x1b\\[[0-9]+m"), "");
}

TEST(ReportTerminal, KeepsToTheWidth) {
    for (int width : {60, 80, 100, 133, 200})
        for (const RunRecord& record : {sample_record(), sample_record({12, 6, 1, true}), sample_record({2, 1, 0.7}),
                                        hostile_record(), empty_record()})
            for (const std::string& line : split(terminal(record, false, width), '\n'))
                EXPECT_LE(columns_of(line), static_cast<size_t>(width)) << line;
}

TEST(ReportTerminal, ColoursChangeNothingElse) {
    std::string plain = terminal(sample_record(), false, 100), colored = terminal(sample_record(), true, 100);
    EXPECT_THAT(plain, Not(HasSubstr("\x1b")));
    EXPECT_THAT(colored, HasSubstr("\x1b[32m"));
    EXPECT_EQ(without_colors(colored), plain);
}

TEST(ReportTerminal, NoControlCharacterOfTheRecordReachesTheTerminal) {
    EXPECT_THAT(terminal(hostile_record(), false, 100), Not(HasSubstr("\x1b")));
}

TEST(ReportTerminal, SaysWhatADistrustfulReaderAsks) {
    std::string text = terminal(sample_record(), false, 140);
    for (const char* part : {"softmax: 1.21× faster than the best baseline", "Example CPU 9000", "clang 19.1.7",
                             "M*N <= 4194304", "otherwise", "strided loads", "12 fresh seeds", "22 of 24 timed",
                             "4 compile_failed", "compile 21.7 s", "/home/user/strop-out/softmax", "vs pytorch",
                             "not compared with jax", "AddressSanitizer found nothing at 7 shapes",
                             "ThreadSanitizer found nothing at 5 shapes, no time was left for 2 of 7 shapes"})
        EXPECT_THAT(text, HasSubstr(part));
    EXPECT_THAT(
        text,
        ContainsRegex("large +15.6 ms +.*1.15× +1.13–1.18 +onednn .* 51% memory +24.9 ms 1.44× +online_single_read"));
}

TEST(ReportTerminal, NamesTheColumnsThatDoNotFit) {
    EXPECT_THAT(terminal(sample_record({3, 6}), false, 70), ContainsRegex("no room for: .*vs numpy"));
    EXPECT_THAT(terminal(sample_record({3, 6}), false, 200), Not(HasSubstr("no room for")));
}

// ---- Markdown ----

TEST(ReportMarkdown, TablesHaveAsManyCellsInEveryRow) {
    for (const RunRecord& record : {sample_record(), sample_record({12, 6, 1, true}), hostile_record()}) {
        size_t cells = 0;
        for (const std::string& line : split(markdown(record), '\n')) {
            if (!line.starts_with("| ")) {
                cells = 0;
                continue;
            }
            std::string bare = replace_all(line, "\\|", "");
            size_t here = split(bare, '|').size();
            if (cells == 0) cells = here;
            EXPECT_EQ(here, cells) << line;
        }
    }
}

TEST(ReportMarkdown, EscapesWhatTheRecordBrings) {
    RunRecord record = hostile_record();
    record.kernels.clear();  // sources stand in fences, as they are
    std::string text = markdown(record);
    std::string outside_code = std::regex_replace(text, std::regex("`` .*? ``"), "");
    EXPECT_THAT(outside_code, Not(HasSubstr("<script>")));
    EXPECT_THAT(text, HasSubstr("&lt;script&gt;"));
    EXPECT_THAT(text, Not(HasSubstr("\n# end")));
}

TEST(ReportMarkdown, FencesOutliveTheSource) {
    RunRecord record = sample_record({1, 1});
    record.kernels[0].source = "// ```\nint x;";
    EXPECT_THAT(markdown(record), HasSubstr("````cpp\n// ```\nint x;\n````\n"));
}

TEST(ReportMarkdown, a_run_that_was_stopped_at_once_names_no_machine) {
    RunRecord record = sample_record({3, 2, 1, false, 2});
    record.machine = {};
    EXPECT_THAT(markdown(record), HasSubstr("Measured on a machine that it had not looked at with "));
}

TEST(ReportMarkdown, ShowsEachShapeAgainstEachBaseline) {
    EXPECT_THAT(markdown(sample_record()),
                HasSubstr("**1.15×** onednn | 1.13–1.18 | 18.0 ms (1.15×) | 26.5 ms (1.70×)"));
}

TEST(ReportMarkdown, ExperimentsStandUnderTheirStrategy) {
    EXPECT_THAT(markdown(sample_record()),
                ContainsRegex("online_single_read` [^\n]*\n"
                              "  - experiment: The stores, not the loads, limit it.\n"
                              "    - probe no..?stores: large 3.21 ms, the kernel 5.24 ms .0.61.; it tells: near 1: "
                              "stores are free\n"
                              "    - probe one..?pass: compile..?failed: error: no such; it tells: near 1: reading is "
                              "free\n"));
}

// ---- HTML ----

// Tags outside of the style sheet, balanced; void elements aside.
std::string unbalanced(const std::string& html_text) {
    static const std::regex tag("<(/?)([a-z0-9]+)((?:[^<>\"]|\"[^\"]*\")*?)(/?)>");
    std::string text =
        html_text.substr(0, html_text.find("<style>")) + html_text.substr(html_text.find("</style>") + 8);
    std::vector<std::string> open;
    for (std::sregex_iterator at(text.begin(), text.end(), tag), end; at != end; ++at) {
        std::string name = (*at)[2];
        if ((*at)[4].length() || name == "meta" || name == "wbr") continue;
        if (!(*at)[1].length()) {
            open.push_back(name);
            continue;
        }
        if (open.empty() || open.back() != name)
            return "</" + name + "> after <" + (open.empty() ? "" : open.back()) + ">";
        open.pop_back();
    }
    return open.empty() ? "" : "<" + open.back() + "> stays open";
}

TEST(ReportHtml, IsBalancedAndSelfContained) {
    for (const RunRecord& record : {sample_record(), sample_record({12, 6, 1, true}), sample_record({2, 1, 0.7}),
                                    hostile_record(), empty_record()}) {
        std::string page = html(record);
        EXPECT_EQ(unbalanced(page), "");
        for (const char* foreign : {"<script", "http://", "https://", "<link", "<img", "@import", "url("})
            EXPECT_THAT(page, Not(HasSubstr(foreign)));
        EXPECT_THAT(page, Not(ContainsRegex("[\"> ](nan|inf|-nan|-inf)[\"< ]")));
        EXPECT_THAT(page, HasSubstr("prefers-color-scheme: dark"));
    }
}

TEST(ReportHtml, HoldsFourPicturesAndTheFacts) {
    std::string page = html(sample_record());
    size_t pictures = 0;
    for (size_t at = page.find("<figure>"); at != std::string::npos; at = page.find("<figure>", at + 1)) ++pictures;
    EXPECT_EQ(pictures, 4u);
    for (const char* part :
         {"1.21× faster than the best baseline", "Example CPU 9000", "M*N &lt;= 4194304",
          "strided loads: behind the leader", "22 of 24 timed", "12 fresh seeds", "<details>",
          "The stores, not the loads, limit it.", "no_stores: large 3.21 ms, the kernel 5.24 ms (0.61)",
          "extern &quot;C&quot; void softmax", "196 GFLOP/s", "./strop setup jax",
          "strop optimize /home/user/strop/problems/softmax --budget 90s --seed 0"})
        EXPECT_THAT(page, HasSubstr(part));
}

TEST(ReportHtml, PicturesWithoutDataAreLeftOut) {
    EXPECT_THAT(html(empty_record()), Not(HasSubstr("<svg")));
    RunRecord record = sample_record();
    record.machine = Machine{};
    EXPECT_EQ(roofline_figure(record.shapes, record.machine), "");
    record.shapes.clear();
    EXPECT_EQ(speedup_figure(record), "");
    EXPECT_NE(history_figure(record), "") << "failures are drawn without shapes too";
}

TEST(ReportHtml, EscapesMarkupControlCharactersAndBrokenUtf8) {
    EXPECT_EQ(escaped("<a & 'b' \"c\">"), "&lt;a &amp; &#39;b&#39; &quot;c&quot;&gt;");
    EXPECT_EQ(escaped("µ\x1b\xff\xc3"), "µ\uFFFD\uFFFD\uFFFD");
    EXPECT_EQ(escaped("a\n\tb"), "a\n\tb");
    EXPECT_EQ(escaped("\xe2\x82"), "\uFFFD\uFFFD");
    EXPECT_EQ(escaped_name("a_b+<"), "a_<wbr>b+<wbr>&lt;");
}

TEST(ReportFigures, TheHistoryOfALongSearchStaysSmall) {
    RunRecord record = fakes::sample_record();
    EXPECT_EQ(history_figure(record).find("class=\"dots\""), std::string::npos);
    const std::vector<HistoryEntry> entries = record.history;
    for (int i = 0; i < 5000; ++i) {
        HistoryEntry entry = entries[static_cast<size_t>(i) % entries.size()];
        entry.seconds = 100 + 0.3 * i;
        record.history.push_back(entry);
    }
    const std::string figure = history_figure(record);
    EXPECT_NE(figure.find("class=\"dots\""), std::string::npos);
    EXPECT_LT(figure.size(), 200'000u);
}

}  // namespace
}  // namespace strop::report
