#include "problem/problem_reader.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "base/error.h"
#include "base/file.h"
#include "base/strings.h"
#include "problem/cpp_reference.h"
#include "problem/names.h"

namespace strop {

namespace {

constexpr double least_scale = 1e-6;

const std::vector<std::string> known_keys = {"name",       "tags",    "reference", "function", "inputs",
                                             "parameters", "outputs", "shapes",    "range",    "require",
                                             "tolerance",  "work",    "baselines"};
const char* fill_names = "normal, uniform, positive, integers, zeros_ones";

bool contains(const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

// The symbols of an expression in the order of their first appearance in its text.
std::vector<std::string> symbols_in_order(const Expression& expression) {
    std::set<std::string> symbols = expression.symbols();
    std::vector<std::pair<size_t, std::string>> found;
    std::string text = expression.text(), word;
    for (size_t i = 0; i <= text.size(); ++i) {
        if (i < text.size() && is_identifier(word + text[i])) {
            word += text[i];
            continue;
        }
        if (symbols.erase(word)) found.emplace_back(i, word);
        word.clear();
    }
    std::vector<std::string> names;
    for (const auto& [at, name] : found) names.push_back(name);
    return names;
}

const char* const limit_hint =
    "'fill: integers' draws from [from, limit), without 'from' from 0: for example 'limit: 100' or 'limit: N'";

// The whole numbers that a parameter of that type can hold; int64 as far as a double is exact.
std::pair<double, double> limits_of(DType dtype) {
    switch (dtype) {
        case DType::boolean: return {0, 1};
        case DType::int8: return {-128, 127};
        case DType::uint8: return {0, 255};
        case DType::int32: return {-2147483648.0, 2147483647.0};
        default: return {-9007199254740992.0, 9007199254740992.0};
    }
}

bool has_word(const std::string& text, const std::string& word) {
    const auto in_a_word = [&](size_t at) {
        return at < text.size() && (std::isalnum(static_cast<unsigned char>(text[at])) || text[at] == '_');
    };
    for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1))
        if ((at == 0 || !in_a_word(at - 1)) && !in_a_word(at + word.size())) return true;
    return false;
}

// The top-level functions of a Python text.
std::vector<std::string> functions_of(const std::string& python) {
    std::vector<std::string> names;
    for (const std::string& line : split(python, '\n')) {
        if (line.rfind("def ", 0) != 0) continue;
        std::string name(trim(std::string_view(line).substr(4, line.find('(') - 4)));
        if (is_identifier(name)) names.push_back(name);
    }
    return names;
}

}  // namespace

ProblemReader::ProblemReader(const std::string& text, const fs::path& file)
    : yaml_(text, file, "start with 'name: ...', 'inputs: ...', 'outputs: ...', 'shapes: ...'") {
    problem_.folder = fs::canonical(file).parent_path();
}

Problem ProblemReader::read() {
    yaml_.check_keys(yaml_.entries(), known_keys, "the problem");
    read_names();
    read_parameters();
    read_tensors("inputs", problem_.inputs);
    read_tensors("outputs", problem_.outputs);
    check_halves();
    read_conditions();
    read_points();
    collect_dimensions();
    read_range();
    for (size_t i = 0; i < problem_.points.size(); ++i) check_point(i);
    read_tolerance();
    read_files();
    return problem_;
}

const YamlEntry& ProblemReader::required(const std::string& key, const std::string& hint) const {
    const YamlEntry* entry = find(yaml_.entries(), key);
    if (!entry) yaml_.fail(fmt::format("missing key '{}'", key), hint);
    return *entry;
}

// Kernels and references see all names side by side, so each may be taken once.
void ProblemReader::claim(const YAML::Node& at, const std::string& name, const std::string& what) {
    if (!is_identifier(name))
        yaml_.fail(at, fmt::format("'{}' cannot name {}", name, what), "use letters, digits and '_', a letter first");
    if (is_keyword(name) || is_type_name(name) || name.starts_with("__"))
        yaml_.fail(at, fmt::format("'{}' cannot name {}: C++ or Python reserves it", name, what),
                   fmt::format("call it '{}_' or so", name.substr(name.find_first_not_of('_'))));
    auto [taken, fresh] = claimed_.emplace(name, what);
    if (!fresh)
        yaml_.fail(at, fmt::format("'{}' names {} and {}", name, taken->second, what),
                   "the problem, its inputs, outputs, parameters and dimensions need different names");
}

