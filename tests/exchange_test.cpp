#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "exchange/file.h"
#include "fakes/exchange_texts.h"

namespace strop::exchange {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

// ---- Kernel Tuner ----------------------------------------------------------------------------------

MeasuredSpace read_cache(const std::string& entries) {
    return read_kernel_tuner(cache_header + json(entries) + "}}", "a.json");
}

TEST(KernelTuner, ReadsACache) {
    MeasuredSpace space = read_cache(R"(
        '32,1': {'x': 32, 'y': 1, 'time': 2.5, 'times': [2, 3], 'compile_time': 10, 'verification_time': 0,
                 'benchmark_time': 30.5, 'strategy_time': 40, 'framework_time': 50, 'GFLOP/s': 7, 'note': 'hot',
                 'power': [1], 'valid': true, 'timestamp': '2024-01-01 00:00:00+00:00'},
        '16,2': {'x': 16, 'y': 2, 'time': 1})");
    EXPECT_EQ(space.kernel, "k");
    EXPECT_EQ(space.device, "D");
    EXPECT_THAT(space.problem_size, ElementsAre(8, 4));
    EXPECT_EQ(space.objective, "time");
    EXPECT_FALSE(space.higher_is_better);
    EXPECT_THAT(space.booleans, IsEmpty());
    ASSERT_THAT(space.space.tunables, SizeIs(2));
    EXPECT_EQ(space.space.tunables[0].name, "x");
    EXPECT_EQ(space.space.tunables[0].values, (Values{int64_t{16}, int64_t{32}}));
    EXPECT_EQ(space.space.tunables[1].name, "y");
    Measured first{{{"x", int64_t{32}}, {"y", int64_t{1}}},
                   Failure::none,
                   2.5,
                   {2, 3},
                   {{"compilation", 10}, {"benchmark", 30.5}, {"search", 40}, {"framework", 50}},
                   {{"GFLOP/s", 7}},
                   "2024-01-01 00:00:00+00:00"};
    Measured second{{{"x", int64_t{16}}, {"y", int64_t{2}}}, Failure::none, 1, {}, {}, {}, ""};
    EXPECT_THAT(space.entries, ElementsAre(first, second));  // in the order of the file
}

TEST(KernelTuner, ReadsBothMarksOfFailure) {
    MeasuredSpace space = read_cache(R"(
        '16,1': {'x': 16, 'y': 1, 'time': 'CompilationFailedConfig'},
        '16,2': {'x': 16, 'y': 2, 'time': 'RuntimeFailedConfig', 'times': [1, 2]},
        '32,1': {'x': 32, 'y': 1, '__error__': 'InvalidConfig'},
        '32,2': {'x': 32, 'y': 2, '__error__': 'ErrorConfig', 'time': 'InvalidConfig'},
        '64,2': {'x': 64, 'y': 2, '__error__': 'CompilationFailedConfig', 'time': 1e20})");
    std::vector<Failure> failures;
    for (const Measured& entry : space.entries) {
        failures.push_back(entry.failure);
        EXPECT_EQ(tune::cost_of(space, entry), std::numeric_limits<double>::infinity());
    }
    EXPECT_THAT(failures, ElementsAre(Failure::compile, Failure::runtime, Failure::constraints, Failure::other,
                                      Failure::compile));
}

TEST(KernelTuner, ReadsCachesThatACrashLeftOpen) {
    std::string entry = json("\n'16,1': {'x': 16, 'y': 1, 'time': 1}");
    for (const std::string& rest : {entry + ",", entry + ",\n \n", entry, entry + "\n"})
        EXPECT_THAT(read_kernel_tuner(cache_header + rest, "a.json").entries, SizeIs(1)) << rest;
    EXPECT_THAT(read_kernel_tuner(cache_header, "a.json").entries, IsEmpty());
    EXPECT_THAT(read_kernel_tuner(cache_header + entry + "}}", "a.json").entries, SizeIs(1));
    EXPECT_EQ(error_of(read_kernel_tuner, cache_header + entry + json(",\n'16,2': {'x': 16, 'y'\n")),
              "a.json: line 8: malformed JSON: unexpected end of input");
}

TEST(KernelTuner, ReadsAllTypesOfValues) {
    MeasuredSpace space = read_kernel_tuner(json(R"({
        'tune_params_keys': ['i', 'f', 'b', 't', 'm'],
        'tune_params': {'i': [1, 2], 'f': [0.5, 1.0], 'b': [true, false], 't': ['a'], 'm': [0, 1]},
        'cache': {'k': {'i': 2, 'f': 1, 'b': false, 't': 'a', 'm': true, 'time': 1}}})"),
                                            "a.json");
    EXPECT_EQ(space.space.tunables[1].values, (Values{0.5, 1.0}));
    EXPECT_EQ(space.space.tunables[2].values, (Values{int64_t{1}, int64_t{0}}));
    EXPECT_THAT(space.booleans, ElementsAre("b"));  // m is listed as numbers
    Configuration expected = {
        {"i", int64_t{2}}, {"f", 1.0}, {"b", int64_t{0}}, {"t", std::string("a")}, {"m", int64_t{1}}};
    EXPECT_EQ(space.entries.at(0).configuration, expected);
}

