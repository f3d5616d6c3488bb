#include "language/opencl_host.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/strings.h"
#include "language/contract.h"

namespace strop {

namespace {

constexpr const char* includes =
    "#include <dlfcn.h>\n#include <signal.h>\n#include <stddef.h>\n#include <stdint.h>\n#include <stdio.h>\n#include "
    "<stdlib.h>\n#include <algorithm>\n\n";

// What OpenCL's header would declare, as far as it is used.
constexpr const char* library_text = R"(
[[noreturn]] void fail(const char* what, int code) {
    fprintf(stderr, "OpenCL: %s (error %d)\n", what, code);
    abort();
}

void check(int code, const char* what) {
    if (code != 0) fail(what, code);
}

// A function of libOpenCL, which nothing is linked with.
template <typename Function>
Function* find(const char* name) {
    static void* library = dlopen("libOpenCL.so.1", RTLD_NOW);
    if (!library) fail("libOpenCL.so.1 is missing", 0);
    void* function = dlsym(library, name);
    if (!function) fail(name, 0);
    return reinterpret_cast<Function*>(function);
}

// Drivers that compile leave handlers of signals behind: those of the process come back.
struct KeptHandlers {
    struct sigaction kept[32] = {};

    KeptHandlers() {
        for (int i = 1; i < 32; ++i) sigaction(i, nullptr, &kept[i]);
    }
    ~KeptHandlers() {
        for (int i = 1; i < 32; ++i) sigaction(i, &kept[i], nullptr);
    }
};

using Handle = void*;   // of a platform, device, context, queue, program, kernel or buffer
constexpr uint64_t any_device = 0xffffffff, read_write = 1, read_only = 4, use_host_memory = 8, map_read = 1;

struct OpenCL {
    Handle device = nullptr, context = nullptr, queue = nullptr, program = nullptr;

    explicit OpenCL(const char* options) {
        const KeptHandlers handlers;
        Handle platform = nullptr;
        check(find<int(unsigned, Handle*, unsigned*)>("clGetPlatformIDs")(1, &platform, nullptr), "no platform");
        check(find<int(Handle, uint64_t, unsigned, Handle*, unsigned*)>("clGetDeviceIDs")(platform, any_device, 1, &device,
                                                                                           nullptr), "no device");
        int error = 0;
        context = find<Handle(const intptr_t*, unsigned, const Handle*, void*, void*, int*)>("clCreateContext")(
            nullptr, 1, &device, nullptr, nullptr, &error);
        check(error, "no context");
        queue = find<Handle(Handle, Handle, uint64_t, int*)>("clCreateCommandQueue")(context, device, 0, &error);
        check(error, "no queue");
        program = find<Handle(Handle, unsigned, const char* const*, const size_t*, int*)>("clCreateProgramWithSource")(
            context, 1, &program_text, nullptr, &error);
        check(error, "no program");
        if (int failed = find<int(Handle, unsigned, const Handle*, const char*, void*, void*)>("clBuildProgram")(
                program, 1, &device, options, nullptr, nullptr))
            print_log_and_fail(failed);
    }

    [[noreturn]] void print_log_and_fail(int code) {
        constexpr unsigned build_log = 0x1183;
        static char log[1 << 16];
        find<int(Handle, Handle, unsigned, size_t, void*, size_t*)>("clGetProgramBuildInfo")(program, device, build_log,
                                                                                             sizeof log - 1, log, nullptr);
        fprintf(stderr, "%s\n", log);
        fail("the program does not compile", code);
    }

    Handle kernel(const char* name) {
        int error = 0;
        Handle made = find<Handle(Handle, const char*, int*)>("clCreateKernel")(program, name, &error);
        check(error, name);
        return made;
    }

