// The text of NAME_python.cpp.
#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/strings.h"
#include "core/expression_divisions.h"
#include "language/call_plan.h"
#include "language/contract.h"
#include "run/result_texts.h"

namespace strop::result {

namespace {

constexpr size_t max_condition = 98;  // of a line

const char* const form =
    R"text(// Calls @name@ from Python. A call that needs no explanation is done here; every other one is left to
// _checked of @name@.py, which refuses it with the reason, or does it.
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

#include <sys/mman.h>

namespace binding {

// Above this, other threads of Python run while the kernel does.
constexpr int64_t bytes_of_long_work = 1 << 18;
// From here on a new output is asked for in huge pages: the first write to new memory costs more than most kernels.
constexpr int64_t bytes_of_huge_pages = 1 << 22;
// Of extents and integers: products of two do not overflow.
constexpr int64_t most = INT32_MAX;

// A type of elements: how NumPy's buffers spell it, how DLPack does, and the frameworks' own objects.
struct Type {
    const char* name;
    const char* formats;
    uint8_t kind, bits;
    PyObject *array_type, *tensor_type;
};
@types@
// Frameworks are not imported here: they are there when the caller has them.
PyTypeObject *array = nullptr, *tensor = nullptr, *tensor_parameter = nullptr;
PyObject *array_empty = nullptr, *tensor_empty = nullptr, *requires_grad = nullptr, *is_neg = nullptr,
         *dtype = nullptr;

// A tensor as DLPack describes it, and the part of PyTorch's exchange interface (DLPack 1.3) that is used.
struct Description {
    char* data;
    int32_t device, device_number, rank;
    uint8_t kind, bits;
    uint16_t lanes;
    const int64_t *shape, *strides;
    uint64_t offset;
};
struct Exchange {
    uint32_t major, minor;
    const void *older, *allocate, *from_object, *to_object;
    int (*describe)(PyObject* object, Description* description);
};
const Exchange* exchange = nullptr;

PyObject* attribute(PyObject* object, const char* name) {
    PyObject* value = object ? PyObject_GetAttrString(object, name) : nullptr;
    if (!value) PyErr_Clear();
    return value;
}

PyObject* loaded_module(const char* name) {
    return PyDict_GetItemString(PyImport_GetModuleDict(), name);
}

void find_numpy() {
    PyObject* numpy = loaded_module("numpy");
    PyObject *type = attribute(numpy, "ndarray"), *empty = attribute(numpy, "empty"), *dtypes = attribute(numpy, "dtype");
    if (!type || !empty || !dtypes) return;
    for (Type* each : types) each->array_type = PyObject_CallFunction(dtypes, "s", each->name);
    PyErr_Clear();  // of a type that NumPy has not
    array_empty = empty;
    array = reinterpret_cast<PyTypeObject*>(type);
}

void find_torch() {
    PyObject* torch = loaded_module("torch");
    PyObject *type = attribute(torch, "Tensor"), *empty = attribute(torch, "empty");
    PyObject *nn = attribute(torch, "nn"), *parameter = attribute(nn, "Parameter");
    PyObject* capsule = attribute(type, "__dlpack_c_exchange_api__");
    if (!empty || !parameter || !capsule) return;
    const void* found = PyCapsule_GetPointer(capsule, "dlpack_exchange_api");
    exchange = static_cast<const Exchange*>(found);
    if (!exchange || exchange->major != 1 || !exchange->describe) return PyErr_Clear();
    for (Type* each : types) each->tensor_type = attribute(torch, each->name);
    tensor_empty = empty;
    tensor_parameter = reinterpret_cast<PyTypeObject*>(parameter);
    tensor = reinterpret_cast<PyTypeObject*>(type);
}

bool is_tensor(PyObject* value) {
    return tensor && (Py_TYPE(value) == tensor || Py_TYPE(value) == tensor_parameter);
}

// The memory of a contiguous array or tensor, held as long as this lives.
class View {
public:
    char* data = nullptr;
    const int64_t* shape = nullptr;
    int64_t bytes = 0;
    PyObject* object = nullptr;  // of an output

    ~View() {
        PyBuffer_Release(&buffer_);
        Py_XDECREF(object);
    }

    // False for what is not a contiguous array or CPU tensor of that type and rank.
    bool read(PyObject* value, const Type& type, int rank) { return take(value, type, rank, 0); }

