#include "judge/compiled_reference.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/file.h"
#include "base/line.h"
#include "base/strings.h"
#include "language/contract.h"
#include "language/reference_kernel.h"
#include "problem/cpp_reference.h"

namespace strop::judge {

namespace {

// The first line that tells an error. GNU's linker: "FILE:(.text+0x9): undefined reference to `rows'".
std::string first_error(const std::string& message) {
    const std::string missing = "undefined reference to `";
    const std::vector<std::string> lines = split(message, '\n');
    for (const std::string& line : lines) {
        if (line.find("error") != std::string::npos) return line;
        if (const size_t at = line.find(missing); at != std::string::npos)
            return "undefined symbol: " + line.substr(at + missing.size(), line.rfind('\'') - at - missing.size());
    }
    return lines.front();
}

class Builder {
public:
    Builder(CppToolchain& toolchain, const fs::path& folder, const TunableSpace& space)
        : toolchain_(toolchain),
          folder_(folder),
          space_(space) {
        write_file(folder_ / "watch.cpp", reference_watch());
    }

    // The library is copied: a tool chain keeps its own only so long.
    Built build(const Problem& problem, const std::string& source, const std::string& name) const {
        Build wanted{source, default_configuration(space_), space_};
        wanted.linked = {(folder_ / "watch.cpp").string(), "-Wl,-z,defs"};
        Built built = toolchain_.build(problem, {wanted}, folder_ / name, 1).front();
        const fs::path own = folder_ / (name + ".so");
        if (built.ok) fs::copy_file(built.library, own, fs::copy_options::overwrite_existing);
        built.library = own;
        return built;
    }

private:
    CppToolchain& toolchain_;
    fs::path folder_;
    TunableSpace space_;
};

}  // namespace

CompiledReference compile_reference(const Problem& problem, CppToolchain& toolchain, const fs::path& folder) {
    const std::string file = problem.reference.filename();
    const CppReference text = read_cpp_reference(problem.reference);
    const Builder builder(toolchain, folder, parse_tunables(text.source, problem.reference.string()));
    const Built declared = builder.build(problem, reference_as_kernel(problem, text.numbered), "declared");
    if (!declared.ok)
        throw UsageError(fmt::format("{}: does not compile: {}", problem.reference.string(),
                                     one_line(first_error(declared.message))),
                         fmt::format("its function is 'void {}({})'", problem.function, parameter_list(problem)));
    CompiledReference reference{declared.library, {}, declared.late_values, {}};
    if (asks_for_float32(text.source)) {
        reference.note = fmt::format("{}: computed in float32 only, as it says", file);
    } else if (has_float64_form(problem)) {
        const Built wide =
            builder.build(problem_in_float64(problem), reference_in_float64(problem, text.numbered), "float64");
        if (wide.ok) reference.wide = wide.library;
        else
            reference.note = fmt::format("{}: computed in float32 only, since it does not compile in float64 ({})",
                                         file, one_line(first_error(wide.message)));
    }
    if (!reference.note.empty()) reference.note += "; its own rounding is part of the tolerance";
    return reference;
}

}  // namespace strop::judge
