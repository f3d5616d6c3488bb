#include "core/json.h"

#include <cmath>
#include <concepts>
#include <limits>
#include <tuple>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"

namespace strop {

namespace {

// One description of each struct serves both directions.
template <class Struct, class Member>
struct Field {
    const char* name;
    Member Struct::* member;
};
template <class Struct, class Member>
Field(const char*, Member Struct::*) -> Field<Struct, Member>;

auto fields_of(const ShapePoint*) {
    return std::tuple{Field{"label", &ShapePoint::label}, Field{"dims", &ShapePoint::dims}};
}

auto fields_of(const Strategy*) {
    return std::tuple{Field{"id", &Strategy::id},
                      Field{"family", &Strategy::family},
                      Field{"proposer", &Strategy::proposer},
                      Field{"parent", &Strategy::parent},
                      Field{"hypothesis", &Strategy::hypothesis},
                      Field{"bottleneck", &Strategy::bottleneck},
                      Field{"excludes", &Strategy::excludes},
                      Field{"confidence", &Strategy::confidence},
                      Field{"state", &Strategy::state},
                      Field{"reason", &Strategy::reason}};
}

auto fields_of(const Tunable*) {
    return std::tuple{Field{"name", &Tunable::name}, Field{"values", &Tunable::values},
                      Field{"kind", &Tunable::kind}};
}

auto fields_of(const TunableSpace*) {
    return std::tuple{Field{"tunables", &TunableSpace::tunables},
                      Field{"constraints", &TunableSpace::constraints}};
}

auto fields_of(const Kernel*) {
    return std::tuple{Field{"id", &Kernel::id},
                      Field{"strategy", &Kernel::strategy},
                      Field{"language", &Kernel::language},
                      Field{"source", &Kernel::source},
                      Field{"space", &Kernel::space},
                      Field{"initial", &Kernel::initial},
                      Field{"author", &Kernel::author},
                      Field{"parent", &Kernel::parent},
                      Field{"condition", &Kernel::condition}};
}

auto fields_of(const Measurement*) {
    return std::tuple{Field{"samples_ns", &Measurement::samples_ns},
                      Field{"median_ns", &Measurement::median_ns}, Field{"low_ns", &Measurement::low_ns},
                      Field{"high_ns", &Measurement::high_ns}, Field{"abandoned", &Measurement::abandoned},
                      Field{"disturbed", &Measurement::disturbed}};
}

auto fields_of(const PointResult*) {
    return std::tuple{Field{"point", &PointResult::point}, Field{"verdict", &PointResult::verdict},
                      Field{"evidence", &PointResult::evidence}, Field{"time", &PointResult::time}};
}

auto fields_of(const EvaluationRequest*) {
    return std::tuple{Field{"kernel", &EvaluationRequest::kernel},
                      Field{"configuration", &EvaluationRequest::configuration},
                      Field{"points", &EvaluationRequest::points},
                      Field{"effort", &EvaluationRequest::effort},
                      Field{"best_ns", &EvaluationRequest::best_ns}};
}

auto fields_of(const Evaluation*) {
    return std::tuple{Field{"key", &Evaluation::key},
                      Field{"kernel", &Evaluation::kernel},
                      Field{"configuration", &Evaluation::configuration},
                      Field{"verdict", &Evaluation::verdict},
                      Field{"evidence", &Evaluation::evidence},
                      Field{"points", &Evaluation::points},
                      Field{"compile_seconds", &Evaluation::compile_seconds},
                      Field{"check_seconds", &Evaluation::check_seconds},
                      Field{"time_seconds", &Evaluation::time_seconds}};
}

auto fields_of(const ProbeResult*) {
    return std::tuple{Field{"verdict", &ProbeResult::verdict},
                      Field{"evidence", &ProbeResult::evidence},
                      Field{"points", &ProbeResult::points},
                      Field{"compile_seconds", &ProbeResult::compile_seconds},
                      Field{"time_seconds", &ProbeResult::time_seconds}};
}

auto fields_of(const Ratio*) {
    return std::tuple{Field{"ratio", &Ratio::ratio}, Field{"low", &Ratio::low}, Field{"high", &Ratio::high}};
}

auto fields_of(const Contender*) {
    return std::tuple{Field{"name", &Contender::name}, Field{"baseline", &Contender::baseline},
                      Field{"kernel", &Contender::kernel}, Field{"configuration", &Contender::configuration}};
}

auto fields_of(const ComparisonRequest*) {
    return std::tuple{Field{"contenders", &ComparisonRequest::contenders},
                      Field{"points", &ComparisonRequest::points},
                      Field{"effort", &ComparisonRequest::effort},
                      Field{"seconds_per_point", &ComparisonRequest::seconds_per_point},
                      Field{"prove", &ComparisonRequest::prove}};
}

auto fields_of(const ContenderResult*) {
    return std::tuple{Field{"name", &ContenderResult::name},
                      Field{"verdict", &ContenderResult::verdict},
                      Field{"evidence", &ContenderResult::evidence},
                      Field{"time", &ContenderResult::time},
                      Field{"overhead_ns", &ContenderResult::overhead_ns},
                      Field{"speedup", &ContenderResult::speedup},
                      Field{"decision", &ContenderResult::decision}};
}

auto fields_of(const PointComparison*) {
    return std::tuple{Field{"point", &PointComparison::point}, Field{"results", &PointComparison::results}};
}

auto fields_of(const Comparison*) {
    return std::tuple{
        Field{"points", &Comparison::points}, Field{"compile_seconds", &Comparison::compile_seconds},
        Field{"check_seconds", &Comparison::check_seconds}, Field{"time_seconds", &Comparison::time_seconds},
        Field{"reference_seconds", &Comparison::reference_seconds}};
}

auto fields_of(const TestVector*) {
    return std::tuple{Field{"point", &TestVector::point}, Field{"inputs", &TestVector::inputs},
                      Field{"expected", &TestVector::expected}, Field{"absolute", &TestVector::absolute},
                      Field{"relative", &TestVector::relative}};
}

auto fields_of(const CacheLevel*) {
    return std::tuple{Field{"level", &CacheLevel::level}, Field{"bytes", &CacheLevel::bytes},
                      Field{"shared_by", &CacheLevel::shared_by},
                      Field{"read_bytes_per_second", &CacheLevel::read_bytes_per_second}};
}

auto fields_of(const Ceilings*) {
    return std::tuple{Field{"fma_flops_one_core", &Ceilings::fma_flops_one_core},
                      Field{"fma_flops_all_cores", &Ceilings::fma_flops_all_cores},
                      Field{"memory_read", &Ceilings::memory_read},
                      Field{"memory_copy", &Ceilings::memory_copy},
                      Field{"memory_copy_one_core", &Ceilings::memory_copy_one_core}};
}

auto fields_of(const Machine*) {
    return std::tuple{Field{"cpu", &Machine::cpu},
                      Field{"architecture", &Machine::architecture},
                      Field{"isa", &Machine::isa},
                      Field{"vector_bytes", &Machine::vector_bytes},
                      Field{"vector_registers", &Machine::vector_registers},
                      Field{"cores", &Machine::cores},
                      Field{"memory_bytes", &Machine::memory_bytes},
                      Field{"page_bytes", &Machine::page_bytes},
                      Field{"caches", &Machine::caches},
                      Field{"ceilings", &Machine::ceilings},
                      Field{"fingerprint", &Machine::fingerprint}};
}

auto fields_of(const RunSettings*) {
    return std::tuple{Field{"budget_seconds", &RunSettings::budget_seconds},
                      Field{"evaluations", &RunSettings::evaluations},
                      Field{"rounds", &RunSettings::rounds},
                      Field{"beam", &RunSettings::beam},
                      Field{"target_speedup", &RunSettings::target_speedup},
                      Field{"min_improvement", &RunSettings::min_improvement},
                      Field{"seed", &RunSettings::seed},
                      Field{"out", &RunSettings::out},
                      Field{"points", &RunSettings::points},
                      Field{"models", &RunSettings::models},
                      Field{"base_url", &RunSettings::base_url},
                      Field{"key_file", &RunSettings::key_file},
                      Field{"prices", &RunSettings::prices},
                      Field{"max_cost", &RunSettings::max_cost},
                      Field{"max_tokens", &RunSettings::max_tokens},
                      Field{"analysis_advice", &RunSettings::analysis_advice},
                      Field{"dry_run", &RunSettings::dry_run},
                      Field{"exhaustive", &RunSettings::exhaustive},
                      Field{"kernel_name", &RunSettings::kernel_name},
                      Field{"kernel_source", &RunSettings::kernel_source}};
}

auto fields_of(const Regime*) {
    return std::tuple{Field{"kernel", &Regime::kernel}, Field{"strategy", &Regime::strategy},
                      Field{"configuration", &Regime::configuration}, Field{"condition", &Regime::condition},
                      Field{"points", &Regime::points}};
}

auto fields_of(const DispatchCheck*) {
    return std::tuple{Field{"shapes", &DispatchCheck::shapes}, Field{"correct", &DispatchCheck::correct},
                      Field{"timed", &DispatchCheck::timed},
                      Field{"within_5_percent", &DispatchCheck::within_5_percent},
                      Field{"worst_regret", &DispatchCheck::worst_regret}};
}

auto fields_of(const ShapeReport*) {
    return std::tuple{Field{"label", &ShapeReport::label},
                      Field{"dims", &ShapeReport::dims},
                      Field{"nanoseconds", &ShapeReport::nanoseconds},
                      Field{"low_ns", &ShapeReport::low_ns},
                      Field{"high_ns", &ShapeReport::high_ns},
                      Field{"roofline_ns", &ShapeReport::roofline_ns},
                      Field{"roofline_share", &ShapeReport::roofline_share},
                      Field{"bound", &ShapeReport::bound},
                      Field{"bytes", &ShapeReport::bytes},
                      Field{"flops", &ShapeReport::flops},
                      Field{"kernel", &ShapeReport::kernel},
                      Field{"speedup", &ShapeReport::speedup},
                      Field{"best_baseline", &ShapeReport::best_baseline},
                      Field{"baselines", &ShapeReport::baselines},
                      Field{"speedups", &ShapeReport::speedups},
                      Field{"baseline_overhead", &ShapeReport::baseline_overhead},
                      Field{"disturbed", &ShapeReport::disturbed}};
}

auto fields_of(const HistoryEntry*) {
    return std::tuple{
        Field{"seconds", &HistoryEntry::seconds},        Field{"kernel", &HistoryEntry::kernel},
        Field{"strategy", &HistoryEntry::strategy},      Field{"configuration", &HistoryEntry::configuration},
        Field{"verdict", &HistoryEntry::verdict},        Field{"evidence", &HistoryEntry::evidence},
        Field{"nanoseconds", &HistoryEntry::nanoseconds}};
}

auto fields_of(const MissingBaseline*) {
    return std::tuple{Field{"name", &MissingBaseline::name}, Field{"how", &MissingBaseline::how}};
}

auto fields_of(const Probe*) {
    return std::tuple{Field{"name", &Probe::name}, Field{"tells", &Probe::tells}, Field{"verdict", &Probe::verdict},
                      Field{"evidence", &Probe::evidence}, Field{"nanoseconds", &Probe::nanoseconds}};
}

auto fields_of(const Experiment*) {
    return std::tuple{Field{"strategy", &Experiment::strategy}, Field{"hypothesis", &Experiment::hypothesis},
                      Field{"kernel_ns", &Experiment::kernel_ns}, Field{"probes", &Experiment::probes}};
}

auto fields_of(const ModelUse*) {
    return std::tuple{Field{"role", &ModelUse::role},
                      Field{"model", &ModelUse::model},
                      Field{"calls", &ModelUse::calls},
                      Field{"failed", &ModelUse::failed},
                      Field{"replayed", &ModelUse::replayed},
                      Field{"input_tokens", &ModelUse::input_tokens},
                      Field{"cached_tokens", &ModelUse::cached_tokens},
                      Field{"output_tokens", &ModelUse::output_tokens},
                      Field{"reasoning_tokens", &ModelUse::reasoning_tokens},
                      Field{"cost", &ModelUse::cost},
                      Field{"priced", &ModelUse::priced},
                      Field{"seconds", &ModelUse::seconds}};
}

auto fields_of(const PhaseSeconds*) {
    return std::tuple{Field{"total", &PhaseSeconds::total}, Field{"reference", &PhaseSeconds::reference},
                      Field{"compile", &PhaseSeconds::compile}, Field{"check", &PhaseSeconds::check},
                      Field{"time", &PhaseSeconds::time},
                      Field{"models", &PhaseSeconds::models}};
}

auto fields_of(const RunRecord*) {
    return std::tuple{Field{"run", &RunRecord::run},
                      Field{"started", &RunRecord::started},
                      Field{"strop_version", &RunRecord::strop_version},
                      Field{"compiler", &RunRecord::compiler},
                      Field{"problem", &RunRecord::problem},
                      Field{"problem_folder", &RunRecord::problem_folder},
                      Field{"problem_hash", &RunRecord::problem_hash},
                      Field{"settings", &RunRecord::settings},
                      Field{"machine", &RunRecord::machine},
                      Field{"outcome", &RunRecord::outcome},
                      Field{"verified", &RunRecord::verified},
                      Field{"verification", &RunRecord::verification},
                      Field{"note", &RunRecord::note},
                      Field{"stopped_by", &RunRecord::stopped_by},
                      Field{"headline", &RunRecord::headline},
                      Field{"headline_baseline", &RunRecord::headline_baseline},
                      Field{"shapes", &RunRecord::shapes},
                      Field{"regimes", &RunRecord::regimes},
                      Field{"dispatch", &RunRecord::dispatch},
                      Field{"strategies", &RunRecord::strategies},
                      Field{"kernels", &RunRecord::kernels},
                      Field{"history", &RunRecord::history},
                      Field{"evaluations_by_verdict", &RunRecord::evaluations_by_verdict},
                      Field{"evaluations", &RunRecord::evaluations},
                      Field{"missing_baselines", &RunRecord::missing_baselines},
                      Field{"models", &RunRecord::models},
                      Field{"model_costs", &RunRecord::model_costs},
                      Field{"model_losses", &RunRecord::model_losses},
                      Field{"experiments", &RunRecord::experiments},
                      Field{"lessons", &RunRecord::lessons},
                      Field{"weaker", &RunRecord::weaker},
                      Field{"seconds", &RunRecord::seconds},
                      Field{"result", &RunRecord::result}};
}

template <class T>
concept Described = requires(const T* pointer) { fields_of(pointer); };

template <class T>
struct IsVector : std::false_type {};
template <class T>
struct IsVector<std::vector<T>> : std::true_type {};
template <class T>
struct IsMap : std::false_type {};
template <class T>
struct IsMap<std::map<std::string, T>> : std::true_type {};
template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};

// Effort has no `name_of` among the core's texts, it only travels to workers.
std::string name_of(Effort effort) {
    switch (effort) {
        case Effort::screen: return "screen";
        case Effort::full: return "full";
    }
    return {};
}

std::string text_of_non_finite(double number) {
    if (std::isnan(number)) return "nan";
    return number > 0 ? "inf" : "-inf";
}

std::optional<double> parse_non_finite(const std::string& text) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    if (text == "inf") return infinity;
    if (text == "-inf") return -infinity;
    if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
    return std::nullopt;
}

