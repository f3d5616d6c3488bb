// The text of NAME.py.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/error.h"
#include "base/strings.h"
#include "language/call_plan.h"
#include "run/result_python_forms.h"
#include "run/result_texts.h"

namespace strop::result {

namespace {

constexpr size_t max_columns = 110;

std::string inverse_text(const std::string& extent, const Inverse& inverse) {
    std::string text = extent;
    if (!inverse.rest.is_literal(0)) {
        int64_t literal = inverse.rest.is_literal() ? inverse.rest.evaluate_integer({}) : 0;
        if (literal < 0) text += fmt::format(" + {}", -literal);
        else text += literal > 0 ? fmt::format(" - {}", literal) : fmt::format(" - ({})", inverse.rest.text());
    }
    if (inverse.factor == 1) return text;
    return fmt::format("({}) // {}", text,
                       inverse.factor < 0 ? fmt::format("({})", inverse.factor) : fmt::format("{}", inverse.factor));
}

std::string tuple_text(const std::vector<std::string>& parts) {
    return parts.size() == 1 ? "(" + parts[0] + ",)" : "(" + join(parts, ", ") + ")";
}

std::string quoted(const std::string& text) { return "\"" + text + "\""; }

// "head(a, b, c)tail" over as many lines as it takes, aligned behind the parenthesis.
std::string call_text(const std::string& opening, const std::vector<std::string>& parts, const std::string& end) {
    std::string text = opening;
    size_t column = opening.size();
    for (size_t i = 0; i < parts.size(); ++i) {
        std::string part = parts[i] + (i + 1 < parts.size() ? "," : end);
        bool breaks = i > 0 && column + 1 + part.size() > max_columns;
        if (breaks) text += "\n" + std::string(opening.size(), ' ');
        else if (i > 0) text += " ";
        column = (breaks ? opening.size() : column + (i > 0 ? 1 : 0)) + part.size();
        text += part;
    }
    return parts.empty() ? opening + end : text;
}

// Python has true and false with capitals and no literal for infinity.
std::string python_value(const Parameter& parameter) {
    if (parameter.dtype == DType::boolean) return parameter.value != 0 ? "True" : "False";
    std::string text = value_text(parameter.dtype, parameter.value);
    return std::isfinite(parameter.value) ? text : fmt::format("float(\"{}\")", text);
}

// The function that the user calls.
class PythonFunction {
public:
    // `on_gpu`: the kernel's last argument is the stream.
    explicit PythonFunction(const Problem& problem, bool on_gpu = false)
        : problem_(problem),
          on_gpu_(on_gpu),
          plan_(plan_call(problem)) {
        for (const auto* tensors : {&problem.inputs, &problem.outputs})
            for (const Tensor& tensor : *tensors) taken_.insert(tensor.name);
        for (const Parameter& parameter : problem.parameters) taken_.insert(parameter.name);
        taken_.insert(problem.dimensions.begin(), problem.dimensions.end());
        bool own_name = problem.outputs.size() == 1 && problem.outputs[0].name == "out";
        out_ = own_name ? "out" : fresh("out");
        for (size_t i = 0; i < problem.inputs.size(); ++i) read_shape(i);
        read_inverses();
    }

    std::string text() const {
        const std::vector<std::string> given = positional();
        std::string body = convert_parameters();
        body += requirements(true);
        body += shape_lines_ + dimension_lines_;
        body += least_values() + requirements(false) + expectations_ + output_lines();
        if (on_gpu_) return heading() + body + call_lines();
        return heading() + call_text("    return _call(", given, ")\n") + "\n\n" +
               call_text("def _checked(", given, "):\n") +
               "    \"\"\"A call that the binding leaves: it is refused with the reason, or done.\"\"\"\n" + body +
               call_lines();
    }

    const std::string& out() const { return out_; }

private:
    std::string fresh(std::string name) {
        while (!taken_.insert(name).second) name += "_";
        return name;
    }