void ProblemReader::read_names() {
    const YamlEntry& name = required("name", "for example 'name: softmax'");
    problem_.name = yaml_.text(name.value, "name");
    claim(name.at, problem_.name, "the problem");
    const std::string instead = fmt::format("call it '{}_rows' or so", problem_.name);
    if (is_library_function(problem_.name))
        yaml_.fail(name.at, fmt::format("'{}' cannot name the problem: the C library has that function", problem_.name),
                   instead);
    if (is_name_of_kernels(problem_.name))
        yaml_.fail(name.at, fmt::format("'{}' cannot name the problem: kernels use it", problem_.name), instead);
    if (is_module_of_results(problem_.name))
        yaml_.fail(name.at,
                   fmt::format("'{}' cannot name the problem: its result is {}.py, which imports a module of that name",
                               problem_.name, problem_.name),
                   instead);
    if (const YamlEntry* tags = find(yaml_.entries(), "tags"))
        for (const YAML::Node& tag : yaml_.list(tags->value, "tags")) problem_.tags.push_back(yaml_.text(tag, "tags"));
}

fs::path ProblemReader::file_beside(const YAML::Node& at, const std::string& name) const {
    fs::path path = problem_.folder / name;
    std::error_code failed;
    if (fs::is_regular_file(path, failed)) return path.lexically_normal();
    std::vector<std::string> present;
    for (const fs::directory_entry& entry : fs::directory_iterator(problem_.folder, failed))
        if (entry.path().extension() == fs::path(name).extension()) present.push_back(entry.path().filename());
    std::sort(present.begin(), present.end());
    yaml_.fail(at, fmt::format("'{}' does not exist in {}", name, problem_.folder.string()),
               present.empty() ? "write that file, or name another one" : suggestion(name, present));
}

// The compiler says the rest.
void ProblemReader::check_cpp(const YAML::Node& at) const {
    if (has_word(read_cpp_reference(problem_.reference).source, problem_.function)) return;
    yaml_.fail(
        at, fmt::format("{} has no function '{}'", problem_.reference.filename().string(), problem_.function),
        fmt::format("write 'void {}(inputs..., outputs..., parameters..., dimensions...)' there, or name another "
                    "one with 'function:'",
                    problem_.function));
}

void ProblemReader::read_files() {
    const YamlEntry* reference = find(yaml_.entries(), "reference");
    const YamlEntry* function = find(yaml_.entries(), "function");
    const YAML::Node& at = reference ? reference->at : required("name", "").at;
    problem_.reference = file_beside(at, reference ? yaml_.text(reference->value, "reference") : "reference.py");
    problem_.function = function ? yaml_.text(function->value, "function") : problem_.name;
    if (is_cpp(problem_.reference)) check_cpp(function ? function->at : at);
    const std::vector<std::string> functions = functions_of(read_file(problem_.reference));
    if (!is_cpp(problem_.reference) && !contains(functions, problem_.function))
        yaml_.fail(function ? function->at : at,
                   fmt::format("{} has no function '{}'", problem_.reference.filename().string(), problem_.function),
                   fmt::format("write 'def {}(...)' there, or name another one with 'function:'; {}", problem_.function,
                               suggestion(problem_.function, functions)));
    const YamlEntry* baselines = find(yaml_.entries(), "baselines");
    if (!baselines) return;
    for (const YAML::Node& node : yaml_.list(baselines->value, "baselines")) {
        std::string name = yaml_.text(node, "baselines");
        fs::path path = file_beside(node, name);
        if (path.extension() != ".cpp" && path.extension() != ".py")
            yaml_.fail(node, fmt::format("baseline '{}' is neither .cpp nor .py", name),
                       "a baseline is a C++ file or a Python file");
        if (std::find(problem_.baselines.begin(), problem_.baselines.end(), path) != problem_.baselines.end())
            yaml_.fail(node, fmt::format("baseline '{}' is listed twice", name), "remove one");
        problem_.baselines.push_back(path);
    }
}

