#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "fakes/exchange_texts.h"
#include "tune/space.h"

namespace strop::exchange {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

// ---- T1 --------------------------------------------------------------------------------------------

Values t1_values(const std::string& type, const std::string& values) {
    std::string text = t1("{'Name': 'x', 'Type': '" + type + "', 'Values': " + values + ", 'Default': 1}");
    return read_t1(text, "a.json").space.tunables.at(0).values;
}

TEST(T1Test, what_is_written_is_read_again) {
    const MeasuredSpace space = read_t1(
        t1("{'Name': 'a', 'Type': 'int', 'Values': [1, 2]}, {'Name': 'b', 'Type': 'bool', 'Values': [true, false]}, "
           "{'Name': 'c', 'Type': 'float', 'Values': [0.5, 1]}, {'Name': 'd', 'Type': 'string', 'Values': ['x', '1']}",
           "{'Expression': 'a > 1 or not b', 'Parameters': ['a', 'b']}", "'KernelName': 'k', 'ProblemSize': [4, 5]"),
        "a.json");
    const MeasuredSpace again = read_t1(write_t1(space), "b.json");
    ASSERT_EQ(again.space.tunables.size(), 4u);
    for (size_t i = 0; i < 4; ++i) {
        EXPECT_EQ(again.space.tunables[i].name, space.space.tunables[i].name);
        EXPECT_EQ(again.space.tunables[i].values, space.space.tunables[i].values);
    }
    EXPECT_EQ(again.space.constraints.at(0).text(), space.space.constraints.at(0).text());
    EXPECT_EQ(again.booleans, space.booleans);
    EXPECT_EQ(again.kernel, "k");
    EXPECT_EQ(again.problem_size, space.problem_size);
}

TEST(T1, ReadsADescription) {
    MeasuredSpace space = read_t1(t1("{'Name': 'b', 'Type': 'int', 'Values': '[16, 32]', 'Default': 16},"
                                     "{'Name': 'a', 'Type': 'bool', 'Values': '[False, True]'}",
                                     "{'Expression': 'b > 16 or a', 'Parameters': ['b']}",
                                     "'KernelName': 'gemm', 'ProblemSize': [64, 32], 'Stream': null"),
                                  "a.json");
    EXPECT_EQ(space.kernel, "gemm");
    EXPECT_THAT(space.problem_size, ElementsAre(64, 32));
    EXPECT_EQ(space.objective, "time");
    EXPECT_THAT(space.entries, IsEmpty());
    ASSERT_THAT(space.space.tunables, SizeIs(2));
    EXPECT_EQ(space.space.tunables[0].name, "b");
    EXPECT_EQ(space.space.tunables[0].values, (Values{int64_t{16}, int64_t{32}}));
    EXPECT_EQ(space.space.tunables[1].values, (Values{int64_t{0}, int64_t{1}}));
    EXPECT_THAT(space.booleans, ElementsAre("a"));
    EXPECT_THAT(space.space.constraints, ElementsAre(Expression::parse("b > 16 or a")));
    EXPECT_EQ(tune::Space(space.space).size(), 3u);
}

TEST(T1, ReadsTheKernelWhereverItIsNamed) {
    const std::string x = "{'Name': 'x', 'Type': 'int', 'Values': '[1]'}";
    EXPECT_EQ(read_t1(t1(x, "", ""), "a.json").kernel, "bench");
    EXPECT_THAT(read_t1(t1(x, "", "'ProblemSize': 100"), "a.json").problem_size, ElementsAre(100));
    EXPECT_THAT(read_t1(t1(x, "", "'ProblemSize': 'N'"), "a.json").problem_size, IsEmpty());
    EXPECT_THAT(read_t1(json("{'ConfigurationSpace': {'TuningParameters': []}}"), "a.json").space.tunables, IsEmpty());
}

TEST(T1, ReadsListsOfPython) {
    EXPECT_EQ(t1_values("int", "'[16, -2, 2**5, 16,]'"), (Values{int64_t{16}, int64_t{-2}, int64_t{32}}));
    EXPECT_EQ(t1_values("uint", "[1, 2.0]"), (Values{int64_t{1}, int64_t{2}}));
    EXPECT_EQ(t1_values("float", "'[1, 0.5, 1e-3]'"), (Values{1.0, 0.5, 1e-3}));
    EXPECT_EQ(t1_values("bool", "'(True, False)'"), (Values{int64_t{1}, int64_t{0}}));
    EXPECT_EQ(t1_values("bool", "[false]"), (Values{int64_t{0}}));
    EXPECT_EQ(t1_values("string", R"('[\'a, b\', \'[\', \'x for y\']')"),
              (Values{std::string("a, b"), std::string("["), std::string("x for y")}));
    EXPECT_EQ(t1_values("string", "['a', 'b']"), (Values{std::string("a"), std::string("b")}));
    EXPECT_EQ(t1_values("int", "'[16*i for i in range(1, 4)]'"), (Values{int64_t{16}, int64_t{32}, int64_t{48}}));
    EXPECT_EQ(t1_values("int", "'[2**i for i in range(3)]'"), (Values{int64_t{1}, int64_t{2}, int64_t{4}}));
    EXPECT_EQ(t1_values("int", "'[i for i in range(5, 0, -2)]'"), (Values{int64_t{5}, int64_t{3}, int64_t{1}}));
}

// How many of the 36 combinations satisfy a condition; x: 1, 2, 4, 8, 16, 32 and y: 1 to 6.
size_t t1_count(const std::string& condition) {
    return tune::Space(read_t1(t1("{'Name': 'x', 'Type': 'int', 'Values': '[1, 2, 4, 8, 16, 32]'},"
                                  "{'Name': 'y', 'Type': 'int', 'Values': '[1, 2, 3, 4, 5, 6]'}",
                                  "{'Expression': '" + condition + "', 'Parameters': ['x', 'y']}"),
                               "a.json")
                           .space)
        .size();
}

TEST(T1, UnderstandsConditions) {
    EXPECT_EQ(t1_count("x == 4 and y == 3"), 1u);
    EXPECT_EQ(t1_count("x == 4 or y == 3"), 11u);
    EXPECT_EQ(t1_count("not (x == 4 or y == 3)"), 25u);
    EXPECT_EQ(t1_count("2 < x <= 16"), 18u);
    EXPECT_EQ(t1_count("1 <= y < x < 9"), 10u);
    EXPECT_EQ(t1_count("x // 3 == 2"), 6u);
    EXPECT_EQ(t1_count("(x / y) % 1 == 0"), 15u);  // y divides x
    EXPECT_EQ(t1_count("min(x, y) == 2 and max(x, y) == 4"), 2u);
    EXPECT_EQ(t1_count("x in (1, 32) and y not in [1, 2]"), 8u);
}

TEST(T1, NamesWhatIsWrong) {
    auto error = [](const std::string& text) { return error_of(read_t1, text); };
    auto error_of_values = [&](const std::string& type, const std::string& values) {
        return error(t1("{'Name': 'x', 'Type': '" + type + "', 'Values': " + values + "}"));
    };
    const std::string x = "{'Name': 'x', 'Type': 'int', 'Values': '[1]'}";
    const std::string at = "a.json: key 'ConfigurationSpace.TuningParameters[0].";
    EXPECT_EQ(error("{"), "a.json: line 1: malformed JSON: unexpected end of input");
    EXPECT_EQ(error("{}"), "a.json: key 'ConfigurationSpace': missing");
    EXPECT_EQ(error(json("{'ConfigurationSpace': {}}")), "a.json: key 'ConfigurationSpace.TuningParameters': missing");
    EXPECT_EQ(error(json("{'ConfigurationSpace': {'TuningParameters': {}}}")),
              "a.json: key 'ConfigurationSpace.TuningParameters': expected a list of objects");
    EXPECT_EQ(error(t1("1")), "a.json: key 'ConfigurationSpace.TuningParameters[0]': expected an object of keys");
    EXPECT_EQ(error(t1(x + "," + x)), "a.json: key 'ConfigurationSpace.TuningParameters[1].Name': 'x' appears twice");
    EXPECT_EQ(error(t1("{'Name': 'x'}")), at + "Type': missing");
    EXPECT_EQ(error_of_values("real", "'[1]'"), at + "Type': expected int, uint, float, bool or string");
    EXPECT_EQ(error_of_values("int", "3"), at + "Values': expected a list of values");
    EXPECT_EQ(error_of_values("int", "'3'"), at + "Values': expected a list of values");
    EXPECT_EQ(error_of_values("int", "'['"), at + "Values': expected a list of values");
    EXPECT_EQ(error_of_values("int", "'[]'"), at + "Values': expected a list of values");
    EXPECT_EQ(error_of_values("int", "[1, {}]"), at + "Values[1]': expected a number or a text");
    EXPECT_EQ(error_of_values("int", "'[1, None]'"), at + "Values': 'None' is not defined");
    EXPECT_EQ(error_of_values("int", "'[1, 2.5]'"), at + "Values': 2.5 is no int");
    EXPECT_EQ(error_of_values("uint", "[-1]"), at + "Values': -1 is no uint");
    EXPECT_EQ(error_of_values("bool", "[2]"), at + "Values': 2 is no bool");
    EXPECT_EQ(error_of_values("float", "['a']"), at + "Values': a is no float");
    EXPECT_EQ(error_of_values("int", "'[i for i in (1, 2)]'"), at + "Values': expected 'range(...)' after 'in'");
    EXPECT_EQ(error_of_values("int", "'[i for i in range()]'"),
              at + "Values': expected one to three numbers in 'range(...)'");
    EXPECT_EQ(error_of_values("int", "'[i for i in range(2**62)]'"), at + "Values': more than 65535 values");
}

TEST(T1, NamesConditionsThatItCannotRead) {
    const std::string x = "{'Name': 'x', 'Type': 'int', 'Values': '[1]'}", fine = "{'Expression': 'x > 0'},";
    auto error = [&](const std::string& condition) { return error_of(read_t1, t1(x, fine + fine + condition)); };
    EXPECT_EQ(error("{'Expression': '(x > 1'}"),
              "a.json: key 'ConfigurationSpace.Conditions[2].Expression': '(x > 1': expected ')' at column 7");
    EXPECT_EQ(error("{'Expression': 'x > z'}"),
              "a.json: key 'ConfigurationSpace.Conditions[2].Expression': 'z' is no tunable");
    EXPECT_EQ(error("{}"), "a.json: key 'ConfigurationSpace.Conditions[2].Expression': missing");
    EXPECT_EQ(error("{'Expression': 1}"), "a.json: key 'ConfigurationSpace.Conditions[2].Expression': expected a text");
}

// ---- T4 --------------------------------------------------------------------------------------------

const std::string good_row = R"({'timestamp': 'now', 'configuration': {'y': 2, 'x': 'a'},
    'times': {'compilation': 10, 'framework': 20, 'search_algorithm': 30, 'validation': 40, 'benchmark': 50,
              'runtimes': [1, 2]},
    'invalidity': 'correct', 'correctness': 1.0, 'objectives': ['time'],
    'measurements': [{'name': 'time', 'value': 1.5, 'unit': ''}, {'name': 'GB/s', 'value': 3, 'unit': ''},
                     {'name': 'samples', 'value': [1, 2], 'unit': ''}]})";