Json encode_double(double number) {
    if (std::isfinite(number)) return number;
    return text_of_non_finite(number);
}

// A text "inf" is a legal Value of its own, so a number without a JSON form is wrapped.
Json encode_value(const Value& value) {
    if (const double* number = std::get_if<double>(&value); number && !std::isfinite(*number))
        return Json{{"number", text_of_non_finite(*number)}};
    return std::visit([](const auto& held) { return Json(held); }, value);
}

template <class T>
Json encode(const T& value) {
    if constexpr (Described<T>) {
        Json json = Json::object();
        std::apply([&](auto... field) { ((json[field.name] = encode(value.*field.member)), ...); },
                   fields_of(&value));
        return json;
    } else if constexpr (std::is_enum_v<T>) {
        return name_of(value);
    } else if constexpr (std::same_as<T, double>) {
        return encode_double(value);
    } else if constexpr (std::same_as<T, Value>) {
        return encode_value(value);
    } else if constexpr (std::same_as<T, Expression>) {
        return value.text();
    } else if constexpr (IsOptional<T>::value) {
        return value ? encode(*value) : Json();
    } else if constexpr (IsVector<T>::value) {
        Json json = Json::array();
        for (const auto& element : value) json.push_back(encode(element));
        return json;
    } else if constexpr (IsMap<T>::value) {
        Json json = Json::object();
        for (const auto& [key, element] : value) json[key] = encode(element);
        return json;
    } else {
        return value;
    }
}

