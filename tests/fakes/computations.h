// Whole computations as people write them in NumPy (tests/python/computations.py), with their graphs, and
// what NumPy computes in float64 at some shapes.
#pragma once

#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "device/machine.h"
#include "graph/interpreter.h"

namespace strop {

inline std::string output_of(const std::string& command) {
    std::string text;
    FILE* pipe = popen(command.c_str(), "r");
    char block[65536];
    while (size_t count = fread(block, 1, sizeof block, pipe)) text.append(block, count);
    pclose(pipe);
    return text;
}

struct Point {
    Dimensions dims;
    std::vector<Array> inputs, expected;
};

struct Computation {
    Problem problem;
    std::string graph_json;
    Graph graph;
    std::vector<Point> points;

    Arguments arguments(const Point& point) const {
        Arguments result{{}, bindings_of(problem, point.dims)};
        for (size_t k = 0; k < point.inputs.size(); ++k) result.inputs[problem.inputs[k].name] = point.inputs[k];
        return result;
    }
};

inline Array array_of(const nlohmann::json& json) {
    return {json.at("shape").get<std::vector<int64_t>>(), json.at("values").get<std::vector<double>>()};
}

inline Computation read(const nlohmann::json& json) {
    Computation made;
    made.problem.name = json.at("name").get<std::string>();
    made.graph_json = json.at("graph").get<std::string>();
    made.graph = parse_graph(made.graph_json);
    for (const nlohmann::json& input : json.at("inputs")) {
        Tensor tensor{input.at("name").get<std::string>(),
                      *parse_dtype(input.at("dtype").get<std::string>()),
                      {},
                      Fill::normal,
                      {}};
        for (const nlohmann::json& extent : input.at("shape"))
            tensor.shape.push_back(Expression::parse(extent.get<std::string>()));
        made.problem.inputs.push_back(std::move(tensor));
    }
    for (size_t k = 0; k < made.graph.outputs.size(); ++k) {
        DType dtype = *parse_dtype(json.at("outputs").at(k).get<std::string>());
        // NumPy's scalars are wider than the arrays that they come from.
        if (dtype == DType::float64) dtype = DType::float32;
        made.problem.outputs.push_back(
            {fmt::format("y{}", k), dtype, made.graph.at(made.graph.outputs[k]).shape, Fill::normal, {}});
    }
    for (const nlohmann::json& point : json.at("points")) {
        Point one;
        one.dims = point.at("dims").get<Dimensions>();
        for (const nlohmann::json& array : point.at("inputs")) one.inputs.push_back(array_of(array));
        for (const nlohmann::json& array : point.at("expected")) one.expected.push_back(array_of(array));
        made.points.push_back(std::move(one));
        made.problem.points.push_back({"point", made.points.back().dims});
    }
    for (const auto& [name, value] : made.points.at(0).dims) made.problem.dimensions.push_back(name);
    return made;
}

inline std::vector<Computation> exported(const std::string& which) {
    std::vector<Computation> made;
    std::string command =
        fmt::format("{} {}/tests/python/export_computations.py {}", reference_python(), STROP_SOURCE_DIR, which);
    for (const nlohmann::json& json : nlohmann::json::parse(output_of(command))) made.push_back(read(json));
    return made;
}

inline const std::vector<Computation>& computations() {
    static const std::vector<Computation> all = exported("");
    return all;
}

// Loops over time: many steps, of which other languages make many launches.
inline const std::vector<Computation>& recurrences() {
    static const std::vector<Computation> all = exported("--recurrences");
    return all;
}

// Loops over time whose number of steps varies.
inline const std::vector<Computation>& loops() {
    static const std::vector<Computation> all = exported("--loops");
    return all;
}

inline Machine small_machine() {
    Machine machine;
    machine.vector_bytes = 32;
    machine.cores = 2;
    machine.memory_bytes = int64_t{8} << 30;
    machine.caches = {{1, 32768, 1, 0}, {2, 524288, 1, 0}, {3, 32 << 20, 2, 0}};
    return machine;
}

inline void expect_near(const std::vector<double>& actual, const std::vector<double>& expected, double tolerance,
                        const std::string& where) {
    ASSERT_EQ(actual.size(), expected.size()) << where;
    for (size_t i = 0; i < actual.size(); ++i) {
        if (std::isnan(expected[i]) && std::isnan(actual[i])) continue;
        ASSERT_NEAR(actual[i], expected[i], tolerance * (1 + std::fabs(expected[i]))) << where << ", element " << i;
    }
}

}  // namespace strop