TEST(KernelTuner, AddsValuesThatAreNotListed) {
    MeasuredSpace space = read_cache(R"('48,1': {'x': 48, 'y': 1, 'time': 1}, '16,1': {'x': 16, 'y': 1, 'time': 1})");
    EXPECT_EQ(space.space.tunables[0].values, (Values{int64_t{16}, int64_t{32}, int64_t{48}}));
    EXPECT_EQ(space.space.tunables[1].values, (Values{int64_t{1}, int64_t{2}}));
}

TEST(KernelTuner, KeepsTheFirstOfRepeatedConfigurations) {
    MeasuredSpace space = read_cache(R"('16,1': {'x': 16, 'y': 1, 'time': 1}, '16,1': {'x': 16, 'y': 1, 'time': 2},
                                        'again': {'x': 16.0, 'y': 1, 'time': 3}, '16,2': {'x': 16, 'y': 2, 'time': 4})");
    ASSERT_THAT(space.entries, SizeIs(2));
    EXPECT_EQ(space.entries[0].value, 1);
    EXPECT_EQ(space.entries[1].value, 4);
}

TEST(KernelTuner, ReadsObjectivesAndProblemSizes) {
    auto read = [](const std::string& header, const std::string& row) {
        return read_kernel_tuner(
            json("{" + header + "'tune_params': {'x': [1]}, 'cache': {'1': {'x': 1, " + row + "}}}"), "a.json");
    };
    MeasuredSpace rate = read("'objective': 'GFLOP/s',", "'GFLOP/s': 4, 'time': 2");
    EXPECT_TRUE(rate.higher_is_better);
    EXPECT_EQ(rate.entries[0].value, 4);
    EXPECT_EQ(rate.entries[0].metrics.at("time"), 2);
    EXPECT_EQ(tune::cost_of(rate, rate.entries[0]), 0.25);
    EXPECT_TRUE(read("'objective': 'GFLOPS/W',", "'GFLOPS/W': 4").higher_is_better);
    EXPECT_FALSE(read("'objective': 'energy',", "'energy': 4").higher_is_better);
    MeasuredSpace time = read("", "'time': 2");
    EXPECT_EQ(time.objective, "time");
    EXPECT_EQ(tune::cost_of(time, time.entries[0]), 2);
    EXPECT_THAT(time.problem_size, IsEmpty());
    EXPECT_THAT(read("'problem_size': 100,", "'time': 2").problem_size, ElementsAre(100));
    EXPECT_THAT(read("'problem_size': 'callable',", "'time': 2").problem_size, IsEmpty());
    EXPECT_THAT(read("'problem_size': ['n', 4],", "'time': 2").problem_size, IsEmpty());
}

TEST(KernelTuner, ReadsPythonsNaNAndInfinity) {
    MeasuredSpace space = read_cache(R"(
        '16,1': {'x': 16, 'y': 1, 'time': 1, 'times': [1, NaN], 'NaN \'': -Infinity, 'power': NaN, 'rate': 3},
        '16,2': {'x': 16, 'y': 2, 'time': Infinity})");
    EXPECT_THAT(space.entries[0].runs, ElementsAre(1));
    EXPECT_EQ(space.entries[0].metrics, (std::map<std::string, double>{{"rate", 3}}));
    EXPECT_EQ(space.entries[1].failure, Failure::other);
}

TEST(KernelTuner, WritesWhatItReads) {
    MeasuredSpace space = sample_space();
    expect_same(read_kernel_tuner(write_kernel_tuner(space), "a.json"), space);
    space.problem_size.clear();
    space.objective = "score";
    space.higher_is_better = true;
    expect_same(read_kernel_tuner(write_kernel_tuner(space), "a.json"), space);
    space.entries.clear();
    expect_same(read_kernel_tuner(write_kernel_tuner(space), "a.json"), space);
}