template <class Enum>
Enum parse_enum(const std::string& text) {
    for (int i = 0; !name_of(static_cast<Enum>(i)).empty(); ++i)
        if (name_of(static_cast<Enum>(i)) == text) return static_cast<Enum>(i);
    throw UsageError(fmt::format("unknown name '{}' in a JSON document", text),
                     "it was written by another version of Strop");
}

double decode_double(const Json& json) {
    if (json.is_string())
        if (std::optional<double> number = parse_non_finite(json.get<std::string>())) return *number;
    return json.get<double>();
}

// A conversion that does not fit would be any number.
template <std::integral Number>
Number decode_integer(const Json& json) {
    if (json.is_number_unsigned()) {
        if (uint64_t number = json.get<uint64_t>(); std::in_range<Number>(number)) return static_cast<Number>(number);
    } else if (json.is_number_integer()) {
        if (int64_t number = json.get<int64_t>(); std::in_range<Number>(number)) return static_cast<Number>(number);
    } else if (json.is_number_float()) {
        constexpr double exact = 9007199254740992.0;
        double number = json.get<double>();
        bool whole = number == std::floor(number) && std::fabs(number) <= exact;
        if (whole && std::in_range<Number>(static_cast<int64_t>(number))) return static_cast<Number>(number);
    } else {
        return json.get<Number>();  // throws nlohmann's type error
    }
    throw UsageError(
        fmt::format("{} in a JSON document is no whole number of {} bits", json.dump(), 8 * sizeof(Number)));
}