void ProblemReader::read_parameters() {
    const YamlEntry* parameters = find(yaml_.entries(), "parameters");
    if (!parameters) return;
    for (const YamlEntry& entry : yaml_.map(parameters->value, "parameters")) {
        claim(entry.at, entry.key, "a parameter");
        problem_.parameters.push_back(read_parameter(entry));
    }
}

Parameter ProblemReader::read_parameter(const YamlEntry& entry) {
    Parameter parameter{entry.key, DType::float32, 0};
    if (entry.value.IsScalar()) {
        parameter.value = yaml_.number(entry.value, entry.key);
        const bool digits_only = entry.value.Scalar().find_first_not_of("+-0123456789") == std::string::npos;
        if (digits_only && parameter.value != static_cast<float>(parameter.value))
            yaml_.fail(
                entry.value,
                fmt::format("parameter '{}' is {}, which float32 does not hold", entry.key, entry.value.Scalar()),
                fmt::format("say its type: '{}: {{dtype: int64, value: {}}}'", entry.key, entry.value.Scalar()));
        return parameter;
    }
    std::vector<YamlEntry> fields = yaml_.map(entry.value, entry.key);
    yaml_.check_keys(fields, {"dtype", "value"}, entry.key);
    if (const YamlEntry* field = find(fields, "dtype")) {
        std::optional<DType> dtype = parse_dtype(yaml_.text(field->value, "dtype"));
        if (!dtype)
            yaml_.fail(field->value, fmt::format("dtype '{}' of '{}' is not known", field->value.Scalar(), entry.key),
                       fmt::format("one of {}", dtype_names()));
        parameter.dtype = *dtype;
        if (is_half(*dtype))
            yaml_.fail(field->value, fmt::format("parameter '{}' is {}", entry.key, name_of(*dtype)),
                       "16-bit types are for tensors: write float32, in which the kernel computes");
    }
    const YamlEntry* value = find(fields, "value");
    if (!value)
        yaml_.fail(entry.at, fmt::format("parameter '{}' has no 'value'", entry.key),
                   "for example {dtype: float32, value: 1e-5}");
    bool is_truth = parameter.dtype == DType::boolean && value->value.IsScalar() &&
                    (value->value.Scalar() == "true" || value->value.Scalar() == "false");
    parameter.value = is_truth ? value->value.Scalar() == "true" : yaml_.number(value->value, entry.key);
    auto [low, high] = limits_of(parameter.dtype);
    if (!is_floating(parameter.dtype) &&
        (parameter.value != std::floor(parameter.value) || parameter.value < low || parameter.value > high))
        yaml_.fail(value->value,
                   fmt::format("{} is not a value of type {}: parameter '{}'", value->value.Scalar(),
                               name_of(parameter.dtype), entry.key),
                   "give one of that type, or another dtype");
    return parameter;
}