TEST(KernelTuner, WritesForItsSimulation) {
    MeasuredSpace space = sample_space();
    std::string text = write_kernel_tuner(space);
    EXPECT_TRUE(text.ends_with("}\n}\n}"));  // closed: it looks at the last three bytes
    nlohmann::json file = nlohmann::json::parse(text);
    EXPECT_EQ(file["tune_params_keys"], nlohmann::json({"block", "factor", "unroll", "layout"}));
    EXPECT_EQ(file["tune_params"]["unroll"], nlohmann::json({false, true}));
    for (const char* key : {"16,1e-05,False,row, padded", "32,0.5,True,row, padded", "16,1.0,False,row, padded"}) {
        ASSERT_TRUE(file["cache"].contains(key)) << key;
        for (const char* needed : {"time", "compile_time", "verification_time", "benchmark_time"})
            EXPECT_TRUE(file["cache"][key].contains(needed)) << needed;
        EXPECT_NE(text.find("\n\"" + std::string(key) + "\": {"), std::string::npos);  // a line of its own
    }
    EXPECT_EQ(file["cache"]["32,0.5,True,row, padded"]["time"], "CompilationFailedConfig");
    EXPECT_EQ(file["cache"]["32,1e-05,True,row, padded"]["time"], "RuntimeFailedConfig");
    EXPECT_EQ(file["cache"]["32,1e-05,True,row, padded"]["invalidity"], "correctness");
}

TEST(KernelTuner, WritesNoNumberThatJsonLacks) {
    MeasuredSpace space = sample_space();
    space.entries[0].value = std::nan("");
    space.entries[0].metrics["power"] = std::numeric_limits<double>::infinity();
    MeasuredSpace read = read_kernel_tuner(write_kernel_tuner(space), "a.json");
    EXPECT_EQ(read.entries[0].failure, Failure::other);
    EXPECT_FALSE(read.entries[0].metrics.contains("power"));
    EXPECT_EQ(read_t4(write_t4(space), "a.json").entries[0].failure, Failure::other);
}

TEST(KernelTuner, NamesWhatIsWrong) {
    auto error = [](const std::string& text) { return error_of(read_kernel_tuner, json(text)); };
    auto error_of_row = [](const std::string& row) {
        return error_of(read_kernel_tuner, cache_header + json("'16,1': " + row + "}}"));
    };
    EXPECT_EQ(error("[]"), "a.json: expected an object of keys");
    EXPECT_EQ(error("{'cache': {}}"), "a.json: key 'tune_params': missing");
    EXPECT_EQ(error("{'tune_params': []}"), "a.json: key 'tune_params': expected an object of keys");
    EXPECT_EQ(error("{'tune_params': {}}"), "a.json: key 'cache': missing");
    EXPECT_EQ(error("{'tune_params': {'MWG': 3}}"), "a.json: key 'tune_params.MWG': expected a list of values");
    EXPECT_EQ(error("{'tune_params': {'MWG': [1, []]}}"),
              "a.json: key 'tune_params.MWG[1]': expected a number or a text");
    EXPECT_EQ(error("{'tune_params': {}, 'tune_params_keys': {}}"),
              "a.json: key 'tune_params_keys': expected a list of names");
    EXPECT_EQ(error("{'tune_params': {}, 'tune_params_keys': ['a', 1]}"),
              "a.json: key 'tune_params_keys[1]': expected a text");
    EXPECT_EQ(error("{'kernel_name': 1}"), "a.json: key 'kernel_name': expected a text");
    EXPECT_EQ(error("{'problem_size': [1, 2.5]}"), "a.json: key 'problem_size': expected whole numbers");
    EXPECT_EQ(error("{'tune_params': {}, 'cache': []}"), "a.json: key 'cache': expected an object of keys");
    EXPECT_EQ(error_of_row("3"), "a.json: key 'cache.16,1': expected an object of keys");
    EXPECT_EQ(error_of_row("[{}]"), "a.json: key 'cache.16,1': expected an object of keys");
    EXPECT_EQ(error_of_row("{'x': 16, 'time': 1}"), "a.json: key 'cache.16,1.y': missing");
    EXPECT_EQ(error_of_row("{'x': 16, 'y': {}, 'time': 1}"), "a.json: key 'cache.16,1.y': expected a number or a text");
    EXPECT_EQ(error_of_row("{'x': 16, 'y': 1}"), "a.json: key 'cache.16,1.time': missing");
    EXPECT_EQ(error_of_row("{'x': 16, 'y': 1, 'time': true}"),
              "a.json: key 'cache.16,1.time': expected a number or the name of a failure");
    EXPECT_EQ(error_of_row("{'x': 16, 'y': 1, 'time': 1, 'times': 1}"),
              "a.json: key 'cache.16,1.times': expected a list of numbers");
    EXPECT_EQ(error_of_row("{'x': 16, 'y': 1, 'time': 1, 'times': [1, '2']}"),
              "a.json: key 'cache.16,1.times[1]': expected a number");
    EXPECT_EQ(error_of_row("{'x': 16, 'y': 1, 'time': 1, 'timestamp': 1}"),
              "a.json: key 'cache.16,1.timestamp': expected a text");
}