TEST(T4, ReadsResults) {
    MeasuredSpace space = read_t4(t4(good_row + R"(,{'configuration': {'y': 1, 'x': 'B'}, 'invalidity': 'correct',
        'times': {'compilation_time': 7}, 'measurements': [{'name': 'time', 'value': 1, 'unit': 's'}]})"),
                                  "a.json");
    EXPECT_EQ(space.objective, "time");
    ASSERT_THAT(space.space.tunables, SizeIs(2));
    EXPECT_EQ(space.space.tunables[0].name, "y");
    EXPECT_EQ(space.space.tunables[0].values, (Values{int64_t{1}, int64_t{2}}));  // sorted
    EXPECT_EQ(space.space.tunables[1].values, (Values{std::string("B"), std::string("a")}));
    Measured first{{{"x", std::string("a")}, {"y", int64_t{2}}},
                   Failure::none,
                   1.5,
                   {1, 2},
                   {{"compilation", 10}, {"framework", 20}, {"search", 30}, {"validation", 40}, {"benchmark", 50}},
                   {{"GB/s", 3}},
                   "now"};
    Measured second{
        {{"x", std::string("B")}, {"y", int64_t{1}}}, Failure::none, 1000, {}, {{"compilation", 7}}, {}, ""};
    EXPECT_THAT(space.entries, ElementsAre(first, second));
}

