// A kernel's source with its comments for the tuner. Its first line is also read as an expression over the tunables, as
// constraints and conditions are.
#include <map>

#include "base/strings.h"
#include "core/json.h"
#include "fuzz/fuzz.h"
#include "language/contract.h"

namespace {

using namespace strop;

void check(const Expression& expression, const Configuration& configuration) {
    const std::string text = expression.text();
    fuzz::must(Expression::parse(text) == expression, "another expression when read again: " + text);
    std::string value, again;
    fuzz::accepted([&] { value = to_string(expression.evaluate(configuration)); });
    fuzz::accepted([&] { again = to_string(Expression::parse(text).evaluate(configuration)); });
    fuzz::must(value == again, "another value when read again: " + text);
    fuzz::accepted([&] { expression.evaluate_integer(configuration); });
    std::map<std::string, Expression> replacement;
    for (const std::string& name : expression.symbols()) replacement.emplace(name, int64_t{8});
    fuzz::accepted(
        [&] { fuzz::must(expression.substitute(replacement).symbols().empty(), "a name is left: " + text); });
    fuzz::accepted([&] { expression.cpp(); });
}

void check(const TunableSpace& space, const Configuration& configuration) {
    fuzz::must(configuration.size() == space.tunables.size(), "a tunable without a value");
    std::map<std::string, std::string> texts;
    for (const auto& [name, value] : configuration) texts[name] = to_string(value);
    for (const Expression& constraint : space.constraints)
        fuzz::must(truthy(constraint.evaluate(configuration)), "does not hold: " + constraint.text());
    fuzz::accepted([&] { chosen_configuration(space, texts); });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const std::string text = fuzz::text_of(data, size);
    TunableSpace space;
    Configuration configuration;
    if (fuzz::accepted([&] { space = parse_tunables(text, "kernel.cpp"); })) {
        const std::string said = dump(Json(space));
        fuzz::must(dump(Json(Json::parse(said).get<TunableSpace>())) == said, "a space changed on its way: " + said);
        if (fuzz::accepted([&] { configuration = default_configuration(space); })) check(space, configuration);
        for (const Expression& constraint : space.constraints) check(constraint, configuration);
    }
    Expression condition;
    if (fuzz::accepted([&] { condition = Expression::parse(text.substr(0, text.find('\n'))); }))
        check(condition, configuration);
    return 0;
}