void ProblemReader::read_tensors(const std::string& key, std::vector<Tensor>& tensors) {
    const YamlEntry& all =
        required(key, fmt::format("for example '{}: {{x: {{dtype: float32, shape: [M, N]}}}}'", key));
    const std::string kind = key == "inputs" ? "an input" : "an output";
    for (const YamlEntry& entry : yaml_.map(all.value, key)) {
        claim(entry.at, entry.key, kind);
        Tensor tensor;
        tensor.name = entry.key;
        if (entry.value.IsScalar())  // "float32[M, N]", as people write it elsewhere
            yaml_.fail(entry.value, fmt::format("'{}' must be a map, found a single value", entry.key),
                       fmt::format("for example '{}: {{dtype: float32, shape: [M, N]}}'", entry.key));
        std::vector<YamlEntry> fields = yaml_.map(entry.value, entry.key);
        std::vector<std::string> known = {"dtype", "shape"};
        if (key == "inputs") known.insert(known.end(), {"fill", "from", "limit", "scale"});
        yaml_.check_keys(fields, known, entry.key);
        const YamlEntry *dtype = find(fields, "dtype"), *shape = find(fields, "shape");
        if (!dtype || !shape)
            yaml_.fail(entry.at, fmt::format("'{}' has no '{}'", entry.key, dtype ? "shape" : "dtype"),
                       fmt::format("for example '{}: {{dtype: float32, shape: [M, N]}}'", entry.key));
        std::optional<DType> parsed = parse_dtype(yaml_.text(dtype->value, "dtype"));
        if (!parsed)
            yaml_.fail(dtype->value, fmt::format("dtype '{}' of '{}' is not known", dtype->value.Scalar(), entry.key),
                       fmt::format("one of {}", dtype_names()));
        tensor.dtype = *parsed;
        for (const YAML::Node& extent : yaml_.list(shape->value, "shape")) {
            std::string what = fmt::format("shape of {}", entry.key);
            tensor.shape.push_back(yaml_.expression(extent, what));
            const std::string text = tensor.shape.back().text();
            if (const std::string whole = replace_all(text, "//", ""); whole.find('/') != std::string::npos)
                yaml_.fail(extent, fmt::format("'{}' in the {} need not be a whole number", text, what),
                           "'//' divides and rounds down");
            shapes_.push_back({extent, what, tensor.shape.back()});
        }
        if (key == "inputs") read_fill(fields, entry, tensor);
        tensors.push_back(tensor);
    }
    if (tensors.empty()) yaml_.fail(all.at, fmt::format("'{}' is empty", key), "at least one tensor is needed");
}

// What is read as 16 bits is computed in float32: a float64 beside it could not keep what it promises.
void ProblemReader::check_halves() const {
    const Tensor *half = nullptr, *wide = nullptr;
    for (const auto* tensors : {&problem_.inputs, &problem_.outputs})
        for (const Tensor& tensor : *tensors) {
            if (is_half(tensor.dtype) && !half) half = &tensor;
            if (tensor.dtype == DType::float64 && !wide) wide = &tensor;
        }
    if (!half || !wide) return;
    const char* key = wide >= problem_.outputs.data() && wide < problem_.outputs.data() + problem_.outputs.size()
                          ? "outputs"
                          : "inputs";
    yaml_.fail(find(yaml_.entries(), key)->at,
               fmt::format("'{}' is float64 beside '{}', which is {}", wide->name, half->name, name_of(half->dtype)),
               "16-bit tensors are computed in float32: declare both so, or the float64 tensor float32");
}

void ProblemReader::read_fill(const std::vector<YamlEntry>& fields, const YamlEntry& entry, Tensor& tensor) {
    const YamlEntry *fill = find(fields, "fill"), *limit = find(fields, "limit"), *scale = find(fields, "scale"),
                    *from = find(fields, "from");
    if (tensor.dtype == DType::boolean) tensor.fill = Fill::zeros_ones;
    if (fill) {
        std::optional<Fill> parsed = parse_fill(yaml_.text(fill->value, "fill"));
        if (!parsed)
            yaml_.fail(fill->value, fmt::format("fill '{}' of '{}' is not known", fill->value.Scalar(), entry.key),
                       fmt::format("one of {}", fill_names));
        tensor.fill = *parsed;
    }
    bool whole = tensor.fill == Fill::integers || tensor.fill == Fill::zeros_ones;
    if (!is_floating(tensor.dtype) && !whole)
        yaml_.fail(entry.at,
                   fmt::format("{} input '{}' cannot be filled with '{}' values", name_of(tensor.dtype), entry.key,
                               name_of(tensor.fill)),
                   "add 'fill: integers, limit: ...' or 'fill: zeros_ones'");
    if (tensor.fill == Fill::integers && !limit)
        yaml_.fail(entry.at, fmt::format("'{}' has no 'limit'", entry.key), limit_hint);
    if (tensor.fill != Fill::integers && limit)
        yaml_.fail(limit->at, fmt::format("'limit' of '{}' needs 'fill: integers'", entry.key),
                   "add it, or remove the limit");
    if (scale) {
        tensor.scale = yaml_.number(scale->value, "scale");
        if (whole || !(tensor.scale >= least_scale && tensor.scale <= 1 / least_scale))
            yaml_.fail(scale->at, fmt::format("'scale' of '{}' is {}", entry.key, scale->value.Scalar()),
                       whole ? "it is for floating values: leave it out"
                             : "between 1e-6 and 1e6: what is drawn is multiplied by it");
    }
    if (from) read_from(*from, entry.key, tensor);
    if (!limit) return;
    tensor.limit = yaml_.expression(limit->value, "limit");
    const int64_t above = tensor.from.value_or(0);
    if (const double number = tensor.limit->symbols().empty() ? to_double(tensor.limit->evaluate({})) : above + 1.0;
        !(number > above) || number != std::floor(number))
        yaml_.fail(
            limit->value,
            fmt::format("the limit of '{}' is {}, no whole number above {}", entry.key, tensor.limit->text(), above),
            limit_hint);
    uses_.push_back({limit->value, fmt::format("limit of {}", entry.key), *tensor.limit});
}