    // `memory`: the caller's, or null for memory of the device. Nothing at all is no buffer.
    Handle buffer(const void* memory, int64_t bytes, uint64_t access) {
        if (bytes <= 0) return nullptr;
        static const auto create = find<Handle(Handle, uint64_t, size_t, void*, int*)>("clCreateBuffer");
        int error = 0;
        Handle made = create(context, memory ? access | use_host_memory : access, static_cast<size_t>(bytes),
                             const_cast<void*>(memory), &error);
        check(error, "no memory for a buffer");
        return made;
    }

    template <typename Value>
    void argument(Handle kernel, unsigned place, const Value& value) {
        static const auto set = find<int(Handle, unsigned, size_t, const void*)>("clSetKernelArg");
        check(set(kernel, place, sizeof value, &value), "an argument does not fit");
    }

    // Global sizes become multiples of local ones; nothing is launched where one is 0 or less.
    void launch(Handle kernel, unsigned dimensions, const int64_t* global, const int64_t* local) {
        static const auto enqueue = find<int(Handle, Handle, unsigned, const size_t*, const size_t*, const size_t*, unsigned,
                                             const Handle*, Handle*)>("clEnqueueNDRangeKernel");
        size_t all[3] = {1, 1, 1}, group[3] = {1, 1, 1};
        for (unsigned i = 0; i < dimensions; ++i) {
            if (global[i] <= 0) return;
            if (local && local[i] <= 0) fail("a local size is 0 or less", 0);
            group[i] = local ? static_cast<size_t>(local[i]) : 1;
            all[i] = (static_cast<size_t>(global[i]) + group[i] - 1) / group[i] * group[i];
        }
        check(enqueue(queue, kernel, dimensions, nullptr, all, local ? group : nullptr, 0, nullptr, nullptr), "a launch");
    }

    void finish() {
        static const auto wait = find<int(Handle)>("clFinish");
        check(wait(queue), "a launch");
    }

    // Mapping brings what a device has written to the caller's memory.
    void fetch(Handle buffer, int64_t bytes) {
        if (!buffer) return;
        static const auto map = find<void*(Handle, Handle, unsigned, uint64_t, size_t, size_t, unsigned, const Handle*, Handle*,
                                           int*)>("clEnqueueMapBuffer");
        static const auto unmap = find<int(Handle, Handle, void*, unsigned, const Handle*, Handle*)>("clEnqueueUnmapMemObject");
        int error = 0;
        void* mapped = map(queue, buffer, 1, map_read, 0, static_cast<size_t>(bytes), 0, nullptr, nullptr, &error);
        check(error, "an output cannot be read");
        check(unmap(queue, buffer, mapped, 0, nullptr, nullptr), "an output cannot be read");
        finish();
    }