TEST(T4, SortsValues) {
    std::string rows;
    for (const char* value : {"10", "'b'", "9.5", "-1", "'B'", "9"})
        rows += std::string(rows.empty() ? "" : ",") + "{'configuration': {'x': " + value +
                "}, 'measurements': [{'name': 'time', 'value': 1}]}";
    EXPECT_EQ(read_t4(t4(rows), "a.json").space.tunables.at(0).values,
              (Values{int64_t{-1}, int64_t{9}, 9.5, int64_t{10}, std::string("B"), std::string("b")}));
}

TEST(T4, ReadsFailures) {
    auto failure = [](const std::string& row) {
        return read_t4(t4("{'configuration': {'x': 1}, " + row + "}"), "a.json").entries.at(0).failure;
    };
    EXPECT_EQ(failure("'invalidity': 'timeout'"), Failure::timeout);
    EXPECT_EQ(failure("'invalidity': 'compile'"), Failure::compile);
    EXPECT_EQ(failure("'invalidity': 'runtime'"), Failure::runtime);
    EXPECT_EQ(failure("'invalidity': 'correctness'"), Failure::correctness);
    EXPECT_EQ(failure("'invalidity': 'constraints'"), Failure::constraints);
    EXPECT_EQ(failure("'invalidity': 'bad weather'"), Failure::other);
    EXPECT_EQ(failure("'measurements': [{'name': 'time', 'value': 'RuntimeFailedConfig'}]"), Failure::runtime);
    EXPECT_EQ(failure("'invalidity': 'correct', 'measurements': [{'name': 'time', 'value': NaN}]"), Failure::other);
    EXPECT_EQ(failure("'invalidity': 'compile', 'measurements': [{'name': 'time', 'value': 'InvalidConfig'}]"),
              Failure::compile);
}

