// The same process for a kernel in Python: a library that python/strop/kernel_host.py loads into the interpreter. Calls
// come from here, so that one costs what a vector call of Python costs, and no header of Python is needed.
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "judge/candidate.h"

// Of Python 3.9 and later, in the program that loads this library.
extern "C" {
struct PythonObject;
PythonObject* PyObject_Vectorcall(PythonObject* function, PythonObject* const* arguments, size_t count,
                                  PythonObject* keywords);
PythonObject* PyObject_CallFunction(PythonObject* function, const char* format, ...);
PythonObject* PyLong_FromLongLong(long long value);
void PyErr_Print();  // by sys.excepthook, which ends the process
void Py_DecRef(PythonObject* object);
}

namespace strop::judge {

namespace {

// Views of tensors at addresses: as many as windows and slots give, and no more than memory has place for.
constexpr size_t most_views = 1 << 16;

// What kernel_host.py says of an argument of the kernel.
struct Argument {
    enum Kind : int64_t { tensor = 0, constant = 1, dimension = 2 };
    int64_t kind, index;
};

class PythonKernel {
public:
    PythonKernel(Candidate& candidate, PythonObject* function, PythonObject* view, PythonObject* store,
                 PythonObject* const* constants, PythonObject* keywords, const Argument* arguments, int64_t count,
                 int64_t inputs, int64_t outputs, bool takes_outputs)
        : candidate_(candidate),
          function_(function),
          view_(view),
          store_(store),
          constants_(constants),
          keywords_(keywords),
          arguments_(arguments, arguments + count),
          inputs_(static_cast<size_t>(inputs)),
          takes_outputs_(takes_outputs),
          views_(static_cast<size_t>(inputs + outputs)),
          values_(static_cast<size_t>(count)),
          results_(1 + static_cast<size_t>(outputs)) {}

    // `positional` of the arguments come before those with keywords.
    void call(void* const* tensors, const int64_t* dimensions, size_t positional) {
        for (size_t i = 0; i < arguments_.size(); ++i) values_[i] = value(arguments_[i], tensors, dimensions);
        PythonObject* result = succeeded(PyObject_Vectorcall(function_, values_.data(), positional, keywords_));
        for (size_t i = 0; i < arguments_.size(); ++i)
            if (arguments_[i].kind == Argument::dimension) Py_DecRef(values_[i]);
        if (!takes_outputs_) {
            results_[0] = result;
            for (size_t t = inputs_; t < views_.size(); ++t)
                results_[1 + t - inputs_] = tensor(t, tensors[t], dimensions);
            Py_DecRef(succeeded(PyObject_Vectorcall(store_, results_.data(), results_.size(), nullptr)));
        }
        Py_DecRef(result);
    }

private:
    static PythonObject* succeeded(PythonObject* result) {
        if (!result) PyErr_Print();
        return result;
    }

    PythonObject* value(const Argument& argument, void* const* tensors, const int64_t* dimensions) {
        const size_t index = static_cast<size_t>(argument.index);
        if (argument.kind == Argument::tensor) return tensor(index, tensors[index], dimensions);
        return argument.kind == Argument::constant ? constants_[index] : PyLong_FromLongLong(dimensions[index]);
    }

    // Points have memory of their own, so that an address tells the shape.
    PythonObject* tensor(size_t index, void* address, const int64_t* dimensions) {
        std::unordered_map<void*, PythonObject*>& views = views_[index];
        if (const auto known = views.find(address); known != views.end()) return known->second;
        if (views.size() == most_views) {
            for (const auto& [_, view] : views) Py_DecRef(view);
            views.clear();
        }
        PythonObject* view =
            succeeded(PyObject_CallFunction(view_, "nKn", static_cast<ptrdiff_t>(index),
                                            static_cast<unsigned long long>(reinterpret_cast<uintptr_t>(address)),
                                            static_cast<ptrdiff_t>(candidate_.point_at(dimensions))));
        views.emplace(address, view);
        return view;
    }

    Candidate& candidate_;
    PythonObject *function_, *view_, *store_;
    PythonObject* const* constants_;
    PythonObject* keywords_;
    std::vector<Argument> arguments_;
    size_t inputs_;
    bool takes_outputs_;
    std::vector<std::unordered_map<void*, PythonObject*>> views_;  // by tensor
    std::vector<PythonObject*> values_, results_;                  // of one call
};

Candidate* candidate = nullptr;
PythonKernel* kernel = nullptr;
size_t positional = 0;

void call_kernel(void* const* tensors, const double*, const int64_t* dimensions) {
    kernel->call(tensors, dimensions, positional);
}

}  // namespace

extern "C" {

// Before the kernel's file is read.
void strop_candidate_open(int layout_fd) { candidate = new Candidate(layout_fd); }

// `arguments`: pairs of kind and index (Argument), the last of them keywords where there are any; `view(tensor,
// address, point)` gives a tensor, `store(result, *outputs)` copies. Everything has to live as long as the process.
void strop_candidate_serve(PythonObject* function, PythonObject* view, PythonObject* store,
                           PythonObject* const* constants, PythonObject* keywords, const int64_t* arguments,
                           int64_t argument_count, int64_t keyword_count, int64_t inputs, int64_t outputs,
                           int takes_outputs) {
    kernel = new PythonKernel(*candidate, function, view, store, constants, keywords,
                              reinterpret_cast<const Argument*>(arguments), argument_count, inputs, outputs,
                              takes_outputs != 0);
    positional = static_cast<size_t>(argument_count - keyword_count);
    candidate->serve(call_kernel);
}

}  // extern "C"

}  // namespace strop::judge