    // The caller's, or new where it is None.
    bool write(PyObject* value, bool as_tensor, const Type& type, std::initializer_list<int64_t> extents) {
        if (std::any_of(extents.begin(), extents.end(), [](int64_t extent) { return extent < 0; })) return false;
        object = value == Py_None ? allocate(as_tensor, type, extents) : Py_NewRef(value);
        if (!object || !take(object, type, static_cast<int>(extents.size()), PyBUF_WRITABLE)) return false;
        if (value == Py_None && bytes >= bytes_of_huge_pages) ask_for_huge_pages();
        return std::equal(extents.begin(), extents.end(), shape);
    }

    bool overlaps(const View& other) const {
        return data < other.data + other.bytes && other.data < data + bytes;
    }

private:
    bool take(PyObject* value, const Type& type, int rank, int flags) {
        if (Py_TYPE(value) == array ? !take_array(value, type, rank, flags)
                                    : !is_tensor(value) || !take_tensor(value, type, rank))
            return false;
        bytes = type.bits / 8;
        if (reinterpret_cast<uintptr_t>(data) % static_cast<uintptr_t>(bytes) != 0) return false;
        for (int i = 0; i < rank; ++i) {
            if (shape[i] > most) return false;
            bytes *= shape[i];
        }
        return true;
    }

    bool take_array(PyObject* value, const Type& type, int rank, int flags) {
        if (PyObject_GetBuffer(value, &buffer_, PyBUF_FORMAT | PyBUF_C_CONTIGUOUS | flags) != 0) return false;
        data = static_cast<char*>(buffer_.buf);
        shape = buffer_.shape;
        return buffer_.ndim == rank && buffer_.format[0] != 0 && buffer_.format[1] == 0 &&
               std::strchr(type.formats, buffer_.format[0]);
    }

    bool take_tensor(PyObject* value, const Type& type, int rank) {
        Description found;
        if (exchange->describe(value, &found) != 0) return false;
        const int32_t cpu = 1;
        if (found.device != cpu || found.rank != rank || found.kind != type.kind || found.bits != type.bits ||
            found.lanes != 1 || !is_contiguous(found))
            return false;
        data = found.data + found.offset;
        shape = found.shape;
        PyObject* gradient = PyObject_GetAttr(value, requires_grad);
        Py_XDECREF(gradient);
        PyObject* negative = PyObject_CallMethodNoArgs(value, is_neg);
        Py_XDECREF(negative);
        return gradient == Py_False && negative == Py_False;
    }

    static bool is_contiguous(const Description& found) {
        int64_t stride = 1;
        bool dense = true;
        for (int i = found.rank - 1; i >= 0; --i) {
            if (found.shape[i] == 0) return true;
            dense &= found.shape[i] == 1 || found.strides[i] == stride;
            stride *= found.shape[i];
        }
        return dense;
    }

    static PyObject* allocate(bool as_tensor, const Type& type, std::initializer_list<int64_t> extents) {
        PyObject* tuple = PyTuple_New(static_cast<Py_ssize_t>(extents.size()));
        for (size_t i = 0; tuple && i < extents.size(); ++i)
            PyTuple_SET_ITEM(tuple, static_cast<Py_ssize_t>(i), PyLong_FromLongLong(extents.begin()[i]));
        PyObject* arguments[] = {tuple, as_tensor ? type.tensor_type : type.array_type};
        if (!tuple || !arguments[1]) return nullptr;
        PyObject* made = as_tensor ? PyObject_Vectorcall(tensor_empty, arguments, 1, dtype)
                                   : PyObject_Vectorcall(array_empty, arguments, 2, nullptr);
        Py_DECREF(tuple);
        return made;
    }

    // Of the whole pages of 4 KiB inside; where the system has no huge pages, nothing happens.
    void ask_for_huge_pages() const {
        const uintptr_t page = 4096, begin = reinterpret_cast<uintptr_t>(data) + page - 1;
        madvise(reinterpret_cast<void*>(begin / page * page), static_cast<size_t>(bytes) - page, MADV_HUGEPAGE);
    }