    std::vector<std::string> positional() const {
        std::vector<std::string> names;
        for (const Tensor& tensor : problem_.inputs) names.push_back(tensor.name);
        for (const Parameter& parameter : problem_.parameters) names.push_back(parameter.name);
        names.insert(names.end(), plan_.asked.begin(), plan_.asked.end());
        names.push_back(out_);
        return names;
    }

    // Extents that are dimensions by themselves become variables at once.
    void read_shape(size_t input) {
        const Tensor& tensor = problem_.inputs[input];
        if (tensor.shape.empty() && !on_gpu_) shape_lines_ += fmt::format("    {0} = _array({0})\n", tensor.name);
        std::string check = fmt::format("_shape(\"{0}\", {0}, \"{1}\", {2}, \"{3}\")", tensor.name,
                                        name_of(tensor.dtype), tensor.shape.size(), shape_text(tensor));
        std::vector<std::string> names, texts;
        size_t read = 0;
        for (size_t axis = 0; axis < tensor.shape.size(); ++axis) {
            const Reading* reading = plan_.plain_at(input, axis);
            names.push_back(reading ? reading->dimension : "_");
            texts.push_back(tensor.shape[axis].text());
            read += reading != nullptr;
        }
        std::string targets = names.size() == 1 ? tuple_text(names) : join(names, ", ");
        if (read == names.size()) {
            shape_lines_ += read == 0 ? "    " + check + "\n" : fmt::format("    {} = {}\n", targets, check);
            shape_names_.push_back("");
            return;
        }
        const std::string shape = fresh(tensor.name + "_shape");
        shape_names_.push_back(shape);
        shape_lines_ += fmt::format("    {} = {}\n", shape, check);
        if (read > 0) dimension_lines_ += fmt::format("    {} = {}\n", targets, shape);
        expectations_ += call_text("    _expect(",
                                   {quoted(tensor.name), shape, tuple_text(texts), quoted(shape_text(tensor))}, ")\n");
    }

    void read_inverses() {
        for (const Reading& reading : plan_.readings)
            if (reading.inverse)
                dimension_lines_ += fmt::format(
                    "    {} = {}\n", reading.dimension,
                    inverse_text(fmt::format("{}[{}]", shape_names_[reading.input], reading.axis), *reading.inverse));
    }

    std::string heading() const {
        std::vector<std::string> arguments;
        for (const Tensor& tensor : problem_.inputs) arguments.push_back(tensor.name);
        for (const Parameter& parameter : problem_.parameters)
            arguments.push_back(parameter.name + "=" + python_value(parameter));
        arguments.push_back("*");
        arguments.insert(arguments.end(), plan_.asked.begin(), plan_.asked.end());
        arguments.push_back(out_ + "=None");
        std::string text = call_text(fmt::format("def {}(", problem_.name), arguments, "):\n");
        std::vector<std::string> results;
        for (const Tensor& tensor : problem_.outputs)
            results.push_back(fmt::format("{} ({} {})", tensor.name, name_of(tensor.dtype), shape_text(tensor)));
        text += "    \"\"\"Returns " + join(results, ", ") + ".\n\n";
        for (const Tensor& tensor : problem_.inputs)
            text += fmt::format("    {}: {} {}{}\n", tensor.name, name_of(tensor.dtype), shape_text(tensor),
                                values_text(tensor));
        for (const Parameter& parameter : problem_.parameters)
            text += fmt::format("    {}: {}; the kernel was checked with {}\n", parameter.name,
                                name_of(parameter.dtype), python_value(parameter));
        text += problem_.outputs.size() == 1
                    ? fmt::format("    {}: where the result goes; new memory when None\n", out_)
                    : fmt::format("    {}: a tuple of where the results go; new memory when None\n", out_);
        return text + "\n    Arrays are contiguous; nothing is copied.\n    \"\"\"\n";
    }

