#include "core/json.h"

#include <cmath>
#include <concepts>
#include <limits>
#include <tuple>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "core/json_fields.h"

namespace strop {

namespace {

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
struct IsNumberMap : std::false_type {};
template <class T>
struct IsNumberMap<std::map<int, T>> : std::true_type {};
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
        std::apply([&](auto... field) { ((json[field.name] = encode(value.*field.member)), ...); }, fields_of(&value));
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
    } else if constexpr (IsNumberMap<T>::value) {
        Json json = Json::object();
        for (const auto& [key, element] : value) json[std::to_string(key)] = encode(element);
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
        for (const Json& element : json.get_ref<const Json::array_t&>()) decode(element, value.emplace_back());
    } else if constexpr (IsMap<T>::value) {
        value.clear();
        for (const auto& [key, element] : json.get_ref<const Json::object_t&>()) decode(element, value[key]);
    } else if constexpr (IsNumberMap<T>::value) {
        value.clear();
        for (const auto& [key, element] : json.get_ref<const Json::object_t&>())
            decode(element, value[decode_integer<int>(Json::parse(key))]);
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
void to_json(Json& json, const SanitizerRun& value) { json = encode(value); }
void from_json(const Json& json, SanitizerRun& value) { decode(json, value); }
void to_json(Json& json, const PointProfile& value) { json = encode(value); }
void from_json(const Json& json, PointProfile& value) { decode(json, value); }
void to_json(Json& json, const Profile& value) { json = encode(value); }
void from_json(const Json& json, Profile& value) { decode(json, value); }
void to_json(Json& json, const InProcess& value) { json = encode(value); }
void from_json(const Json& json, InProcess& value) { decode(json, value); }
void to_json(Json& json, const Diagnosis& value) { json = encode(value); }
void from_json(const Json& json, Diagnosis& value) { decode(json, value); }
void to_json(Json& json, const Experiment& value) { json = encode(value); }
void from_json(const Json& json, Experiment& value) { decode(json, value); }
void to_json(Json& json, const Machine& value) { json = encode(value); }
void from_json(const Json& json, Machine& value) { decode(json, value); }
void to_json(Json& json, const RunSettings& value) { json = encode(value); }
void from_json(const Json& json, RunSettings& value) { decode(json, value); }

// A lesson's name is a hash of this: one that was measured keeps the name that it had before there were documents.
void to_json(Json& json, const Lesson& value) {
    json = encode(value);
    if (value.measured) json.erase("measured");
    for (const char* key : {"document", "quotation"})
        if (json.at(key) == "") json.erase(key);
}

void from_json(const Json& json, Lesson& value) { decode(json, value); }
void to_json(Json& json, const Testimony& value) { json = encode(value); }
void from_json(const Json& json, Testimony& value) { decode(json, value); }
void to_json(Json& json, const Digest& value) { json = encode(value); }
void from_json(const Json& json, Digest& value) { decode(json, value); }

void to_json(Json& json, const RunRecord& value) {
    json = encode(value);
    json["schema"] = RunRecord::schema_version;
}

void from_json(const Json& json, RunRecord& value) {
    int schema = RunRecord::schema_version;
    if (!json.is_object()) json.get_ref<const Json::object_t&>();  // throws nlohmann's type error
    if (auto found = json.find("schema"); found != json.end()) schema = decode_integer<int>(*found);
    if (schema > RunRecord::schema_version)
        throw UsageError(
            fmt::format("run record has schema {}, this Strop reads up to {}", schema, RunRecord::schema_version),
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

std::string dump(const Json& json, int indent) { return json.dump(indent, ' ', false, Json::error_handler_t::replace); }

}  // namespace strop