    Py_buffer buffer_{};
};

inline bool read(PyObject* value, int64_t low, int64_t high, int64_t* number) {
    int overflow = 0;
    if (!PyLong_CheckExact(value)) return false;
    *number = PyLong_AsLongLongAndOverflow(value, &overflow);
    return overflow == 0 && *number >= std::max(low, -most) && *number <= std::min(high, most);
}

inline bool read(PyObject* value, double* number) {
    if (!PyFloat_CheckExact(value)) return false;
    *number = PyFloat_AS_DOUBLE(value);
    return true;
}

inline bool read(PyObject* value, bool* truth) {
    *truth = value == Py_True;
    return *truth || value == Py_False;
}

PyObject* careful = nullptr;  // _checked of @name@.py

void find_frameworks() {
    if (!array) find_numpy();
    if (!tensor) find_torch();
}

PyObject* leave(PyObject* const* given, Py_ssize_t count) {
    PyErr_Clear();
    find_frameworks();
    return PyObject_Vectorcall(careful, given, static_cast<size_t>(count), nullptr);
}

using Kernel = void (*)(@kernel_types@);
Kernel kernel = nullptr;

// bind(address of the kernel, _checked)
PyObject* bind(PyObject*, PyObject* const* given, Py_ssize_t) {
    kernel = reinterpret_cast<Kernel>(PyLong_AsVoidPtr(given[0]));
    if (PyErr_Occurred()) return nullptr;
    careful = Py_NewRef(given[1]);
    requires_grad = PyUnicode_InternFromString("requires_grad");
    is_neg = PyUnicode_InternFromString("is_neg");
    dtype = Py_BuildValue("(s)", "dtype");
    find_frameworks();
    Py_RETURN_NONE;
}

// @arguments@
PyObject* call(PyObject*, PyObject* const* py_given, Py_ssize_t py_count) {
@body@}

PyMethodDef methods[] = {
    {"bind", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(bind)), METH_FASTCALL, nullptr},
    {"@name@", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(call)), METH_FASTCALL, nullptr},
    {nullptr, nullptr, 0, nullptr},
};
PyModuleDef module = {PyModuleDef_HEAD_INIT, "@name@_python", nullptr, -1, methods, nullptr, nullptr, nullptr, nullptr};

}  // namespace binding

PyMODINIT_FUNC PyInit_@name@_python() { return PyModule_Create(&binding::module); }
)text";

// The codes of DLPack: integers 0, unsigned 1, floats 2, bfloat16 4, booleans 6. NumPy has no letter for bfloat16: its
// arrays go the careful way.
std::string type_lines(const Problem& problem) {
    static const std::map<DType, std::string> rows = {
        {DType::float32, R"("f", 2, 32)"}, {DType::float64, R"("d", 2, 64)"}, {DType::int32, R"("i", 0, 32)"},
        {DType::int64, R"("lq", 0, 64)"},  {DType::int8, R"("b", 0, 8)"},     {DType::uint8, R"("B", 1, 8)"},
        {DType::boolean, R"("?", 6, 8)"},  {DType::float16, R"("e", 2, 16)"}, {DType::bfloat16, R"("", 4, 16)"}};
    std::set<DType> used;
    for (const auto* tensors : {&problem.inputs, &problem.outputs})
        for (const Tensor& tensor : *tensors) used.insert(tensor.dtype);
    std::string text;
    std::vector<std::string> names;
    for (DType dtype : used) {
        const std::string name = "of_" + name_of(dtype);
        text += fmt::format("Type {} = {{\"{}\", {}, nullptr, nullptr}};\n", name, name_of(dtype), rows.at(dtype));
        names.push_back("&" + name);
    }
    return text + fmt::format("Type* const types[] = {{{}}};\n", join(names, ", "));
}

std::string kernel_types(const Problem& problem) {
    std::vector<std::string> types;
    for (const Tensor& tensor : problem.inputs) types.push_back(fmt::format("const {}*", c_type(tensor.dtype)));
    for (const Tensor& tensor : problem.outputs) types.push_back(c_type(tensor.dtype) + "*");
    for (const Parameter& parameter : problem.parameters) types.push_back(c_type(parameter.dtype));
    types.insert(types.end(), problem.dimensions.size(), "int64_t");
    return join(types, ", ");
}

// The body of `call`. Conditions are gathered and tested together, before what divides by them.
class Body {
public:
    explicit Body(const Problem& problem) : problem_(problem), plan_(plan_call(problem)) {}