TEST(T4, ConvertsUnits) {
    auto read = [](const std::string& metadata) { return read_t4(t4(good_row, metadata), "a.json").entries.at(0); };
    EXPECT_EQ(read("'timeunit': 'seconds'").value, 1500);
    EXPECT_EQ(read("'timeunit': 'seconds'").phases.at("search"), 30000);
    EXPECT_EQ(read("'timeunit': 'microseconds'").value, 0.0015);
    EXPECT_THAT(read("'timeunit': 'nanoseconds'").runs, ElementsAre(1e-6, 2e-6));
    EXPECT_EQ(read("").value, 1.5);
    auto unit = [](const std::string& name) {
        return read_t4(
                   t4("{'configuration': {}, 'measurements': [{'name': 'time', 'value': 3, 'unit': '" + name + "'}]}",
                      "'timeunit': 'seconds'"),
                   "a.json")
            .entries.at(0)
            .value;
    };
    EXPECT_EQ(unit("ms"), 3);
    EXPECT_EQ(unit("us"), 0.003);
    EXPECT_EQ(unit(""), 3000);
}

TEST(T4, ReadsNumbersThatKttWritesAsTexts) {
    const std::string row = "{'configuration': {'i': '16', 'f': '0.500000', 't': 'a'}, 'invalidity': 'compile'}";
    Configuration numbers = {{"i", int64_t{16}}, {"f", 0.5}, {"t", std::string("a")}};
    Configuration texts = {{"i", std::string("16")}, {"f", std::string("0.500000")}, {"t", std::string("a")}};
    EXPECT_EQ(read_t4(t4(row, "'autotuner': 'KTT'"), "a.json").entries.at(0).configuration, numbers);
    EXPECT_EQ(read_t4(t4(row), "a.json").entries.at(0).configuration, texts);
}

TEST(T4, WritesWhatItReads) {
    MeasuredSpace space = sample_space();
    expect_same(read_t4(write_t4(space), "a.json"), space);
    space.objective = "GFLOP/s";
    space.higher_is_better = true;
    space.entries[0].metrics = {{"time", 3}};
    expect_same(read_t4(write_t4(space), "a.json"), space);
    space.entries.clear();
    EXPECT_THAT(read_t4(write_t4(space), "a.json").entries, IsEmpty());
}