Value decode_value(const Json& json) {
    if (json.is_object()) return decode_double(json.at("number"));
    if (json.is_number_integer()) return decode_integer<int64_t>(json);
    if (json.is_number_float()) return json.get<double>();
    return json.get<std::string>();
}

template <class T>
void decode(const Json& json, T& value) {
    if constexpr (Described<T>) {
        auto read = [&](auto field) {
            if (auto found = json.find(field.name); found != json.end()) decode(*found, value.*field.member);
        };
        if (!json.is_object()) json.get_ref<const Json::object_t&>();  // throws nlohmann's type error
        std::apply([&](auto... field) { (read(field), ...); }, fields_of(&value));
    } else if constexpr (std::is_enum_v<T>) {
        value = parse_enum<T>(json.get<std::string>());
    } else if constexpr (std::same_as<T, double>) {
        value = decode_double(json);
    } else if constexpr (std::integral<T> && !std::same_as<T, bool>) {
        value = decode_integer<T>(json);
    } else if constexpr (std::same_as<T, Value>) {
        value = decode_value(json);
    } else if constexpr (std::same_as<T, Expression>) {
        value = Expression::parse(json.get<std::string>());
    } else if constexpr (IsOptional<T>::value) {
        value.reset();
        if (!json.is_null()) decode(json, value.emplace());
    } else if constexpr (IsVector<T>::value) {
        value.clear();
        for (const Json& element : json.get_ref<const Json::array_t&>())
            decode(element, value.emplace_back());
    } else if constexpr (IsMap<T>::value) {
        value.clear();
        for (const auto& [key, element] : json.get_ref<const Json::object_t&>()) decode(element, value[key]);
    } else {
        value = json.get<T>();
    }
}

}  // namespace

