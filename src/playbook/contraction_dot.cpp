// Dot products: both operands lie along the summed axis.
#include "playbook/contraction_text.h"

namespace strop::playbook {

namespace {

bool unit_or_absent(const Product& stride) { return stride.is(1) || stride.is(0); }

// The dot products of ROWS rows with DC columns; also what cutting k needs.
const char* const dot_members = R"(
    // The products of ROWS rows from m with `COLUMNS` columns from n, over k0 to k1: vectors run along k.
    template <int ROWS, int COLUMNS>
    void dots(int64_t m, int64_t n, int64_t k0, int64_t k1, float (*to)[DC]) const {
        vec sums[ROWS][COLUMNS] = {};  // in registers
        const @a_type@* a = @a@;
        const @b_type@* b = @b@;
        int64_t k = k0;
#pragma GCC unroll unroll
        for (; k + VL <= k1; k += VL) {
            vec row[ROWS];
#pragma GCC unroll 8
            for (int i = 0; i < ROWS; ++i) row[i] = load(a + @a_row@);
#pragma GCC unroll 16
            for (int j = 0; j < COLUMNS; ++j) {
                const vec column = load(b + @b_column@);
#pragma GCC unroll 8
                for (int i = 0; i < ROWS; ++i) sums[i][j] += row[i] * column;
            }
        }
        if (k < k1) {
            const int64_t rest = k1 - k;
            const bool room = k1 - k0 >= VL;
            k = k1;
            vec row[ROWS];
            for (int i = 0; i < ROWS; ++i) row[i] = load_end(a + @a_row@, rest, room);
            for (int j = 0; j < COLUMNS; ++j) {
                const vec column = load_end(b + @b_column@, rest, room);
                for (int i = 0; i < ROWS; ++i) sums[i][j] += row[i] * column;
            }
        }
#pragma GCC unroll 8
        for (int i = 0; i < ROWS; ++i)
#pragma GCC unroll 16
            for (int j = 0; j < COLUMNS; ++j) to[i][j] = sum(sums[i][j]);
    }
)";

const char* const dot_share = R"(
    template <int ROWS>
    void rows(int64_t m, int64_t n0, int64_t n1) const {
        float to[ROWS][DC];
        int64_t n = n0;
        for (; n + DC <= n1; n += DC) {
            dots<ROWS, DC>(m, n, 0, @depth@, to);
            for (int i = 0; i < ROWS; ++i)
                for (int64_t j = 0; j < DC; j += VL) {
                    const int64_t lanes = smaller(DC - j, VL);
                    put(load_part(to[i] + j, lanes), m + i, n + j, lanes@stage@);
                }
        }
        for (; n < n1; ++n) {
            dots<ROWS, 1>(m, n, 0, @depth@, to);
            for (int i = 0; i < ROWS; ++i) put(splat(to[i][0]), m + i, n, 1@stage@);
        }
    }

    // C[m0:m1, n0:n1], NC columns at a time, which stay in a cache while all rows meet them.
    __attribute__((noinline)) void share(int64_t m0, int64_t m1, int64_t n0, int64_t n1) const {
        for (int64_t n = n0; n < n1; n += NC) {
            const int64_t n_end = smaller(n + NC, n1);
            int64_t m = m0;
            for (; m + DR <= m1; m += DR) rows<DR>(m, n, n_end);
            for (; m < m1; ++m) rows<1>(m, n, n_end);
        }
    }
)";

// A pointer's text with the offset of one axis added in the loop.
std::string offset(const Product& stride, const std::string& index) {
    std::string text = stride.times(index);
    return text.empty() ? "k" : text + " + k";
}

}  // namespace

bool dots_fit(const KernelText& text) {
    return text.plain_left() && text.plain_right() && unit_or_absent(text.plain_left()->k) &&
           unit_or_absent(text.plain_right()->k) && !text.form().k.is(1);
}

std::string dot_text(const KernelText& text, const std::string& depth, const std::string& stage) {
    const Operand& a = *text.plain_left();
    const Operand& b = *text.plain_right();
    return fill(std::string(dot_members) + dot_share, {{"a", a.address("m", "", "")},
                                                       {"a_type", text.element(a)},
                                                       {"b_type", text.element(b)},
                                                       {"b", b.address("", "n", "")},
                                                       {"a_row", offset(a.m, "i")},
                                                       {"b_column", offset(b.n, "j")},
                                                       {"depth", depth},
                                                       {"stage", stage}});
}

void add_dot_choices(const KernelText& text, Body& body) {
    bool vector_only = text.form().m.is(1);
    body.choices = {text.vector_length(),
                    {"DR",
                     {"1", "2", "3", "4"},
                     vector_only             ? "1"
                     : text.wide_registers() ? "4"
                                             : "3"},
                    {"DC", {"2", "4", "6", "8"}, vector_only ? "8" : "4"},
                    {"UNROLL", {"1", "2", "4"}, "1"},
                    {"NC", {"24", "48", "96", "192", "1000000"}, vector_only ? "1000000" : "48", true}};
    body.require = {text.fits_registers("DR * DC + DR + 1")};
    body.helpers = {"sum", "load_end"};
    body.constants = "constexpr int unroll = UNROLL;\n";
    body.m_step = "DR";
    body.n_step = "DC";
}

std::vector<Recipe> dot_recipes(const KernelText& text) {
    if (!dots_fit(text)) return {};
    Recipe recipe;
    recipe.strategy.id = "dot_products";
    recipe.strategy.hypothesis =
        "Both operands lie along the summed axis, so vectors can run along it: every element is "
        "read in order, which suits products with few rows.";
    recipe.strategy.bottleneck = "memory";
    recipe.strategy.excludes = {"packed_tiled", "packed_right", "direct_tiled", "row_streaming", "split_inner"};
    recipe.strategy.confidence = text.form().m.is(1) ? 0.8 : 0.4;
    Body body;
    body.about =
        "// A contraction as dot products: vectors run along the summed axis, along which both operands lie, "
        "and "
        "are added\n// up across at the end.";
    add_dot_choices(text, body);
    body.choices.push_back(text.parallel_min());
    body.members = dot_text(text, "@K@", "");
    body.entry = text.grid_entry();
    text.write(recipe, body);
    return {recipe};
}

}  // namespace strop::playbook