// What the schema asks for.
TEST(T4, WritesValidResults) {
    nlohmann::json file = nlohmann::json::parse(write_t4(sample_space()));
    EXPECT_EQ(file["schema_version"], "1.0.0");
    EXPECT_EQ(file["metadata"]["timeunit"], "milliseconds");
    const std::set<std::string> words = {"timeout", "compile", "runtime", "correctness", "constraints", "correct"};
    ASSERT_EQ(file["results"].size(), 7u);
    for (const nlohmann::json& row : file["results"]) {
        EXPECT_TRUE(row.at("timestamp").is_string());
        EXPECT_TRUE(row.at("configuration").is_object());
        EXPECT_TRUE(row.at("correctness").is_number());
        EXPECT_TRUE(words.contains(row.at("invalidity")));
        EXPECT_EQ(row.at("objectives"), nlohmann::json::array({"time"}));
        bool correct = row["invalidity"] == "correct";
        EXPECT_EQ(row.at("times").contains("runtimes"), correct);
        for (const auto& [name, time] : row["times"].items())
            EXPECT_TRUE(name == "runtimes" ? time.is_array() : time.is_number()) << name;
        for (const nlohmann::json& measurement : row.at("measurements"))
            EXPECT_TRUE(measurement.at("name").is_string() && measurement.at("unit").is_string());
        EXPECT_EQ(row["measurements"][0]["value"].is_number(), correct);
    }
    EXPECT_EQ(file["results"][1]["measurements"][0]["value"], "CompilationFailedConfig");
    EXPECT_EQ(file["results"][3]["correctness"], 0);
}

TEST(T4, NamesWhatIsWrong) {
    auto error = [](const std::string& rows, const std::string& metadata = "") {
        return error_of(read_t4, t4(rows, metadata));
    };
    const std::string other = ",{'configuration': ";
    EXPECT_EQ(error_of(read_t4, "{}"), "a.json: key 'results': missing");
    EXPECT_EQ(error_of(read_t4, json("{'results': {}}")), "a.json: key 'results': expected a list of objects");
    EXPECT_EQ(error("[]"), "a.json: key 'results[0]': expected an object of keys");
    EXPECT_EQ(error("{}"), "a.json: key 'results[0].configuration': missing");
    EXPECT_EQ(error("", "'timeunit': 'years'"),
              "a.json: key 'metadata.timeunit': expected nanoseconds, microseconds, milliseconds or seconds");
    EXPECT_EQ(error(good_row + other + "{'y': 1}}"), "a.json: key 'results[1].configuration': no value of 'x'");
    EXPECT_EQ(error(good_row + other + "{'y': 1, 'x': 'a', 'z': 1}}"),
              "a.json: key 'results[1].configuration': 'z' is no tunable of the first row");
    EXPECT_EQ(error("{'configuration': {'x': null}}"), "a.json: key 'results[0].configuration.x': missing");
    EXPECT_EQ(error("{'configuration': {'x': 1}}"),
              "a.json: key 'results[0].measurements': no 'time', which is the objective");
    EXPECT_EQ(error("{'configuration': {'x': 1}, 'objectives': [1]}"),
              "a.json: key 'results[0].objectives[0]': expected a text");
    EXPECT_EQ(error("{'configuration': {'x': 1}, 'measurements': [{'name': 'time', 'value': []}]}"),
              "a.json: key 'results[0].measurements[0].value': expected a number");
    EXPECT_EQ(error("{'configuration': {'x': 1}, 'measurements': [{'name': 'time'}]}"),
              "a.json: key 'results[0].measurements[0].value': missing");
    EXPECT_EQ(error("{'configuration': {'x': 1}, 'times': {'runtimes': [1, [2]]}}"),
              "a.json: key 'results[0].times.runtimes[1]': expected a number");
    EXPECT_EQ(error("{'configuration': {'x': 1}, 'times': {'framework': '1'}}"),
              "a.json: key 'results[0].times.framework': expected a number");
}

// ---- KTT -------------------------------------------------------------------------------------------

TEST(Ktt, ReadsResults) {
    MeasuredSpace space = read_ktt(ktt(R"({'KernelName': 'gemm', 'Status': 'Ok', 'TotalDuration': 1500000,
        'TotalOverhead': 9, 'CompilationOverhead': 1000000, 'ValidationOverhead': 2000000, 'SearcherOverhead': 3000000,
        'DataMovementOverhead': 0, 'ComputationResults': [{'Duration': 1, 'ProfilingData': {'Counters': [
            {'Name': 'hits', 'Type': 'Int', 'Value': 7}, {'Name': 'use', 'Type': 'Percent', 'Value': 0.5}]}}],
        'Configuration': [{'Name': 'i', 'Value': 2, 'ValueType': 'Int'}, {'Name': 'f', 'Value': 3, 'ValueType': 'Double'},
                          {'Name': 'b', 'Value': true, 'ValueType': 'Bool'}, {'Name': 'old', 'Value': 4},
                          {'Name': 's', 'Value': 'a', 'ValueType': 'String'},
                          {'Name': 'u', 'Value': 1, 'ValueType': 'UnsignedInt'}]})",
                                       "Nanoseconds"),
                                   "a.json");
    EXPECT_EQ(space.kernel, "gemm");
    EXPECT_EQ(space.device, "D");
    EXPECT_EQ(space.objective, "time");
    EXPECT_THAT(space.booleans, ElementsAre("b"));
    EXPECT_EQ(space.space.tunables.at(0).name, "i");
    Measured expected{{{"i", int64_t{2}},
                       {"f", 3.0},
                       {"b", int64_t{1}},
                       {"old", int64_t{4}},
                       {"s", std::string("a")},
                       {"u", int64_t{1}}},
                      Failure::none,
                      1.5,
                      {},
                      {{"compilation", 1}, {"validation", 2}, {"search", 3}},
                      {{"hits", 7}, {"use", 0.5}},
                      ""};
    EXPECT_THAT(space.entries, ElementsAre(expected));
}

