#include "backend/block_functions.h"

#include <algorithm>

#include <fmt/format.h>

#include "backend/block_writer.h"
#include "base/strings.h"

namespace strop::backend {

using schedule::Law;

void LawText::start(const Law& law, const std::vector<std::string>& variables, Lines& lines) const {
    for (size_t k = 0; k < variables.size(); ++k)
        lines.add(fmt::format("{} {} = {};", dialect_.type(law.parts[k].dtype), variables[k],
                              literal(law.parts[k].start, law.parts[k].dtype, dialect_)));
}

void LawText::merge(const Law& law, const std::vector<std::string>& into, const std::vector<std::string>& from,
                    Names& names, Lines& lines) const {
    const std::map<std::string, std::vector<Expression>> no_tensors;
    CTerms text({law.terms, no_tensors, lacks_}, dialect_, helpers_, names);
    for (size_t k = 0; k < law.parts.size(); ++k) {
        text.set_result("a_" + law.parts[k].name, into[k]);
        text.set_result("b_" + law.parts[k].name, from[k]);
    }
    if (law.parts.size() == 1) {
        if (law.name == "sum") return lines.add(fmt::format("{} += {};", into[0], from[0]));
        return lines.add(fmt::format("{} = {};", into[0], text.text_of(law.merged[0])));
    }
    text.prepare(law.merged, lines);
    std::vector<std::string> merged;
    for (size_t k = 0; k < law.merged.size(); ++k) {  // all are known before the first is changed
        merged.push_back(names.fresh("merged_" + law.parts[k].name));
        lines.add(fmt::format("const {} {} = {};", dialect_.type(law.parts[k].dtype), merged[k],
                              text.text_of(law.merged[k])));
    }
    for (size_t k = 0; k < merged.size(); ++k) lines.add(fmt::format("{} = {};", into[k], merged[k]));
}

// Shared memory with one element per thread.
std::string BlockFunctions::room(DType dtype, size_t part) {
    const std::string type = dialect_.type(dtype), name = fmt::format("{}_room_{}", type, part + 1);
    const std::string line = fmt::format("{}{} {}[{}];", dialect_.shared, type, name, block_threads);
    if (std::find(shared_.begin(), shared_.end(), line) == shared_.end()) shared_.push_back(line);
    return name;
}

std::string BlockFunctions::name_of(const Law& law, const char* what) const {
    std::string name = law.name;
    for (const Law::Part& part : law.parts) name += "_" + dialect_.type(part.dtype);
    return name + what;
}

void BlockFunctions::combine(const Law& law, const std::vector<std::string>& variables, Lines& lines) {
    const std::string name = name_of(law, "_of_block");
    std::vector<std::string> arguments;
    for (const std::string& variable : variables) arguments.push_back("&" + variable);
    for (size_t k = 0; k < law.parts.size(); ++k) arguments.push_back(room(law.parts[k].dtype, k));
    lines.add(fmt::format("{}({}, thread);", name, join(arguments, ", ")));
    if (!helpers_.has(name)) write_combine(law, name);
}

// Half of the threads take over from the other half.
void BlockFunctions::write_combine(const Law& law, const std::string& name) {
    std::vector<std::string> parameters, rooms, mine, theirs;
    for (const Law::Part& part : law.parts)
        parameters.push_back(fmt::format("{}* {}", dialect_.type(part.dtype), part.name));
    for (const Law::Part& part : law.parts) {
        rooms.push_back(part.name + "_room");
        mine.push_back(rooms.back() + "[thread]");
        theirs.push_back(rooms.back() + "[thread + width]");
        parameters.push_back(fmt::format("{}{}* {}", dialect_.shared_pointer, dialect_.type(part.dtype), rooms.back()));
    }
    Names names({});
    Lines body;
    body.add(fmt::format("{} void {}({}, int thread) {{", dialect_.device_function, name, join(parameters, ", ")));
    for (size_t k = 0; k < rooms.size(); ++k) body.add(fmt::format("{} = *{};", mine[k], law.parts[k].name));
    body.add(fmt::format("for (int width = {} / 2; width > 0; width /= 2) {{", block_threads));
    body.add(dialect_.barrier);
    body.add("if (thread < width) {");
    laws_.merge(law, mine, theirs, names, body);
    body.add("}");
    body.add("}");
    body.add(dialect_.barrier);
    for (size_t k = 0; k < rooms.size(); ++k) body.add(fmt::format("*{} = {}[0];", law.parts[k].name, rooms[k]));
    body.add(dialect_.barrier + "  // the room may be used again");
    body.add("}");
    helpers_.add(name, body.text());
}

void BlockFunctions::add_prefix(const Law& law, const std::string& running, const std::string& carried, Lines& lines) {
    const std::string name = name_of(law, "_prefix_of_block");
    lines.add(fmt::format("{}(&{}, &{}, {}, thread);", name, running, carried, room(law.parts[0].dtype, 0)));
    if (!helpers_.has(name)) write_prefix(law, name);
}

// Each thread takes in what lies 1, 2, 4, ... before it (Hillis and Steele, "Data parallel algorithms",
// 1986).
void BlockFunctions::write_prefix(const Law& law, const std::string& name) {
    const Law::Part& part = law.parts[0];
    const std::string type = dialect_.type(part.dtype);
    Names names({});
    Lines body;
    body.add(fmt::format("{} void {}({}* running, {}* carried, {}{}* room, int thread) {{", dialect_.device_function,
                         name, type, type, dialect_.shared_pointer, type));
    body.add("room[thread] = *running;");
    body.add(dialect_.barrier);
    body.add(fmt::format("for (int distance = 1; distance < {}; distance *= 2) {{", block_threads));
    body.add(fmt::format("{} before = {};", type, literal(part.start, part.dtype, dialect_)));
    body.add("if (thread >= distance) before = room[thread - distance];");
    body.add(dialect_.barrier);
    laws_.merge(law, {"before"}, {"room[thread]"}, names, body);
    body.add("room[thread] = before;");
    body.add(dialect_.barrier);
    body.add("}");
    body.add(fmt::format("{} behind = *carried;", type));
    laws_.merge(law, {"behind"}, {"room[thread]"}, names, body);
    body.add("*running = behind;");
    laws_.merge(law, {"*carried"}, {fmt::format("room[{} - 1]", block_threads)}, names, body);
    body.add(dialect_.barrier + "  // the room may be used again");
    body.add("}");
    helpers_.add(name, body.text());
}

}  // namespace strop::backend