void to_json(Json& json, const ShapePoint& value) { json = encode(value); }
void from_json(const Json& json, ShapePoint& value) { decode(json, value); }
void to_json(Json& json, const Strategy& value) { json = encode(value); }
void from_json(const Json& json, Strategy& value) { decode(json, value); }
void to_json(Json& json, const TunableSpace& value) { json = encode(value); }
void from_json(const Json& json, TunableSpace& value) { decode(json, value); }
void to_json(Json& json, const Kernel& value) { json = encode(value); }
void from_json(const Json& json, Kernel& value) { decode(json, value); }
void to_json(Json& json, const Measurement& value) { json = encode(value); }
void from_json(const Json& json, Measurement& value) { decode(json, value); }
void to_json(Json& json, const PointResult& value) { json = encode(value); }
void from_json(const Json& json, PointResult& value) { decode(json, value); }
void to_json(Json& json, const EvaluationRequest& value) { json = encode(value); }
void from_json(const Json& json, EvaluationRequest& value) { decode(json, value); }
void to_json(Json& json, const Evaluation& value) { json = encode(value); }
void from_json(const Json& json, Evaluation& value) { decode(json, value); }
void to_json(Json& json, const ProbeResult& value) { json = encode(value); }
void from_json(const Json& json, ProbeResult& value) { decode(json, value); }
void to_json(Json& json, const Ratio& value) { json = encode(value); }
void from_json(const Json& json, Ratio& value) { decode(json, value); }
void to_json(Json& json, const Contender& value) { json = encode(value); }
void from_json(const Json& json, Contender& value) { decode(json, value); }
void to_json(Json& json, const ComparisonRequest& value) { json = encode(value); }
void from_json(const Json& json, ComparisonRequest& value) { decode(json, value); }
void to_json(Json& json, const ContenderResult& value) { json = encode(value); }
void from_json(const Json& json, ContenderResult& value) { decode(json, value); }
void to_json(Json& json, const PointComparison& value) { json = encode(value); }
void from_json(const Json& json, PointComparison& value) { decode(json, value); }
void to_json(Json& json, const Comparison& value) { json = encode(value); }
void from_json(const Json& json, Comparison& value) { decode(json, value); }
void to_json(Json& json, const TestVector& value) { json = encode(value); }
void from_json(const Json& json, TestVector& value) { decode(json, value); }
void to_json(Json& json, const Experiment& value) { json = encode(value); }
void from_json(const Json& json, Experiment& value) { decode(json, value); }
void to_json(Json& json, const Machine& value) { json = encode(value); }
void from_json(const Json& json, Machine& value) { decode(json, value); }
void to_json(Json& json, const RunSettings& value) { json = encode(value); }
void from_json(const Json& json, RunSettings& value) { decode(json, value); }

void to_json(Json& json, const RunRecord& value) {
    json = encode(value);
    json["schema"] = RunRecord::schema_version;
}

void from_json(const Json& json, RunRecord& value) {
    int schema = RunRecord::schema_version;
    if (!json.is_object()) json.get_ref<const Json::object_t&>();  // throws nlohmann's type error
    if (auto found = json.find("schema"); found != json.end()) schema = decode_integer<int>(*found);
    if (schema > RunRecord::schema_version)
        throw UsageError(fmt::format("run record has schema {}, this Strop reads up to {}", schema,
                                     RunRecord::schema_version),
                         "it was written by a newer Strop: update this one");
    decode(json, value);
}

Json configuration_to_json(const Configuration& configuration) { return encode(configuration); }

Configuration configuration_from_json(const Json& json) {
    Configuration configuration;
    decode(json, configuration);
    return configuration;
}

uint64_t seed_from_json(const Json& json) { return decode_integer<uint64_t>(json); }

std::string dump(const Json& json, int indent) {
    return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace strop