TEST(Ktt, AddsDurationsWhereThereIsNoTotal) {
    MeasuredSpace space =
        read_ktt(ktt(ktt_result("'ComputationResults': [{'Duration': 1.5}, {'Duration': 2}]")), "a.json");
    EXPECT_EQ(space.entries.at(0).value, 3.5);
}

TEST(Ktt, ConvertsUnits) {
    auto value = [](const std::string& unit) {
        return read_ktt(ktt(ktt_result("'TotalDuration': 3"), unit), "a.json").entries.at(0).value;
    };
    EXPECT_EQ(value("Nanoseconds"), 3e-6);
    EXPECT_EQ(value("Microseconds"), 3e-3);
    EXPECT_EQ(value("Milliseconds"), 3);
    EXPECT_EQ(value("Seconds"), 3000);
}

TEST(Ktt, ReadsFailures) {
    std::string results;
    int x = 3;
    for (const char* status :
         {"ComputationFailed", "ValidationFailed", "CompilationFailed", "DeviceLimitsExceeded", "Odd"})
        results += (results.empty() ? "" : ",") + ktt_result("", status, x--);
    MeasuredSpace space = read_ktt(ktt(results), "a.json");
    std::vector<Failure> failures;
    for (const Measured& entry : space.entries) failures.push_back(entry.failure);
    EXPECT_THAT(failures, ElementsAre(Failure::runtime, Failure::correctness, Failure::compile, Failure::constraints,
                                      Failure::other));
    EXPECT_EQ(space.space.tunables.at(0).values.front(), Value(int64_t{-1}));  // sorted
}

TEST(Ktt, NamesWhatIsWrong) {
    auto error = [](const std::string& results, const std::string& unit = "Seconds") {
        return error_of(read_ktt, ktt(results, unit));
    };
    auto error_of_pair = [&](const std::string& pair) {
        return error("{'Status': 'Ok', 'Configuration': [" + pair + "]}");
    };
    const std::string at = "a.json: key 'Results[0].";
    EXPECT_EQ(error_of(read_ktt, "{}"), "a.json: key 'Results': missing");
    EXPECT_EQ(error("", "Years"),
              "a.json: key 'Metadata.TimeUnit': expected nanoseconds, microseconds, milliseconds or seconds");
    EXPECT_EQ(error("{}"), at + "Configuration': missing");
    EXPECT_EQ(error("{'Configuration': []}"), at + "Status': missing");
    EXPECT_EQ(error(ktt_result("")), at + "TotalDuration': missing");
    EXPECT_EQ(error(ktt_result("'ComputationResults': [{}]")), at + "ComputationResults[0].Duration': missing");
    EXPECT_EQ(error(ktt_result("'TotalDuration': '1'")), at + "TotalDuration': expected a number");
    EXPECT_EQ(error_of_pair("1"), at + "Configuration[0]': expected an object of keys");
    EXPECT_EQ(error_of_pair("{'Value': 1}"), at + "Configuration[0].Name': missing");
    EXPECT_EQ(error_of_pair("{'Name': 'x', 'Value': 1.5, 'ValueType': 'Int'}"),
              at + "Configuration[0].Value': expected a value of type Int");
    EXPECT_EQ(error_of_pair("{'Name': 'x', 'Value': 1, 'ValueType': 'Complex'}"),
              at + "Configuration[0].Value': expected a value of type Complex");
    EXPECT_EQ(error_of_pair("{'Name': 'x', 'Value': [1]}"),
              at + "Configuration[0].Value': expected a number or a text");
}

}  // namespace
}  // namespace strop::exchange