TEST(KernelTuner, NamesTheLineOfBadJson) {
    auto error = [](const std::string& text) { return error_of(read_kernel_tuner, json(text)); };
    EXPECT_EQ(error(""), "a.json: line 1: malformed JSON: unexpected end of input");
    EXPECT_EQ(error("\n\n"), "a.json: line 1: malformed JSON: unexpected end of input");
    EXPECT_EQ(error("{\n'a': 1,\n'b' 2}"), "a.json: line 3: malformed JSON: unexpected number literal");
    EXPECT_EQ(error("{\n'a': nil}"), "a.json: line 2: malformed JSON: invalid literal");
    EXPECT_EQ(error("{\n'a': [1, 2}"), "a.json: line 2: malformed JSON: unexpected '}'");
    EXPECT_EQ(error("{\n'a': 1e999}"), "a.json: line 2: malformed JSON: number overflow parsing '1e999'");
    EXPECT_EQ(error("{\n\n'a': NaN,\n'b': Nan}"), "a.json: line 4: malformed JSON: invalid literal");
    EXPECT_EQ(error("{'a': '\xff'}"), "a.json: line 1: malformed JSON: invalid string: ill-formed UTF-8 byte");
}

// ---- Files -----------------------------------------------------------------------------------------

class ExchangeFile : public testing::Test {
protected:
    fs::path write(const std::string& name, const std::string& bytes) {
        write_file(folder_.path() / name, bytes);
        return folder_.path() / name;
    }

    std::string error_of_text(const std::string& text, std::string* hint = nullptr) {
        fs::path path = write("a.json", text);
        try {
            read_measured(path);
        } catch (const UsageError& error) {
            if (hint) *hint = error.hint();
            return replace_all(error.what(), path.string(), "a.json");
        }
        return "no error";
    }

    TemporaryFolder folder_{"strop-exchange"};
};

