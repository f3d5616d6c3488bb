#include "core/json.h"

#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "fakes/sample_record.h"

namespace strop {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// Through text, as workers and the store do.
template <class T>
T round_trip(const T& value) {
    return Json::parse(dump(Json(value))).template get<T>();
}

template <class T>
class DefaultConstructed : public testing::Test {};
using Structs =
    testing::Types<ShapePoint, Strategy, TunableSpace, Kernel, Measurement, PointResult, EvaluationRequest, Evaluation,
                   ProbeResult, Ratio, Contender, ComparisonRequest, ContenderResult, PointComparison, Comparison,
                   SanitizerRun, TestVector, Experiment, Machine, RunSettings, RunRecord>;
TYPED_TEST_SUITE(DefaultConstructed, Structs);

TYPED_TEST(DefaultConstructed, SurvivesTheRoundTrip) {
    Json json = TypeParam{};
    EXPECT_TRUE(json.is_object());
    EXPECT_FALSE(json.empty());
    EXPECT_EQ(Json(round_trip(TypeParam{})), json);
}

TYPED_TEST(DefaultConstructed, EmptyObjectGivesTheDefaults) {
    EXPECT_EQ(Json(Json::object().template get<TypeParam>()), Json(TypeParam{}));
}

TYPED_TEST(DefaultConstructed, AnythingButAnObjectThrows) {
    for (const char* text : {"[]", "3", "\"x\"", "null"})
        EXPECT_THROW(Json::parse(text).get<TypeParam>(), Json::exception) << text;
}

Evaluation full_evaluation() {
    Evaluation evaluation;
    evaluation.key = "k1";
    evaluation.kernel = "online";
    evaluation.configuration = {{"MR", int64_t{8}}, {"F", 0.5}, {"OPT", std::string("-O3 -funroll-loops")}};
    evaluation.verdict = Verdict::wrong_output;
    evaluation.evidence = "y[0] is nan";
    evaluation.points = {{{"small", {{"M", 64}, {"N", int64_t{1} << 40}}}, Verdict::crashed, "signal 11", {}},
                         {{"large", {}}, Verdict::ok, "", {{1.5, 2.5, infinity}, 2.5, 1.5, infinity, true}, {{9}, 9}}};
    evaluation.compile_seconds = 0.1;
    evaluation.check_seconds = 0.2;
    evaluation.time_seconds = 0.3;
    return evaluation;
}

TEST(CoreJson, EvaluationKeepsEveryField) {
    Evaluation back = round_trip(full_evaluation());
    EXPECT_EQ(back.key, "k1");
    EXPECT_EQ(back.kernel, "online");
    EXPECT_EQ(back.configuration, full_evaluation().configuration);
    EXPECT_EQ(back.verdict, Verdict::wrong_output);
    EXPECT_EQ(back.evidence, "y[0] is nan");
    ASSERT_EQ(back.points.size(), 2u);
    EXPECT_EQ(back.points[0].point.dims.at("N"), int64_t{1} << 40);
    EXPECT_EQ(back.points[0].verdict, Verdict::crashed);
    EXPECT_EQ(back.points[0].evidence, "signal 11");
    EXPECT_EQ(back.points[1].time.samples_ns, (std::vector<double>{1.5, 2.5, infinity}));
    EXPECT_EQ(back.points[1].time.high_ns, infinity);
    EXPECT_TRUE(back.points[1].time.abandoned);
    EXPECT_EQ(back.points[1].cold.median_ns, 9);
    EXPECT_EQ(back.compile_seconds, 0.1);
    EXPECT_EQ(back.check_seconds, 0.2);
    EXPECT_EQ(back.time_seconds, 0.3);
}

TEST(CoreJson, KernelKeepsSpaceAndCondition) {
    Kernel kernel = fakes::sample_kernel("k");
    kernel.language = Language::triton;
    kernel.condition = Expression::parse("N % 8 == 0 and M >= 4");
    Kernel back = round_trip(kernel);
    EXPECT_EQ(back.language, Language::triton);
    EXPECT_EQ(back.source, kernel.source);
    EXPECT_EQ(back.initial, kernel.initial);
    ASSERT_EQ(back.space.tunables.size(), 2u);
    EXPECT_EQ(back.space.tunables[0].values, kernel.space.tunables[0].values);
    EXPECT_EQ(back.space.tunables[1].kind, Tunable::Kind::flags);
    EXPECT_EQ(back.space.constraints, kernel.space.constraints);
    ASSERT_TRUE(back.condition);
    EXPECT_EQ(*back.condition, *kernel.condition);
    EXPECT_FALSE(round_trip(fakes::sample_kernel("k")).condition);
}

TEST(CoreJson, RequestsAndComparisonsSurvive) {
    EvaluationRequest request{
        fakes::sample_kernel("k"), {{"UNROLL", int64_t{2}}}, {{"p", {{"M", 3}}}}, Effort::full, {{"p", infinity}}};
    EvaluationRequest back = round_trip(request);
    EXPECT_EQ(back.effort, Effort::full);
    EXPECT_EQ(back.best_ns.at("p"), infinity);
    EXPECT_EQ(back.points[0].dims.at("M"), 3);

    ComparisonRequest comparison{
        {{"us", "", fakes::sample_kernel("k"), {}}, {"np", "numpy", {}, {}}}, {{"p", {}}}, Effort::screen, 0.25};
    ComparisonRequest comparison_back = round_trip(comparison);
    EXPECT_EQ(comparison_back.contenders[1].baseline, "numpy");
    EXPECT_EQ(comparison_back.effort, Effort::screen);
    EXPECT_EQ(comparison_back.seconds_per_point, 0.25);

    Comparison result;
    result.points = {
        {{"p", {}},
         {{"np", Verdict::timed_out, "30 s", {}, 1200, {{7}, 7}, 0.25, {0.9, 0.8, infinity}, Decision::slower}}}};
    result.reference_seconds = 2;
    Comparison result_back = round_trip(result);
    EXPECT_EQ(result_back.points[0].results[0].verdict, Verdict::timed_out);
    EXPECT_EQ(result_back.points[0].results[0].decision, Decision::slower);
    EXPECT_EQ(result_back.points[0].results[0].overhead_ns, 1200);
    EXPECT_EQ(result_back.points[0].results[0].cold.median_ns, 7);
    EXPECT_EQ(result_back.points[0].results[0].error_share, 0.25);
    EXPECT_EQ(result_back.points[0].results[0].speedup.high, infinity);
    EXPECT_EQ(result_back.reference_seconds, 2);
}

TEST(CoreJson, RunRecordIsStableUnderTheRoundTrip) {
    RunRecord record = fakes::sample_record();
    record.settings.seed = std::numeric_limits<uint64_t>::max();
    Json json = record;
    EXPECT_EQ(json.at("schema"), RunRecord::schema_version);
    RunRecord back = round_trip(record);
    EXPECT_EQ(Json(back), json);
    EXPECT_EQ(back.settings.seed, std::numeric_limits<uint64_t>::max());
    EXPECT_EQ(back.machine.caches.at(2).bytes, 32 << 20);
    EXPECT_EQ(back.strategies.at(2).state, Strategy::State::pruned);
    EXPECT_EQ(back.history.size(), record.history.size());
    EXPECT_EQ(back.shapes.at(1).speedups.at("pytorch").low, record.shapes.at(1).speedups.at("pytorch").low);
    EXPECT_EQ(back.seconds.compile, record.seconds.compile);
}

TEST(CoreJson, NewerSchemaIsRefused) {
    Json json = fakes::sample_record();
    json["schema"] = RunRecord::schema_version + 1;
    EXPECT_THROW(json.get<RunRecord>(), UsageError);
}

TEST(CoreJson, NonFiniteNumbersSurvive) {
    Ratio back = round_trip(Ratio{std::numeric_limits<double>::quiet_NaN(), -infinity, infinity});
    EXPECT_TRUE(std::isnan(back.ratio));
    EXPECT_EQ(back.low, -infinity);
    EXPECT_EQ(back.high, infinity);
}

TEST(CoreJson, ConfigurationKeepsTheTypeOfItsValues) {
    Configuration configuration = {{"integer", int64_t{2}},    {"float", 2.0},
                                   {"text", std::string("2")}, {"word", std::string("inf")},
                                   {"big", infinity},          {"least", std::numeric_limits<int64_t>::min()}};
    Json json = Json::parse(dump(configuration_to_json(configuration)));
    EXPECT_EQ(configuration_from_json(json), configuration);
}

TEST(CoreJson, InvalidUtf8IsReplacedNotThrown) {
    Evaluation evaluation;
    evaluation.evidence = "error: \xff\xc3( stray";
    std::string text;
    ASSERT_NO_THROW(text = dump(Json(evaluation)));
    std::string evidence = Json::parse(text).get<Evaluation>().evidence;
    EXPECT_NE(evidence.find("error: \xEF\xBF\xBD"), std::string::npos);
    EXPECT_NE(evidence.find("stray"), std::string::npos);
}

TEST(CoreJson, OddStringsSurvive) {
    Strategy strategy;
    strategy.reason = std::string("tab\t newline\n quote\" back\\ nul\0 é 漢 \x01", 40);
    EXPECT_EQ(round_trip(strategy).reason, strategy.reason);
}

TEST(CoreJson, UnknownKeysAreIgnoredAndMissingOnesKeepTheDefault) {
    Json json = Json::parse(R"({"id": "a", "from_the_future": [1, 2]})");
    Strategy strategy = json.get<Strategy>();
    EXPECT_EQ(strategy.id, "a");
    EXPECT_EQ(strategy.confidence, 0.5);
}

TEST(CoreJson, WrongTypesThrow) {
    EXPECT_THROW(Json::parse(R"({"id": 3})").get<Strategy>(), Json::exception);
    EXPECT_THROW(Json::parse(R"({"confidence": "high"})").get<Strategy>(), Json::exception);
    EXPECT_THROW(Json::parse(R"({"points": {"a": 1}})").get<Evaluation>(), Json::exception);
    EXPECT_THROW(Json::parse(R"({"configuration": [1]})").get<Evaluation>(), Json::exception);
    EXPECT_THROW(Json::parse(R"({"configuration": {"MR": true}})").get<Evaluation>(), Json::exception);
    EXPECT_THROW(Json::parse(R"({"verdict": "splendid"})").get<Evaluation>(), UsageError);
}

TEST(CoreJson, NumbersThatDoNotFitAreRefused) {
    auto cores = [](const char* number) {
        return Json::parse(fmt::format(R"({{"cores": {}}})", number)).get<Machine>().cores;
    };
    EXPECT_EQ(cores("7"), 7);
    EXPECT_EQ(cores("7.0"), 7);
    for (const char* number : {"4294967296", "-4294967296", "18446744073709551615", "1e300", "7.5"})
        EXPECT_THROW(cores(number), UsageError) << number;
    EXPECT_EQ(seed_from_json(18446744073709551615u), 18446744073709551615u);
    EXPECT_THROW(seed_from_json(-1), UsageError);
    EXPECT_THROW(configuration_from_json(Json{{"A", 18446744073709551615u}}), UsageError);
}

TEST(CoreJson, EveryNamedValueOfAnEnumerationSurvives) {
    for (int i = 0; i <= static_cast<int>(Verdict::unsupported); ++i) {
        Evaluation evaluation;
        evaluation.verdict = static_cast<Verdict>(i);
        EXPECT_EQ(Json(evaluation).at("verdict"), name_of(evaluation.verdict));
        EXPECT_EQ(round_trip(evaluation).verdict, evaluation.verdict);
    }
    for (int i = 0; i <= static_cast<int>(Outcome::failed); ++i) {
        RunRecord record;
        record.outcome = static_cast<Outcome>(i);
        EXPECT_EQ(round_trip(record).outcome, record.outcome);
    }
}

}  // namespace
}  // namespace strop