void ProblemReader::read_from(const YamlEntry& from, const std::string& name, Tensor& tensor) {
    if (tensor.fill != Fill::integers)
        yaml_.fail(from.at, fmt::format("'from' of '{}' needs 'fill: integers'", name), "add it, or remove 'from'");
    tensor.from = yaml_.integer(from.value, "from");
    const auto [low, high] = limits_of(tensor.dtype);
    if (*tensor.from < low || *tensor.from > high)
        yaml_.fail(from.value, fmt::format("'from' of '{}' is {}", name, *tensor.from),
                   fmt::format("{} holds whole numbers from {:.0f} to {:.0f}", name_of(tensor.dtype), low, high));
}

void ProblemReader::read_conditions() {
    if (const YamlEntry* require = find(yaml_.entries(), "require"))
        for (const YAML::Node& node : yaml_.list(require->value, "require")) {
            problem_.require.push_back(yaml_.expression(node, "require"));
            uses_.push_back({node, "require", problem_.require.back()});
        }
    const YamlEntry* work = find(yaml_.entries(), "work");
    if (!work) return;
    std::vector<YamlEntry> fields = yaml_.map(work->value, "work");
    yaml_.check_keys(fields, {"flops", "bytes"}, "work");
    for (const YamlEntry& field : fields) {
        Expression amount = yaml_.expression(field.value, field.key);
        uses_.push_back({field.value, "work", amount});
        (field.key == "flops" ? problem_.flops : problem_.bytes) = amount;
    }
}

void ProblemReader::read_points() {
    const YamlEntry& shapes = required("shapes", "for example 'shapes: {small: {M: 64, N: 128}}'");
    if (shapes.value.IsSequence()) {
        for (const YAML::Node& node : shapes.value) read_point(node, "", node);
    } else {
        for (const YamlEntry& entry : yaml_.map(shapes.value, "shapes")) read_point(entry.at, entry.key, entry.value);
    }
    if (problem_.points.empty())
        yaml_.fail(shapes.at, "'shapes' is empty", "name at least one shape that matters to you");
}

void ProblemReader::read_point(const YAML::Node& at, const std::string& label, const YAML::Node& value) {
    ShapePoint point;
    const std::string shown = label.empty() ? "shapes" : label;
    for (const YamlEntry& entry : yaml_.map(value, shown)) {
        int64_t extent = yaml_.integer(entry.value, entry.key);
        if (extent < 1)
            yaml_.fail(entry.value, fmt::format("dimension '{}' is {} at shape '{}'", entry.key, extent, shown),
                       "shapes need at least 1 in each dimension");
        point.dims[entry.key] = extent;
    }
    point.label = label.empty() ? describe(point.dims) : label;
    bool printable =
        std::all_of(point.label.begin(), point.label.end(), [](unsigned char c) { return c > ' ' && c < 127; });
    if (!printable) yaml_.fail(at, fmt::format("'{}' cannot label a shape", label), "use one word: 'small', 'batch-1'");
    for (const ShapePoint& other : problem_.points)
        if (other.dims == point.dims)
            yaml_.fail(at, fmt::format("shape '{}' repeats shape '{}'", point.label, other.label),
                       "remove one of them");
    problem_.points.push_back(point);
    point_marks_.push_back(at);
}