    std::string convert_parameters() const {
        static const std::map<DType, std::string> limits = {{DType::int32, "-2**31, 2**31 - 1"},
                                                            {DType::int64, "-2**63, 2**63 - 1"},
                                                            {DType::int8, "-128, 127"},
                                                            {DType::uint8, "0, 255"}};
        std::string text;
        for (const Parameter& parameter : problem_.parameters) {
            if (parameter.dtype == DType::boolean) continue;
            text += is_floating(parameter.dtype) ? fmt::format("    {0} = _number(\"{0}\", {0})\n", parameter.name)
                                                 : fmt::format("    {0} = _integer(\"{0}\", {0}, {1})\n",
                                                               parameter.name, limits.at(parameter.dtype));
        }
        for (const std::string& name : plan_.asked)
            text += fmt::format("    {0} = _integer(\"{0}\", {0}, 0, 2**63 - 1)\n", name);
        return text;
    }

    // Conditions on parameters alone come first: shapes may divide by them.
    std::string requirements(bool of_parameters) const {
        std::string text;
        for (const Expression& condition : problem_.require) {
            std::set<std::string> names = condition.symbols();
            bool free = std::none_of(names.begin(), names.end(),
                                     [&](const std::string& name) { return is_dimension(problem_, name); });
            if (free == of_parameters) text += requirement(condition.text(), names);
        }
        return text;
    }

    // The kernel is checked down to these values and not below: with none, many reductions have no meaning.
    std::string least_values() const {
        std::vector<std::string> conditions;
        std::set<std::string> names;
        for (const std::string& name : problem_.dimensions) {
            auto range = problem_.range.find(name);
            if (range == problem_.range.end() || range->second.low <= 0) continue;
            conditions.push_back(fmt::format("{} >= {}", name, range->second.low));
            names.insert(name);
        }
        return conditions.empty() ? "" : requirement(join(conditions, " and "), names);
    }

    static std::string requirement(const std::string& condition, const std::set<std::string>& names) {
        std::vector<std::string> parts = {condition, quoted(condition)};
        for (const std::string& name : names) parts.push_back(name + "=" + name);
        return call_text("    _require(", parts, ")\n");
    }

    // "out" of one output, "out[1]" of several.
    std::string out_name(size_t index) const {
        return problem_.outputs.size() == 1 ? out_ : fmt::format("{}[{}]", out_, index);
    }

    std::string output_lines() const {
        std::string text;
        std::vector<std::string> targets;
        for (const Tensor& tensor : problem_.outputs) targets.push_back(tensor.name);
        if (targets.size() > 1)
            text += fmt::format("    {} = _outputs(\"{}\", {}, {})\n", join(targets, ", "), out_, out_, targets.size());
        for (size_t i = 0; i < problem_.outputs.size(); ++i) {
            const Tensor& tensor = problem_.outputs[i];
            std::vector<std::string> extents;
            for (const Expression& extent : tensor.shape) extents.push_back(whole(extent));
            text +=
                call_text(fmt::format("    {} = _output(", tensor.name),
                          {quoted(out_name(i)), targets.size() == 1 ? out_ : tensor.name, problem_.inputs.at(0).name,
                           quoted(name_of(tensor.dtype)), tuple_text(extents), quoted(shape_text(tensor))},
                          ")\n");
        }
        std::vector<std::string> ours, theirs;
        for (size_t i = 0; i < problem_.outputs.size(); ++i)
            ours.push_back(fmt::format("(\"{}\", {})", out_name(i), problem_.outputs[i].name));
        for (const Tensor& tensor : problem_.inputs) theirs.push_back(fmt::format("(\"{0}\", {0})", tensor.name));
        return text + fmt::format("    if {} is not None:\n", out_) +
               call_text("        _refuse_overlap(", {"[" + join(ours, ", ") + "]", "[" + join(theirs, ", ") + "]"},
                         ")\n");
    }

    // A true division gives a float in Python.
    static std::string whole(const Expression& extent) {
        std::string text = extent.text();
        return replace_all(text, "//", "").find('/') == std::string::npos ? text : "int(" + text + ")";
    }

