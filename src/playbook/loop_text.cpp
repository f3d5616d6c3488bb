#include "playbook/loop_text.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/strings.h"
#include "graph/operations.h"
#include "playbook/pointwise.h"

namespace strop::playbook {

std::vector<int> cone(const LoopForm& form, const std::vector<int>& targets, const std::set<int>& known) {
    std::set<int> ids(targets.begin(), targets.end());
    for (int id = static_cast<int>(form.graph.nodes.size()); id-- > 0;)
        if (ids.contains(id) && !known.contains(id))
            ids.insert(form.graph.at(id).operands.begin(), form.graph.at(id).operands.end());
    return {ids.begin(), ids.end()};
}

std::string value_word(const Graph& graph, const Node& node) {
    if (node.op == "multiply" || node.op == "divide") {
        bool sum = false, constant = false;
        for (int operand : node.operands) {
            sum |= graph.at(operand).family == Family::reduction && graph.at(operand).op == "sum";
            const Node& count = graph.at(operand);
            constant |= (count.op == "reciprocal" ? graph.at(count.operands[0]) : count).family == Family::constant;
        }
        if (sum && constant) return "mean";
    }
    return word_for(node.op);
}

namespace {

// The name that "const vec name = ..." declares.
std::string declared_name(const std::string& statement) {
    size_t end = statement.find(" =");
    return statement.substr(statement.rfind(' ', end - 1) + 1, end - statement.rfind(' ', end - 1) - 1);
}

}  // namespace

Values ValueWriter::write(const std::vector<int>& targets, const std::map<int, std::string>& known,
                          const std::set<int>& uniform, const std::string& prefix, bool scalar) {
    Values values;
    std::set<int> known_ids;
    for (const std::pair<const int, std::string>& entry : known) known_ids.insert(entry.first);
    std::map<int, int> uses;
    std::vector<int> all = cone(form_, targets, known_ids);
    for (int id : all)
        if (!known_ids.contains(id))
            for (int operand : form_.graph.at(id).operands) ++uses[operand];
    for (int id : targets) ++uses[id];

    std::map<int, std::string> named = known;
    std::set<std::string> taken;
    for (const std::pair<const int, std::string>& entry : known) taken.insert(entry.second);
    for (const Node& node : form_.graph.nodes)
        if (node.family == Family::input || node.family == Family::parameter) taken.insert(node.op);
    int reserved = -1;  // keys that only keep names from being used twice
    for (int id : all) {
        const Node& node = form_.graph.at(id);
        bool target = std::find(targets.begin(), targets.end(), id) != targets.end();
        if (known_ids.contains(id) || node.family != Family::pointwise || (uses[id] < 2 && !target)) continue;
        PointwiseCode code = emit_pointwise(form_.graph, id, named, prefix, scalar, uniform);
        helpers.insert(code.helpers.begin(), code.helpers.end());
        if (lacks.empty()) lacks = code.lacks;
        for (const std::string& statement : code.statements) {
            named[reserved--] = declared_name(statement);
            taken.insert(declared_name(statement));
            values.statements.push_back("const " + statement);
        }
        std::string name = code.result;
        if (!is_identifier(name) || node.op == "cast") {
            std::string base = prefix + value_word(form_.graph, node);
            name = base;
            for (int i = 2; taken.contains(name); ++i) name = base + "_" + std::to_string(i);
            bool truth = node.dtype == DType::boolean;
            const char* type = scalar ? (truth ? "bool" : "float") : (truth ? "vmask" : "vec");
            values.statements.push_back(fmt::format("const {} {} = {};", type, name, code.result));
        }
        taken.insert(name);
        named[id] = name;
    }
    for (int id : targets) {
        if (!named.contains(id)) {  // constants and parameters
            PointwiseCode code = emit_pointwise(form_.graph, id, named, prefix, scalar, uniform);
            helpers.insert(code.helpers.begin(), code.helpers.end());
            if (lacks.empty()) lacks = code.lacks;
            named[id] = code.result;
        }
        bool spread = !scalar && uniform.contains(id);
        if (spread) helpers.insert("splat");
        values.of[id] = spread ? "splat(" + named[id] + ")" : named[id];
    }
    return values;
}

std::vector<int> shared_values(const LoopForm& form, int stage) {
    std::set<int> ids;
    auto consider = [&](int id) {
        const Node& node = form.graph.at(id);
        if (!form.full(id) && node.family == Family::pointwise && form.stage(id) == stage) ids.insert(id);
    };
    for (const Node& node : form.graph.nodes)
        if (form.full(node.id))
            for (int operand : node.operands) consider(operand);
    return {ids.begin(), ids.end()};
}

std::vector<int> outputs_of_stage(const LoopForm& form, int stage) {
    std::vector<int> positions;
    for (int k : form.full_outputs())
        if (form.stage(form.graph.outputs[static_cast<size_t>(k)]) == stage) positions.push_back(k);
    return positions;
}

std::map<int, std::string> reduction_names(const LoopForm& form, const std::string& prefix) {
    std::set<std::string> taken;
    for (const Node& node : form.graph.nodes)
        if (node.family == Family::input || node.family == Family::parameter) taken.insert(node.op);
    for (const Tensor& tensor : form.problem.outputs) taken.insert(tensor.name);
    std::map<int, std::string> names;
    for (const Node& node : form.graph.nodes) {
        if (node.family != Family::reduction) continue;
        bool squares = node.op == "sum" && form.graph.at(node.operands[0]).op == "square";
        std::string base = prefix + (squares ? "square_sum" : node.op == "prod" ? "product" : node.op), name = base;
        for (int i = 2; !taken.insert(name).second; ++i) name = base + "_" + std::to_string(i);
        names[node.id] = name;
    }
    return names;
}

Folding folding(const std::string& op) {
    if (op == "max") return {"-__builtin_inff()", "maximum", "vmax"};
    if (op == "max_number") return {"-__builtin_inff()", "maximum_number", "vmax_number"};
    if (op == "min") return {"__builtin_inff()", "minimum", "vmin"};
    if (op == "prod") return {"1.0f", "product", ""};
    return {"0.0f", "sum", ""};
}

namespace {

// Outside of all brackets.
bool has_outside(const std::string& text, char wanted) {
    int depth = 0;
    for (const char c : text) {
        if (c == wanted && depth == 0) return true;
        depth += (c == '(' || c == '[' || c == '{') - (c == ')' || c == ']' || c == '}');
    }
    return false;
}

}  // namespace

std::string fold(const std::string& op, const std::string& a, const std::string& b) {
    if (op == "max") return "vmax(" + a + ", " + b + ")";
    if (op == "max_number") return "vmax_number(" + a + ", " + b + ")";
    if (op == "min") return "vmin(" + a + ", " + b + ")";
    const bool apart = has_outside(b, op == "prod" ? ' ' : '?');  // else a * x + 1 for a * (x + 1)
    return a + (op == "prod" ? " * " : " + ") + (apart ? "(" + b + ")" : b);
}

}  // namespace strop::playbook
