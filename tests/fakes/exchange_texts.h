// What the tests of file formats share.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/strings.h"
#include "exchange/kernel_tuner.h"
#include "exchange/ktt.h"

namespace strop::tune {

// For EXPECT_EQ.
inline bool operator==(const Measured& a, const Measured& b) {
    return a.configuration == b.configuration && a.failure == b.failure && a.value == b.value && a.runs == b.runs &&
           a.phases == b.phases && a.metrics == b.metrics && a.timestamp == b.timestamp;
}
inline std::ostream& operator<<(std::ostream& out, const Measured& entry) {
    return out << describe(entry.configuration) << ": failure " << static_cast<int>(entry.failure) << ", value "
               << entry.value;
}

}  // namespace strop::tune

namespace strop::exchange {

using tune::Measured;
using tune::MeasuredSpace;
using Failure = Measured::Failure;
using Values = std::vector<Value>;
using Reader = MeasuredSpace (*)(const std::string&, const std::string&);

inline std::string error_of(Reader read, const std::string& text) {
    try {
        read(text, "a.json");
    } catch (const UsageError& error) {
        return error.what();
    }
    return "no error";
}

// Texts in tests have ' where JSON has ".
inline std::string json(const std::string& text) { return replace_all(text, "'", "\""); }

inline void expect_same(const MeasuredSpace& a, const MeasuredSpace& b) {
    EXPECT_EQ(a.kernel, b.kernel);
    EXPECT_EQ(a.device, b.device);
    EXPECT_EQ(a.problem_size, b.problem_size);
    EXPECT_EQ(a.objective, b.objective);
    EXPECT_EQ(a.higher_is_better, b.higher_is_better);
    EXPECT_EQ(a.booleans, b.booleans);
    EXPECT_EQ(a.entries, b.entries);
    ASSERT_EQ(a.space.tunables.size(), b.space.tunables.size());
    for (size_t i = 0; i < a.space.tunables.size(); ++i) {
        EXPECT_EQ(a.space.tunables[i].name, b.space.tunables[i].name);
        EXPECT_EQ(a.space.tunables[i].values, b.space.tunables[i].values);
    }
}

// Every type of value, every failure; what occurs is listed in the order in which T4 sorts it.
inline MeasuredSpace sample_space() {
    MeasuredSpace space;
    space.kernel = "saxpy";
    space.device = "Some \"fast\" device";
    space.problem_size = {4096, 64};
    space.space.tunables = {{"block", {int64_t{16}, int64_t{32}}},
                            {"factor", {1e-05, 0.5, 1.0}},
                            {"unroll", {int64_t{0}, int64_t{1}}},
                            {"layout", {std::string("column"), std::string("row, padded")}}};
    space.booleans = {"unroll"};
    const Failure failures[] = {Failure::none,    Failure::compile,     Failure::runtime, Failure::correctness,
                                Failure::timeout, Failure::constraints, Failure::other};
    for (int64_t i = 0; i < 7; ++i) {
        Measured entry;
        entry.configuration = {{"block", i % 2 ? int64_t{32} : int64_t{16}},
                               {"factor", space.space.tunables[1].values[static_cast<size_t>(i % 3)]},
                               {"unroll", i % 2},
                               {"layout", space.space.tunables[3].values[i < 4 ? 1 : 0]}};
        entry.failure = failures[i];
        entry.phases = {{"compilation", 120.5}, {"validation", 3.25}};
        entry.timestamp = "2024-05-01T12:00:00Z";
        space.entries.push_back(entry);
    }
    Measured& good = space.entries[0];
    good.value = 0.1 + 0.2;
    good.runs = {0.25, 0.35, 1e-09};
    good.phases = {{"benchmark", 31}, {"compilation", 120.5}, {"framework", 1e-3}, {"search", 2}, {"validation", 7}};
    good.metrics = {{"GFLOP/s", 1234.5}, {"registers", 40}};
    return space;
}

inline const std::string cache_header = json(R"({
'device_name': 'D', 'kernel_name': 'k', 'problem_size': [8, 4],
'tune_params_keys': ['x', 'y'],
'tune_params': {'y': [1, 2], 'x': [16, 32]},
'objective': 'time',
'cache': {)");

inline std::string t1(const std::string& parameters, const std::string& conditions = "",
                      const std::string& kernel = "'KernelName': 'gemm'") {
    return json("{'General': {'BenchmarkName': 'bench'}, 'ConfigurationSpace': {'TuningParameters': [" + parameters +
                "], 'Conditions': [" + conditions + "]}, 'KernelSpecification': {" + kernel + "}}");
}

inline std::string t4(const std::string& rows, const std::string& metadata = "'timeunit': 'milliseconds'") {
    return json("{'metadata': {" + metadata + "}, 'schema_version': '1.0.0', 'results': [" + rows + "]}");
}

inline std::string ktt(const std::string& results, const std::string& unit = "Milliseconds") {
    return json("{'Metadata': {'Device': 'D', 'TimeUnit': '" + unit + "'}, 'Results': [" + results + "]}");
}

inline std::string ktt_result(const std::string& rest, const std::string& status = "Ok", int x = 1) {
    return "{'KernelName': 'k', 'Status': '" + status +
           "', 'Configuration': [{'Name': 'x', 'Value': " + std::to_string(x) + ", 'ValueType': 'Int'}]" +
           (rest.empty() ? "" : ", " + rest) + "}";
}

}  // namespace strop::exchange
