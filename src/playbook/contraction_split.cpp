// The inner dimension cut over threads, for results too small to be cut themselves.
#include "playbook/contraction_text.h"

namespace strop::playbook {

namespace {

const char* const split_entry = R"(
    // Each thread sums over its own stretch of k into a result of its own.
    const int64_t m = @M@, n = @N@, size = m * n;
    const int64_t threads = @MAC@ < PARALLEL_MIN ? 1 : smaller(team::size(), (@K@ + 63) / 64);
    float* const partial = scratch<1>(threads * size);
    team::parallel((int)threads, [=](team::Member me) {
        for (int64_t i = me.begin(threads); i < me.end(threads); ++i) {
            const int64_t k0 = @K@ * i / threads / 16 * 16;
            const int64_t k1 = i + 1 == threads ? @K@ : @K@ * (i + 1) / threads / 16 * 16;
            Contraction part = call;
@advance@            part.@output@ = partial + i * size;
            part.depth = k1 - k0;
            part.share(0, m, 0, n);
        }
    });
    for (int64_t row = 0; row < m; ++row)
        for (int64_t column = 0; column < n; column += VL) {
            const int64_t lanes = smaller(VL, n - column);
            vec value = {};
            for (int64_t i = 0; i < threads; ++i)
                value += load_part(partial + i * size + row * n + column, lanes);
            call.put(value, row, column, lanes, true, true);
        }
)";

std::string advance(const Operand& operand) {
    std::string offset = operand.k.times("k0");
    return offset.empty() ? "" : "            part." + operand.name + " += " + offset + ";\n";
}

}  // namespace

std::vector<Recipe> split_recipes(const KernelText& text) {
    const Operand& c = text.form().output;
    bool rows = direct_fits(text), dots = dots_fit(text);
    bool plain_result = c.n.is(1) || text.form().n.is(1);
    if (text.element(c) != "float" || text.form().batched() || !plain_result || text.form().k.is(1) || (!rows && !dots))
        return {};
    Recipe recipe;
    recipe.strategy.id = "split_inner";
    recipe.strategy.hypothesis =
        "A small result over a long sum offers no rows or columns to share out: threads take "
        "stretches of the summed axis and their results are added.";
    recipe.strategy.bottleneck = "parallelism";
    recipe.strategy.excludes = {"packed_tiled", "packed_right", "direct_tiled", "dot_products", "row_streaming"};
    recipe.strategy.confidence = 0.4;
    Body body;
    if (rows) add_direct_choices(text, body);
    else add_dot_choices(text, body);
    body.m_step = body.n_step = "";  // no grid
    body.choices.push_back(text.parallel_min());
    body.about =
        "// A contraction whose summed axis is cut over the threads: each has a result of its own, and these "
        "are "
        "added up.";
    body.scratch = true;
    body.blocks = true;
    body.extra_member = "int64_t depth";
    body.extra_argument = "0";
    body.members = rows ? direct_text(text, "depth", ", true, false") : dot_text(text, "depth", ", true, false");
    body.entry = fill(split_entry,
                      {{"advance", advance(*text.plain_left()) + advance(*text.plain_right())}, {"output", c.name}});
    text.write(recipe, body);
    return {recipe};
}

}  // namespace strop::playbook