    std::string text() {
        read_arguments();
        requirements(true);
        read_dimensions();
        requirements(false);
        compare_shapes();
        outputs();
        call();
        return text_;
    }

    // Their order in `given`.
    std::vector<std::string> arguments() const {
        std::vector<std::string> names;
        for (const Tensor& tensor : problem_.inputs) names.push_back(tensor.name);
        for (const Parameter& parameter : problem_.parameters) names.push_back(parameter.name);
        names.insert(names.end(), plan_.asked.begin(), plan_.asked.end());
        names.push_back("out");
        return names;
    }

private:
    void line(const std::string& text) { text_ += "    " + text + "\n"; }

    void require(const std::string& condition) {
        if (std::find(conditions_.begin(), conditions_.end(), condition) == conditions_.end())
            conditions_.push_back(condition);
    }

    void require_divisions(const Expression& expression) {
        for (const auto& [left, right] : divisions_in(expression)) {
            require(left.cpp() + " >= 0");
            if (!right.is_literal()) require(right.cpp() + " > 0");
        }
    }

    void test_conditions() {
        if (conditions_.empty()) return;
        const std::string together = join(conditions_, " && ");
        line(fmt::format("if (!({}))",
                         together.size() <= max_condition ? together : join(conditions_, " &&\n          ")));
        line("    return leave(py_given, py_count);");
        conditions_.clear();
    }

    void read_arguments() {
        size_t at = 0;
        std::vector<std::string> views;
        for (const auto* tensors : {&problem_.inputs, &problem_.outputs})
            for (const Tensor& tensor : *tensors) views.push_back(tensor.name);
        line(fmt::format("View {};", join(views, ", ")));
        for (const Tensor& tensor : problem_.inputs)
            require(fmt::format("{}.read(py_given[{}], of_{}, {})", tensor.name, at++, name_of(tensor.dtype),
                                tensor.shape.size()));
        for (const Parameter& parameter : problem_.parameters) read_parameter(parameter, at++);
        for (const std::string& name : plan_.asked) {
            line(fmt::format("int64_t {} = 0;", name));
            require(fmt::format("read(py_given[{}], 0, INT64_MAX, &{})", at++, name));
        }
        test_conditions();
    }

    void read_parameter(const Parameter& parameter, size_t at) {
        static const std::map<DType, std::string> limits = {{DType::int32, "INT32_MIN, INT32_MAX"},
                                                            {DType::int64, "INT64_MIN, INT64_MAX"},
                                                            {DType::int8, "INT8_MIN, INT8_MAX"},
                                                            {DType::uint8, "0, 255"}};
        const std::string type = is_floating(parameter.dtype)        ? "double"
                                 : parameter.dtype == DType::boolean ? "bool"
                                                                     : "int64_t";
        line(fmt::format("{} {} = 0;", type, parameter.name));
        const std::string range = limits.count(parameter.dtype) ? limits.at(parameter.dtype) + ", " : "";
        require(fmt::format("read(py_given[{}], {}&{})", at, range, parameter.name));
    }

    // Conditions on parameters alone come first: shapes may divide by them.
    void requirements(bool of_parameters) {
        for (const Expression& condition : problem_.require) {
            std::set<std::string> names = condition.symbols();
            bool free = std::none_of(names.begin(), names.end(),
                                     [&](const std::string& name) { return is_dimension(problem_, name); });
            if (free != of_parameters) continue;
            require_divisions(condition);
            bool loose = condition.cpp().find("||") != std::string::npos;
            require(loose ? "(" + condition.cpp() + ")" : condition.cpp());
        }
        if (of_parameters) return test_conditions();
        for (const std::string& name : problem_.dimensions) {
            auto range = problem_.range.find(name);
            if (range != problem_.range.end() && range->second.low > 0)
                require(fmt::format("{} >= {}", name, range->second.low));
        }
    }

    void read_dimensions() {
        for (const Reading& reading : plan_.readings) {
            const Expression extent = extent_of(reading.input, reading.axis);
            Expression value = extent;
            if (reading.inverse) {
                value = extent - reading.inverse->rest;
                require_divisions(value);
                const int64_t factor = reading.inverse->factor;
                if (factor != 1) {
                    require(fmt::format("{} {} 0", value.cpp(), factor > 0 ? ">=" : "<="));
                    value = Expression::floor_divide(value, Expression(factor));
                }
                test_conditions();
            }
            line(fmt::format("const int64_t {} = {};", reading.dimension, value.cpp()));
        }
    }

