// Rows of the right operand stream by once, in the order of memory, for products with few rows.
#include "playbook/contraction_text.h"

namespace strop::playbook {

namespace {

const char* const streaming_members = R"(
    // Adds DEPTH rows of the right operand from k, weighted, to ROWS rows of sums, `width` columns from n.
    template <int ROWS, int DEPTH>
    void add_rows(float* sums, int64_t m, int64_t k, int64_t n, int64_t width) const {
        const @a_type@* a = @a@;
        const @b_type@* b = @b@;
        vec factor[ROWS][DEPTH];
#pragma GCC unroll 8
        for (int i = 0; i < ROWS; ++i)
#pragma GCC unroll 16
            for (int r = 0; r < DEPTH; ++r) factor[i][r] = splat(a[@a_offset@]);
        int64_t j = 0;
        for (; j + VL <= width; j += VL) {
            vec value[ROWS];
#pragma GCC unroll 8
            for (int i = 0; i < ROWS; ++i) value[i] = load(sums + i * NC + j);
#pragma GCC unroll 16
            for (int r = 0; r < DEPTH; ++r) {
                const vec row = load(b + @b_offset@);
#pragma GCC unroll 8
                for (int i = 0; i < ROWS; ++i) value[i] += factor[i][r] * row;
            }
#pragma GCC unroll 8
            for (int i = 0; i < ROWS; ++i) store(sums + i * NC + j, value[i]);
        }
        for (; j < width; ++j)
            for (int i = 0; i < ROWS; ++i)
                for (int r = 0; r < DEPTH; ++r) sums[i * NC + j] += factor[i][r][0] * b[@b_offset@];
    }

    template <int ROWS>
    void rows(float* sums, int64_t m, int64_t n, int64_t width) const {
        for (int i = 0; i < ROWS; ++i)
            for (int64_t j = 0; j < width; ++j) sums[i * NC + j] = 0;
        int64_t k = 0;
        for (; k + KB <= @K@; k += KB) add_rows<ROWS, KB>(sums, m, k, n, width);
        for (; k < @K@; ++k) add_rows<ROWS, 1>(sums, m, k, n, width);
        for (int i = 0; i < ROWS; ++i)
            for (int64_t j = 0; j < width; j += VL)
                put(load_part(sums + i * NC + j, width - j), m + i, n + j, width - j);
    }

    template <int ROWS>
    void last_rows(int64_t count, float* sums, int64_t m, int64_t n, int64_t width) const {
        if constexpr (ROWS > 0) {
            if (count == ROWS) rows<ROWS>(sums, m, n, width);
            else last_rows<ROWS - 1>(count, sums, m, n, width);
        }
    }

    // C[m0:m1, n0:n1], NC columns at a time, whose sums stay in the first cache.
    __attribute__((noinline)) void share(int64_t m0, int64_t m1, int64_t n0, int64_t n1) const {
        float* const sums = scratch(SR * NC);
        for (int64_t n = n0; n < n1; n += NC) {
            const int64_t width = smaller(n1 - n, NC);
            int64_t m = m0;
            for (; m + SR <= m1; m += SR) rows<SR>(sums, m, n, width);
            last_rows<SR - 1>(m1 - m, sums, m, n, width);
        }
    }
)";

std::string joined(const std::string& a, const std::string& b) {
    if (a.empty() || b.empty()) return a + b + (a.empty() && b.empty() ? "0" : "");
    return a + " + " + b;
}

}  // namespace

std::vector<Recipe> streaming_recipes(const KernelText& text) {
    if (!direct_fits(text) || text.form().k.is(1)) return {};
    const Operand& a = *text.plain_left();
    const Operand& b = *text.plain_right();
    bool vector_only = text.form().m.is(1);
    Recipe recipe;
    recipe.strategy.id = "row_streaming";
    recipe.strategy.hypothesis =
        "With few rows the right operand is read once and that is all the time there is: its rows "
        "stream by in the order of memory while the sums stay in the first cache.";
    recipe.strategy.bottleneck = "memory";
    recipe.strategy.excludes = {"packed_tiled", "packed_right", "direct_tiled", "dot_products", "split_inner"};
    recipe.strategy.confidence = vector_only ? 0.8 : 0.5;
    Body body;
    body.about =
        "// A contraction by streaming: several rows of the right operand at a time are added, weighted, to "
        "the "
        "rows of\n// the result that they belong to.";
    body.choices = {text.vector_length(),
                    {"SR", {"1", "2", "3", "4"}, vector_only ? "1" : "2"},
                    {"KB", {"2", "4", "8", "16"}, "8"},
                    {"NC", {"512", "1024", "2048", "4096", "8192"}, "4096"},
                    text.parallel_min()};
    body.scratch = true;
    body.members = fill(streaming_members, {{"a", a.address("m", "", "k")},
                                            {"a_type", text.element(a)},
                                            {"b_type", text.element(b)},
                                            {"b", b.address("", "n", "k")},
                                            {"a_offset", joined(a.m.times("i"), a.k.times("r"))},
                                            {"b_offset", joined(b.k.times("r"), "j")}});
    body.m_step = "SR";
    body.n_step = "64";
    body.entry = text.grid_entry();
    text.write(recipe, body);
    return {recipe};
}

}  // namespace strop::playbook