// Dimensions are the symbols of the tensors' shapes that are no parameters, in the order of appearance;
// behind them what points bind for the sake of a limit, `work` or `require`.
void ProblemReader::collect_dimensions() {
    std::vector<std::string>& dimensions = problem_.dimensions;
    std::vector<std::string> bound;  // by some point
    for (const ShapePoint& point : problem_.points)
        for (const auto& [name, extent] : point.dims)
            if (!contains(bound, name)) bound.push_back(name);
    for (const Located& shape : shapes_)
        for (const std::string& name : symbols_in_order(shape.expression)) {
            auto is_named = [&](const Parameter& parameter) { return parameter.name == name; };
            auto parameter = std::find_if(problem_.parameters.begin(), problem_.parameters.end(), is_named);
            if (parameter != problem_.parameters.end()) {
                if (!is_floating(parameter->dtype)) continue;
                yaml_.fail(shape.at,
                           fmt::format("'{}' in the {} is a {} parameter", name, shape.what, name_of(parameter->dtype)),
                           fmt::format("shapes need whole numbers: '{}: {{dtype: int64, value: ...}}'", name));
            }
            if (contains(dimensions, name)) continue;
            if (!contains(bound, name))
                yaml_.fail(shape.at,
                           fmt::format("'{}' in the {} is not defined: no shape gives it a value", name, shape.what),
                           suggestion(name, bound));
            claim(shape.at, name, "a dimension");
            dimensions.push_back(name);
        }
    for (const Located& use : uses_)
        for (const std::string& name : symbols_in_order(use.expression))
            if (contains(bound, name) && !contains(dimensions, name)) {
                claim(use.at, name, "a dimension");
                dimensions.push_back(name);
            }
    for (const Located& use : uses_) check_symbols(use.at, use.what, use.expression);
}

void ProblemReader::check_symbols(const YAML::Node& at, const std::string& what, const Expression& expression) const {
    std::vector<std::string> known = problem_.dimensions;
    for (const Parameter& parameter : problem_.parameters)
        if (!is_floating(parameter.dtype)) known.push_back(parameter.name);
    for (const std::string& name : expression.symbols())
        if (!contains(known, name))
            yaml_.fail(at, fmt::format("'{}' in '{}' is not a dimension", name, what), suggestion(name, known));
}

void ProblemReader::read_range() {
    for (const std::string& name : problem_.dimensions) {
        int64_t largest = 1;
        for (const ShapePoint& point : problem_.points)
            if (auto found = point.dims.find(name); found != point.dims.end())
                largest = std::max(largest, found->second);
        problem_.range[name] = {1, largest > std::numeric_limits<int64_t>::max() / 2 ? largest : 2 * largest};
    }
    const YamlEntry* range = find(yaml_.entries(), "range");
    if (!range) return;
    for (const YamlEntry& entry : yaml_.map(range->value, "range")) {
        if (!contains(problem_.dimensions, entry.key))
            yaml_.fail(entry.at, fmt::format("'{}' in 'range' is not a dimension", entry.key),
                       suggestion(entry.key, problem_.dimensions));
        std::vector<YAML::Node> ends = yaml_.list(entry.value, entry.key);
        if (ends.size() != 2)
            yaml_.fail(entry.at, fmt::format("range of '{}' has {} values", entry.key, ends.size()),
                       "write it as [lowest, highest]");
        Range limits{yaml_.integer(ends[0], entry.key), yaml_.integer(ends[1], entry.key), true};
        if (limits.low < 0 || limits.high < std::max<int64_t>(limits.low, 1))
            yaml_.fail(entry.at,
                       fmt::format("range [{}, {}] of '{}' is empty or negative", limits.low, limits.high, entry.key),
                       "write it as [lowest, highest], at least 0");
        problem_.range[entry.key] = limits;
    }
}

