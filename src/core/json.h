// The one versioned JSON form of the core's structs: workers, store and exports share it. nlohmann finds
// these by argument-dependent lookup (`json j = evaluation;`, `j.get<Evaluation>()`). Unknown keys are
// ignored, missing keys keep the struct's default; a value of the wrong type throws
// nlohmann::json::exception, a number that does not fit a UsageError. Enumerations are their `name_of` (an unknown name
// is a UsageError); Value is a JSON integer, number or string; expressions are their text. JSON has no infinity and no
// NaN: they are the strings "inf", "-inf" and "nan".
#pragma once

#include <nlohmann/json.hpp>

#include "core/digest.h"
#include "core/evaluation.h"
#include "core/kernel.h"
#include "core/lesson.h"
#include "core/machine.h"
#include "core/problem.h"
#include "core/profile.h"
#include "core/record.h"

namespace strop {

using Json = nlohmann::json;

void to_json(Json&, const ShapePoint&);
void from_json(const Json&, ShapePoint&);
void to_json(Json&, const Strategy&);
void from_json(const Json&, Strategy&);
void to_json(Json&, const TunableSpace&);
void from_json(const Json&, TunableSpace&);
void to_json(Json&, const Kernel&);
void from_json(const Json&, Kernel&);
void to_json(Json&, const Measurement&);
void from_json(const Json&, Measurement&);
void to_json(Json&, const PointResult&);
void from_json(const Json&, PointResult&);
void to_json(Json&, const EvaluationRequest&);
void from_json(const Json&, EvaluationRequest&);
void to_json(Json&, const Evaluation&);
void from_json(const Json&, Evaluation&);
void to_json(Json&, const ProbeResult&);
void from_json(const Json&, ProbeResult&);
void to_json(Json&, const Ratio&);
void from_json(const Json&, Ratio&);
void to_json(Json&, const Contender&);
void from_json(const Json&, Contender&);
void to_json(Json&, const ComparisonRequest&);
void from_json(const Json&, ComparisonRequest&);
void to_json(Json&, const ContenderResult&);
void from_json(const Json&, ContenderResult&);
void to_json(Json&, const PointComparison&);
void from_json(const Json&, PointComparison&);
void to_json(Json&, const Comparison&);
void from_json(const Json&, Comparison&);
void to_json(Json&, const SanitizerRun&);
void from_json(const Json&, SanitizerRun&);
void to_json(Json&, const TestVector&);
void from_json(const Json&, TestVector&);
void to_json(Json&, const PointProfile&);
void from_json(const Json&, PointProfile&);
void to_json(Json&, const Profile&);
void from_json(const Json&, Profile&);
void to_json(Json&, const Diagnosis&);
void from_json(const Json&, Diagnosis&);
void to_json(Json&, const Experiment&);
void from_json(const Json&, Experiment&);
void to_json(Json&, const InProcess&);
void from_json(const Json&, InProcess&);
void to_json(Json&, const Machine&);
void from_json(const Json&, Machine&);
void to_json(Json&, const RunSettings&);
void from_json(const Json&, RunSettings&);
void to_json(Json&, const Lesson&);
void from_json(const Json&, Lesson&);
void to_json(Json&, const Testimony&);
void from_json(const Json&, Testimony&);
void to_json(Json&, const Digest&);
void from_json(const Json&, Digest&);
void to_json(Json&, const RunRecord&);    // writes "schema": RunRecord::schema_version
void from_json(const Json&, RunRecord&);  // throws UsageError for a newer schema

// A Configuration is a map of variants, which ADL cannot reach: convert by name.
Json configuration_to_json(const Configuration&);
Configuration configuration_from_json(const Json&);

// Any 64 bits; a number that does not fit is a UsageError.
uint64_t seed_from_json(const Json&);

// As text, also when a string is not valid UTF-8 (compilers' messages): the offending bytes become U+FFFD.
std::string dump(const Json& json, int indent = -1);

}  // namespace strop