    void release(Handle buffer) {
        static const auto free_memory = find<int(Handle)>("clReleaseMemObject");
        if (buffer) free_memory(buffer);
    }
};
)";

std::string raw_text(const std::string& text) {
    std::string mark = "CL";
    while (text.find(")" + mark + "\"") != std::string::npos) mark += "_";
    return fmt::format("R\"{}({}){}\"", mark, text, mark);
}

std::string comments(const std::string& when, const TunableSpace& space) {
    std::string text = when.empty() ? "" : when + "\n";
    for (const Tunable& tunable : space.tunables) {
        std::vector<std::string> values;
        for (const Value& value : tunable.values) values.push_back(to_string(value));
        text += fmt::format("// strop:tune {} = {}\n", tunable.name, join(values, " | "));
    }
    for (const Expression& constraint : space.constraints)
        text += fmt::format("// strop:require {}\n", constraint.text());
    return text.empty() ? text : text + "\n";
}

// "-DLOCAL=64 -cl-mad-enable", made by the preprocessor out of the tunables' values.
std::string options_text(const OpenClSource& source) {
    std::vector<std::string> parts;
    for (const Tunable& tunable : source.space.tunables) {
        const bool option = std::count(source.options.begin(), source.options.end(), tunable.name) > 0;
        parts.push_back(option ? fmt::format("\" \" TEXT({})", tunable.name)
                               : fmt::format("\" -D{}=\" TEXT({})", tunable.name, tunable.name));
    }
    if (parts.empty()) return "#define BUILD_OPTIONS \"\"\n\n";
    return fmt::format(
        "#define TEXT_OF(value) #value\n#define TEXT(value) TEXT_OF(value)\n#define BUILD_OPTIONS {}\n\n",
        join(parts, " \\\n                      "));
}

std::string product(const std::vector<Expression>& factors, const std::string& type) {
    std::string text = fmt::format("int64_t{{sizeof({})}}", type);
    for (const Expression& factor : factors) text += fmt::format(" * ({})", factor.cpp());
    return text;
}

// In C++, of the same size.
std::string host_type(const std::string& type) {
    if (type == "long" || type == "ulong") return "int64_t";
    if (type == "uint") return "uint32_t";
    if (type == "char") return "int8_t";
    return type == "uchar" ? "uint8_t" : type;
}

std::string sizes_text(const char* name, const std::vector<Expression>& sizes) {
    std::vector<std::string> parts;
    for (const Expression& size : sizes) parts.push_back(size.cpp());
    return fmt::format("        const int64_t {}[] = {{{}}};\n", name, join(parts, ", "));
}

std::string launch_text(const OpenClLaunch& launch, const OpenClKernel& kernel) {
    std::string text =
        fmt::format("    {{\n        static const Handle kernel = opencl.kernel(\"{}\");\n", kernel.name);
    for (size_t i = 0; i < kernel.arguments.size(); ++i) {
        const OpenClArgument& argument = kernel.arguments[i];
        using Kind = OpenClArgument::Kind;
        const bool value = argument.kind == Kind::parameter || argument.kind == Kind::dimension;
        text += fmt::format("        opencl.argument(kernel, {}, {}{});\n", i, argument.name, value ? "" : "_buffer");
    }
    text += sizes_text("global", launch.global);
    if (!launch.local.empty()) text += sizes_text("local", launch.local);
    return text + fmt::format("        opencl.launch(kernel, {}, global, {});\n    }}\n", launch.global.size(),
                              launch.local.empty() ? "nullptr" : "local");
}

std::string call_text(const Problem& problem, const OpenClSource& source) {
    std::string text = signature(problem) + " {\n    static OpenCL opencl(BUILD_OPTIONS);\n", fetch, release;
    const auto add = [&](const std::string& name, const std::string& memory, const std::string& bytes,
                         const char* access) {
        text += fmt::format("    const Handle {}_buffer = opencl.buffer({}, {}, {});\n", name, memory, bytes, access);
        release += fmt::format("    opencl.release({}_buffer);\n", name);
    };
    for (const Tensor& input : problem.inputs)
        add(input.name, input.name, product(input.shape, c_type(input.dtype)), "read_only");
    for (const Tensor& output : problem.outputs) {
        const std::string bytes = product(output.shape, c_type(output.dtype));
        add(output.name, output.name, bytes, "read_write");
        fetch += fmt::format("    opencl.fetch({}_buffer, {});\n", output.name, bytes);
    }
    for (const OpenClBuffer& buffer : source.buffers)
        add(buffer.name, "nullptr", product({buffer.elements}, host_type(buffer.type)), "read_write");
    for (const OpenClLaunch& launch : source.launches)
        for (const OpenClKernel& kernel : source.kernels)
            if (kernel.name == launch.kernel) text += launch_text(launch, kernel);
    return text + "    opencl.finish();\n" + fetch + release + "}\n";
}

}  // namespace

std::string opencl_host(const Problem& problem, const OpenClSource& source) {
    return comments(source.when, source.space) + includes + options_text(source) +
           "namespace {\n\nconst char* const program_text = " + raw_text(source.program) + ";\n" + library_text +
           "\n}  // namespace\n\n" + call_text(problem, source);
}

}  // namespace strop