void ProblemReader::check_point(size_t index) {
    const ShapePoint& point = problem_.points[index];
    const YAML::Node& at = point_marks_[index];
    for (const std::string& name : problem_.dimensions) {
        auto found = point.dims.find(name);
        if (found == point.dims.end())
            yaml_.fail(at, fmt::format("shape '{}' has no value for dimension '{}'", point.label, name),
                       fmt::format("each shape needs {}", join(problem_.dimensions, ", ")));
        const Range& range = problem_.range.at(name);
        if (found->second < range.low || found->second > range.high)
            yaml_.fail(at,
                       fmt::format("shape '{}' has {}={}, outside its range [{}, {}]", point.label, name, found->second,
                                   range.low, range.high),
                       "widen 'range', or change the shape");
    }
    for (const auto& [name, extent] : point.dims)
        if (!contains(problem_.dimensions, name))
            yaml_.fail(at, fmt::format("shape '{}' has a value for '{}', which nothing uses", point.label, name),
                       suggestion(name, problem_.dimensions));
    if (std::string complaint = complaint_at(point); !complaint.empty())
        yaml_.fail(at, fmt::format("shape '{}': {}", point.label, complaint),
                   "extents must be at least 1 and 'require' must hold at the shapes that matter");
}

// What is wrong with the extents and conditions at a point, or nothing.
std::string ProblemReader::complaint_at(const ShapePoint& point) const try {
    Bindings bindings = bindings_of(problem_, point.dims);
    for (const Located& shape : shapes_) try {
            if (int64_t extent = shape.expression.evaluate_integer(bindings); extent < 1)
                return fmt::format("'{}' in the {} is {}", shape.expression.text(), shape.what, extent);
        } catch (const UsageError& error) {
            return fmt::format("'{}' in the {}: {}", shape.expression.text(), shape.what, error.what());
        }
    for (const auto* tensors : {&problem_.inputs, &problem_.outputs})
        for (const Tensor& tensor : *tensors) bytes_of(problem_, tensor, point.dims);  // throws when too large
    for (const Expression& condition : problem_.require)
        if (!truthy(condition.evaluate(bindings))) return fmt::format("'{}' does not hold", condition.text());
    for (const Tensor& tensor : problem_.inputs)
        if (tensor.limit && tensor.limit->evaluate_integer(bindings) <= tensor.from.value_or(0))
            return fmt::format("the limit of '{}' is below {}", tensor.name, tensor.from.value_or(0) + 1);
    for (const std::optional<Expression>* work : {&problem_.flops, &problem_.bytes})
        if (*work && !(to_double((*work)->evaluate(bindings)) >= 0))
            return fmt::format("work '{}' is no amount", (*work)->text());
    return {};
} catch (const UsageError& error) {
    return error.what();
}

void ProblemReader::read_tolerance() {
    const YamlEntry* tolerance = find(yaml_.entries(), "tolerance");
    if (!tolerance || (tolerance->value.IsScalar() && tolerance->value.Scalar() == "auto")) return;
    if (!tolerance->value.IsMap() || tolerance->value.size() == 0)
        yaml_.fail(tolerance->at, "'tolerance' is neither 'auto' nor a map",
                   "write 'tolerance: auto' or 'tolerance: {absolute: 1e-6, relative: 1e-5}'");
    std::vector<YamlEntry> fields = yaml_.map(tolerance->value, "tolerance");
    yaml_.check_keys(fields, {"absolute", "relative"}, "tolerance");
    problem_.tolerance = Tolerance{};
    for (const YamlEntry& field : fields) {
        double value = yaml_.number(field.value, field.key);
        if (value < 0) yaml_.fail(field.value, fmt::format("'{}' of 'tolerance' is negative", field.key));
        (field.key == "absolute" ? problem_.tolerance->absolute : problem_.tolerance->relative) = value;
    }
}

}  // namespace strop