std::string gzip(const std::string& text) {
    z_stream stream{};
    EXPECT_EQ(deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
    std::string bytes(deflateBound(&stream, text.size()) + 64, '\0');
    std::string input = text;
    stream.next_in = reinterpret_cast<Bytef*>(input.data());
    stream.avail_in = static_cast<uInt>(input.size());
    stream.next_out = reinterpret_cast<Bytef*>(bytes.data());
    stream.avail_out = static_cast<uInt>(bytes.size());
    EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
    bytes.resize(stream.total_out);
    deflateEnd(&stream);
    return bytes;
}

TEST_F(ExchangeFile, ReadsGzip) {
    std::string text(1 << 20, 'x');
    EXPECT_EQ(read_text(write("plain", text)), text);
    EXPECT_EQ(read_text(write("a.gz", gzip(text))), text);
    EXPECT_EQ(read_text(write("b.gz", gzip("one") + gzip(text))), "one" + text);
    EXPECT_EQ(read_text(write("empty.gz", gzip(""))), "");
    EXPECT_EQ(read_text(write("empty", "")), "");
    expect_same(read_measured(write("c.json.gz", gzip(write_kernel_tuner(sample_space())))), sample_space());
}

TEST_F(ExchangeFile, RefusesDamagedGzip) {
    std::string bytes = gzip(std::string(1000, 'x') + "y"), longer = bytes + "rest", damaged = bytes;
    damaged[bytes.size() - 6] ^= 1;  // the checksum
    EXPECT_EQ(error_of_text(bytes.substr(0, bytes.size() - 3)), "a.json: the gzip data ends too early");
    EXPECT_EQ(error_of_text(bytes.substr(0, 2)), "a.json: the gzip data ends too early");
    EXPECT_EQ(error_of_text(damaged), "a.json: the gzip data is damaged");
    EXPECT_EQ(error_of_text(longer), "a.json: the gzip data is damaged");
}

TEST_F(ExchangeFile, TellsFormatsByTheirKeys) {
    EXPECT_EQ(read_measured(write("a", write_kernel_tuner(sample_space()))).kernel, "saxpy");
    EXPECT_EQ(read_measured(write("b", cache_header)).kernel, "k");  // open
    EXPECT_EQ(read_measured(write("c", t1("{'Name': 'x', 'Type': 'int', 'Values': '[1]'}"))).kernel, "gemm");
    EXPECT_EQ(read_measured(write("d", write_t4(sample_space()))).entries.size(), 7u);
    EXPECT_EQ(read_measured(write("e", ktt(ktt_result("'TotalDuration': 3")))).kernel, "k");
}

TEST_F(ExchangeFile, NamesTheKeysOfAnUnknownFormat) {
    std::string hint;
    EXPECT_EQ(error_of_text(json("{'a': {'cache': 1}, 'b': [{'results': 2}]}"), &hint),
              "a.json: unknown format, its keys are 'a', 'b'");
    EXPECT_EQ(hint,
              "known are the cache files of Kernel Tuner ('tune_params', 'cache'), T1 ('ConfigurationSpace'), T4 "
              "('results') and the results of KTT ('Results'), plain or gzip");
    EXPECT_EQ(error_of_text(json("{'a':0,'b':0,'c':0,'d':0,'e':0,'f':0,'g':0,'h':0,'i':0}")),
              "a.json: unknown format, its keys are 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', ...");
    EXPECT_EQ(error_of_text("{}"), "a.json: unknown format, it has no keys");
    EXPECT_EQ(error_of_text("[{}]"), "a.json: expected an object of keys");
    EXPECT_EQ(error_of_text("3"), "a.json: expected an object of keys");
    EXPECT_EQ(error_of_text(""), "a.json: line 1: malformed JSON: unexpected end of input");
    EXPECT_EQ(error_of_text("{\n,"), "a.json: line 2: malformed JSON: unexpected ','");
    EXPECT_EQ(error_of_text(gzip("{\n,")), "a.json: line 2: malformed JSON: unexpected ','");
}

// Whatever a file holds, it is read or refused.
TEST_F(ExchangeFile, SurvivesAnything) {
    const std::pair<Reader, std::string> files[] = {
        {read_kernel_tuner, write_kernel_tuner(sample_space())},
        {read_t4, write_t4(sample_space())},
        {read_t1,
         t1("{'Name': 'x', 'Type': 'int', 'Values': '[2**i for i in range(1, 5)]'}", "{'Expression': 'x > 1'}")},
        {read_ktt, ktt(ktt_result("'TotalDuration': 3, 'ComputationResults': [{'Duration': 1}]"))}};
    const char* const replacements[] = {"null", "[]", "{}", "-1e308", "18446744073709551615", "\"\"", "true", "NaN"};
    size_t refused = 0;
    for (const auto& [read, text] : files) {
        for (size_t i = 0; i < text.size(); ++i) refused += error_of(read, text.substr(0, i)) != "no error";
        for (size_t colon = text.find(':'); colon != std::string::npos; colon = text.find(':', colon + 1))
            for (const char* replacement : replacements) {
                size_t end = std::min(text.find_first_of(",]}\n", colon), text.size());
                std::string changed = text.substr(0, colon + 1) + replacement + text.substr(end);
                refused += error_of(read, changed) != "no error";
            }
    }
    EXPECT_GT(refused, 1000u);
}

TEST_F(ExchangeFile, SurvivesDeepNesting) {
    const std::string deep = std::string(100000, '[') + std::string(100000, ']');
    const std::string parameter = "{'Name': 'x', 'Type': 'int', 'Values': ";
    for (Reader read : {read_kernel_tuner, read_t1, read_t4, read_ktt})
        EXPECT_EQ(error_of(read, deep), "a.json: expected an object of keys");
    EXPECT_EQ(error_of(read_kernel_tuner, json("{'problem_size': " + deep + ", 'cache': 1}")),
              "a.json: key 'problem_size': expected whole numbers");
    EXPECT_EQ(error_of(read_kernel_tuner, cache_header + json("'1': {'x': 1, 'y': " + deep + ", 'time': 1}}}")),
              "a.json: key 'cache.1.y': expected a number or a text");
    EXPECT_EQ(error_of(read_t1, t1(parameter + deep + "}")),
              "a.json: key 'ConfigurationSpace.TuningParameters[0].Values[0]': expected a number or a text");
    EXPECT_THAT(error_of(read_t1, t1(parameter + "'[" + std::string(100000, '(') + "]'}")),
                StartsWith("a.json: key 'ConfigurationSpace.TuningParameters[0].Values': "));
    EXPECT_EQ(error_of(read_t4, t4(deep)), "a.json: key 'results[0]': expected an object of keys");
    EXPECT_EQ(error_of(read_ktt, ktt(deep)), "a.json: key 'Results[0]': expected an object of keys");
}

}  // namespace
}  // namespace strop::exchange