    Expression extent_of(size_t input, size_t axis) const {
        return Expression::symbol(fmt::format("{}.shape[{}]", problem_.inputs[input].name, axis));
    }

    void compare_shapes() {
        for (size_t i = 0; i < problem_.inputs.size(); ++i)
            for (size_t axis = 0; axis < problem_.inputs[i].shape.size(); ++axis) {
                if (plan_.plain_at(i, axis)) continue;
                const Expression& extent = problem_.inputs[i].shape[axis];
                require_divisions(extent);
                require(fmt::format("{} == {}", extent_of(i, axis).cpp(), extent.cpp()));
            }
        for (const Tensor& tensor : problem_.outputs)
            for (const Expression& extent : tensor.shape) require_divisions(extent);
        test_conditions();
    }

    void outputs() {
        const size_t count = problem_.outputs.size(), out = arguments().size() - 1;
        if (count > 1) {
            line(fmt::format("PyObject* const py_out = py_given[{}];", out));
            require(fmt::format("(py_out == Py_None || (PyTuple_CheckExact(py_out) && PyTuple_GET_SIZE(py_out) == {}))",
                                count));
            test_conditions();
        }
        for (size_t i = 0; i < count; ++i) {
            const Tensor& tensor = problem_.outputs[i];
            std::vector<std::string> extents;
            for (const Expression& extent : tensor.shape) extents.push_back("int64_t(" + extent.cpp() + ")");
            std::string value = fmt::format("py_given[{}]", out);
            if (count > 1) value = fmt::format("py_out == Py_None ? py_out : PyTuple_GET_ITEM(py_out, {})", i);
            require(fmt::format("{}.write({}, is_tensor(py_given[0]), of_{}, {{{}}})", tensor.name, value,
                                name_of(tensor.dtype), join(extents, ", ")));
            for (size_t other = 0; other < i; ++other) refuse_overlap(tensor, problem_.outputs[other]);
            for (const Tensor& input : problem_.inputs) refuse_overlap(tensor, input);
        }
        test_conditions();
    }

    void refuse_overlap(const Tensor& output, const Tensor& other) {
        require(fmt::format("!{}.overlaps({})", output.name, other.name));
    }

    void call() {
        std::vector<std::string> arguments, bytes, objects;
        for (const Tensor& tensor : problem_.inputs) {
            arguments.push_back(fmt::format("reinterpret_cast<const {}*>({}.data)", c_type(tensor.dtype), tensor.name));
            bytes.push_back(tensor.name + ".bytes");
        }
        for (const Tensor& tensor : problem_.outputs) {
            arguments.push_back(fmt::format("reinterpret_cast<{}*>({}.data)", c_type(tensor.dtype), tensor.name));
            bytes.push_back(tensor.name + ".bytes");
            objects.push_back(tensor.name + ".object");
        }
        for (const Parameter& parameter : problem_.parameters)
            arguments.push_back(fmt::format("static_cast<{}>({})", c_type(parameter.dtype), parameter.name));
        arguments.insert(arguments.end(), problem_.dimensions.begin(), problem_.dimensions.end());
        line(fmt::format("PyThreadState* const py_released = {} > bytes_of_long_work ? PyEval_SaveThread() : nullptr;",
                         join(bytes, " + ")));
        line(fmt::format("kernel({});", join(arguments, ", ")));
        line("if (py_released) PyEval_RestoreThread(py_released);");
        line(objects.size() == 1 ? fmt::format("return Py_NewRef({});", objects[0])
                                 : fmt::format("return PyTuple_Pack({}, {});", objects.size(), join(objects, ", ")));
    }

    const Problem& problem_;
    CallPlan plan_;
    std::vector<std::string> conditions_;
    std::string text_;
};

}  // namespace

std::string binding_text(const Problem& problem) {
    Body body(problem);
    return filled(form, {{"types", type_lines(problem)},
                         {"kernel_types", kernel_types(problem)},
                         {"arguments", join(body.arguments(), ", ")},
                         {"body", body.text()},
                         {"name", problem.name}});
}

}  // namespace strop::result