    std::string call_lines() const {
        std::vector<std::string> arguments, results;
        for (const Tensor& tensor : problem_.inputs) arguments.push_back("_pointer(" + tensor.name + ")");
        for (const Tensor& tensor : problem_.outputs) {
            arguments.push_back("_pointer(" + tensor.name + ")");
            results.push_back(tensor.name);
        }
        for (const Parameter& parameter : problem_.parameters) arguments.push_back(parameter.name);
        arguments.insert(arguments.end(), problem_.dimensions.begin(), problem_.dimensions.end());
        const std::string returned = "    return " + join(results, ", ") + "\n";
        if (on_gpu_) {
            arguments.insert(arguments.begin(), problem_.inputs.at(0).name + ".device.index");
            return call_text("    _launch(", arguments, ")\n") + returned;
        }
        return call_text("    _kernel()(", arguments, ")\n") + returned;
    }

    const Problem& problem_;
    const bool on_gpu_;
    CallPlan plan_;
    std::set<std::string> taken_;
    std::string out_, shape_lines_, dimension_lines_, expectations_;
    std::vector<std::string> shape_names_;
};

// "[ctypes.c_void_p] * 3 + [ctypes.c_float] + [ctypes.c_int64] * 2"
std::string argument_types(const Problem& problem) {
    static const std::map<DType, std::string> names = {
        {DType::float32, "c_float"}, {DType::float64, "c_double"}, {DType::int32, "c_int32"}, {DType::int64, "c_int64"},
        {DType::int8, "c_int8"},     {DType::uint8, "c_uint8"},    {DType::boolean, "c_bool"}};
    std::vector<std::string> types(problem.inputs.size() + problem.outputs.size(), "c_void_p");
    for (const Parameter& parameter : problem.parameters) types.push_back(names.at(parameter.dtype));
    types.insert(types.end(), problem.dimensions.size(), "c_int64");
    std::vector<std::string> parts;
    for (size_t i = 0, end = 0; i < types.size(); i = end) {
        while (end < types.size() && types[end] == types[i]) ++end;
        std::string count = end - i > 1 ? fmt::format(" * {}", end - i) : "";
        parts.push_back("[ctypes." + types[i] + "]" + count);
    }
    return join(parts, " + ");
}

// `NAME = ["-O3", "-march=native"]`
std::string list_text(const std::string& name, const std::vector<std::string>& flags) {
    std::vector<std::string> parts;
    for (const std::string& flag : flags)
        for (const std::string& word : split(flag, ' ')) parts.push_back(quoted(word));
    return call_text(name + " = [", parts, "]");
}

// The compiler of the measurements comes first.
std::string compilers_text(const CompilerOptions& options) {
    std::vector<std::string> names;
    size_t space = options.compiler.find_last_of(' ');
    std::string major = space == std::string::npos ? "" : split(options.compiler.substr(space + 1), '.')[0];
    const std::string family = options.clang ? "clang++" : "g++";
    bool versioned = !major.empty() && major.find_first_not_of("0123456789") == std::string::npos;
    if (!options.compiler.empty()) {
        if (versioned) names.push_back(family + "-" + major);
        names.push_back(family);
    }
    for (const char* name : {"c++", "g++", "clang++"})
        if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    std::string text = options.compiler.empty() ? "" : fmt::format("# Measured with {}.\n", options.compiler);
    return text + list_text("_COMPILERS", names);
}

bool uses(const Problem& problem, DType dtype) {
    auto has = [&](const Tensor& tensor) { return tensor.dtype == dtype; };
    return std::any_of(problem.inputs.begin(), problem.inputs.end(), has) ||
           std::any_of(problem.outputs.begin(), problem.outputs.end(), has);
}

// Their flags by file.
std::string units_text(const CompilerOptions& options) {
    if (options.units.empty()) return {};
    std::string text = "\n_UNITS = {  # compiled apart, each for its target\n";
    for (const UnitOptions& unit : options.units) {
        std::vector<std::string> flags = {quoted("-std=c++" + options.standard)};
        for (const std::string& flag : unit.portable) flags.push_back(quoted(flag));
        if (unit.openmp) flags.push_back(quoted("-fopenmp"));
        text += fmt::format("    {}: [{}],\n", quoted(unit.stem + ".cpp"), join(flags, ", "));
    }
    return text + "}\n_library = None";
}

// "y = softmax(x)"
std::string example(const Problem& problem) {
    std::vector<std::string> arguments, results;
    for (const Tensor& tensor : problem.inputs) arguments.push_back(tensor.name);
    for (const Tensor& tensor : problem.outputs) results.push_back(tensor.name);
    return fmt::format("{} = {}({})", join(results, ", "), problem.name, join(arguments, ", "));
}

// What the code calls, beside what every module has.
std::string checks_for(const std::string& code, const Problem& problem) {
    std::string text;
    if (problem.outputs.size() > 1) text += form::outputs_check;
    if (code.find("= _array(") != std::string::npos) text += form::array_of_scalar;
    if (code.find("_integer(") != std::string::npos) text += form::integer_check;
    if (code.find("_number(") != std::string::npos) text += form::number_check;
    if (code.find("_require(") != std::string::npos) text += form::require_check;
    if (code.find("ceildiv(") != std::string::npos) text += form::ceildiv_function;
    return text;
}

}  // namespace

std::string python_text(const Problem& problem, const CompilerOptions& options) {
    const PythonFunction function(problem);
    const std::string code = function.text();
    std::vector<std::string> flags = {"-std=c++" + options.standard};
    flags.insert(flags.end(), options.portable.begin(), options.portable.end());
    if (options.openmp) flags.push_back("-fopenmp");
    if (options.team) flags.push_back("-pthread");
    const std::string family = options.clang ? "clang" : "g++";
    const std::string more = fmt::format(" + (_MORE_FLAGS if \"{}\" in command[0] else [])", family);

    const bool bfloat16 = uses(problem, DType::bfloat16);
    const std::string bits_hint =
        "\n                            + (f\" as of {name}.view(ml_dtypes.bfloat16)\" if str(found) == \"uint16\" else "
        "\"\")";
    std::string text = std::string(form::head) + code + form::refuse_check + form::shape_check + form::expect_check +
                       form::output_check + form::overlap_check;
    if (bfloat16) text += form::bfloat16_type;
    text += checks_for(code, problem);
    text += filled(form::loading, options.units.empty() ? form::of_one_source : form::of_units);
    if (!options.units.empty())
        text =
            replace_all(text + form::target_functions, "global _function, _call", "global _function, _call, _library");
    std::vector<std::string> targets;
    for (const UnitOptions& unit : options.units) targets.push_back(unit.target);
    return filled(text, {{"title", fmt::format("{} on the CPU, for NumPy arrays and PyTorch tensors.", problem.name)},
                         {"example", example(problem)},
                         {"compilers", compilers_text(options)},
                         {"flags", list_text("_FLAGS", flags)},
                         {"own_flags", options.own.empty() ? "" : "\n" + list_text("_MORE_FLAGS", options.own)},
                         {"own_flags_here", options.own.empty() ? "" : more},
                         {"own_flags_in_name", options.own.empty() ? "" : ", _MORE_FLAGS"},
                         {"imports", code.find("_integer(") == std::string::npos ? "" : "import operator\n"},
                         {"argument_types", argument_types(problem)},
                         {"bits_hint", bfloat16 ? bits_hint : ""},
                         {"array_type", bfloat16 ? "_array_type(name, dtype)" : "dtype"},
                         {"units", units_text(options)},
                         {"targets", join(targets, ", ")},
                         {"name", problem.name}});
}

std::string cuda_python_text(const Problem& problem) {
    const std::string code = PythonFunction(problem, true).text();
    std::string text = std::string(form::gpu_head) + code + form::refuse_check + form::gpu_shape_check +
                       form::expect_check + form::gpu_output_check + form::overlap_check;
    text += checks_for(code, problem);
    return filled(text + form::gpu_loading,
                  {{"example", example(problem)},
                   {"imports", code.find("_integer(") == std::string::npos ? "" : "import operator\n"},
                   {"argument_types", argument_types(problem) + " + [ctypes.c_void_p]"},
                   {"name", problem.name}});
}

}  // namespace strop::result
