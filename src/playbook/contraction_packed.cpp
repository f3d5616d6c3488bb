// Packed and tiled, after BLIS (Van Zee and van de Geijn, "BLIS: A Framework for Rapidly Instantiating BLAS
// Functionality", 2015): both operands are copied block by block into the order in which the tile reads them.
#include <fmt/format.h>

#include "playbook/contraction_text.h"

namespace strop::playbook {

namespace {

// Columns that lie along k: panel by panel.
const char* const pack_panels = R"(
    // Columns n0 to n1 as panels of NR columns, k by k; columns beyond the end are 0.
    void pack_right(float* to, int64_t k0, int64_t k1, int64_t n0, int64_t n1) const {
        for (int64_t n = n0; n < n1; n += NR, to += NR * (k1 - k0)) {
            if (n1 - n >= NR) {
                for (int64_t k = k0; k < k1; ++k)
                    for (int64_t j = 0; j < NR; ++j) to[(k - k0) * NR + j] = @right@;
                continue;
            }
            for (int64_t k = k0; k < k1; ++k)
                for (int64_t j = 0; j < NR; ++j) to[(k - k0) * NR + j] = j < n1 - n ? @right@ : 0.0f;
        }
    }
)";

// The same where each column is a row of memory.
const char* const pack_turned = R"(
    // Columns n0 to n1 as panels of NR columns, k by k; columns beyond the end are 0.
    void pack_right(float* to, int64_t k0, int64_t k1, int64_t n0, int64_t n1) const {
        for (int64_t n = n0; n < n1; n += NR, to += NR * (k1 - k0))
            for (int64_t j = 0; j < NR; j += VL)
                to_lanes(@column@, @apart@, n1 - n - j, k1 - k0, to + j, NR);
    }
)";

// Columns that lie side by side: row by row, in the order of memory.
const char* const pack_rows = R"(
    // Columns n0 to n1 as panels of NR columns, k by k; columns beyond the end are 0.
    void pack_right(float* to, int64_t k0, int64_t k1, int64_t n0, int64_t n1) const {
        const int64_t whole = (n1 - n0) / NR * NR, count = k1 - k0;
        for (int64_t k = k0; k < k1; ++k, to += NR) {
            int64_t n = n0;
            for (; n < n0 + whole; n += NR)
                for (int64_t j = 0; j < NR; ++j) to[(n - n0) * count + j] = @right@;
            for (int64_t j = 0; n < n1 && j < NR; ++j) to[whole * count + j] = j < n1 - n ? @right@ : 0.0f;
        }
    }
)";

const char* const packed_members = R"(
    // Rows m0 to m1 as panels of MR rows, k by k; rows beyond the end are 0.
    void pack_left(float* to, int64_t m0, int64_t m1, int64_t k0, int64_t k1) const {
        for (int64_t m = m0; m < m1; m += MR, to += MR * (k1 - k0)) {
            if (m1 - m >= MR) {
                for (int64_t k = k0; k < k1; ++k)
                    for (int64_t i = 0; i < MR; ++i) to[(k - k0) * MR + i] = @left@;
                continue;
            }
            for (int64_t k = k0; k < k1; ++k)
                for (int64_t i = 0; i < MR; ++i) to[(k - k0) * MR + i] = i < m1 - m ? @left@ : 0.0f;
        }
    }
@pack_right@
    // The tile at (m, n), from `count` steps of k in one panel of each side.
    void tile(const float* a, const float* b, int64_t count, int64_t m, int64_t m1, int64_t n, int64_t n1,
              bool first, bool last) const {
        vec sums[MR][NRV] = {};  // in registers
        @touch@
#pragma GCC unroll unroll
        for (int64_t k = 0; k < count; ++k, a += MR, b += NR) {
@prefetch@            vec row[NRV];
#pragma GCC unroll 8
            for (int j = 0; j < NRV; ++j) row[j] = load(b + j * VL);
#pragma GCC unroll 32
            for (int i = 0; i < MR; ++i)
#pragma GCC unroll 8
                for (int j = 0; j < NRV; ++j) sums[i][j] += splat(a[i]) * row[j];
        }
        float rest[MR][NR];
#pragma GCC unroll 32
        for (int i = 0; i < MR; ++i)
#pragma GCC unroll 8
            for (int j = 0; j < NRV; ++j) store(rest[i] + j * VL, sums[i][j]);
        for (int64_t i = 0; i < MR && i < m1 - m; ++i)
            for (int64_t j = 0; j < NR && j < n1 - n; j += VL)
                put(load(rest[i] + j), m + i, n + j, n1 - n - j, first, last);
    }

    // C[m0:m1, n0:n1]: right's block stays in the last cache, left's in the second, a panel in the first.
    __attribute__((noinline)) void share(int64_t m0, int64_t m1, int64_t n0, int64_t n1) const {
        // Whole tiles.
        const int64_t block_m = (MC + MR - 1) / MR * MR, block_n = (NC + NR - 1) / NR * NR;
        const int64_t kc = smaller(@K@, KC), width = smaller((n1 - n0 + NR - 1) / NR * NR, block_n);
        const int64_t height = smaller((m1 - m0 + MR - 1) / MR * MR, block_m);
        float* const a = scratch((height + width) * kc);
        float* const b = a + height * kc;
        for (int64_t n = n0; n < n1; n += block_n) {
            const int64_t n_end = smaller(n + block_n, n1);
            for (int64_t k = 0, count; k == 0 || k < @K@; k += KC) {
                count = smaller(KC, @K@ - k);
                pack_right(b, k, k + count, n, n_end);
                for (int64_t m = m0; m < m1; m += block_m) {
                    const int64_t m_end = smaller(m + block_m, m1);
                    pack_left(a, m, m_end, k, k + count);
                    for (int64_t j = n; j < n_end; j += NR)
                        for (int64_t i = m; i < m_end; i += MR)
                            tile(a + (i - m) * count, b + (j - n) * count, count, i, m_end, j, n_end, k == 0,
                                 k + count == @K@);
                }
            }
        }
    }
)";

// The register tile that fills the registers: 6 x 16 for AVX2, 8 x 48 for AVX-512, 8 x 12 for NEON. The wider one of
// those that fill 32 registers reads fewer single elements a multiply-add.
void add_tile(const KernelText& text, Body& body) {
    bool wide = text.wide_registers();
    body.choices.push_back({"MR", {"4", "5", "6", "8", "12", "14"}, wide ? "8" : "6"});
    body.choices.push_back({"NRV", {"1", "2", "3", "4"}, wide ? "3" : "2"});
    body.require.push_back(text.fits_registers("MR * NRV + NRV + 1"));
}

constexpr int64_t small_extent = 48;  // known to be no larger

Recipe packed(const KernelText& text, bool prefetch) {
    Recipe recipe;
    recipe.strategy.id = "packed_tiled";
    recipe.strategy.hypothesis =
        "Copying blocks of both operands into the order of use makes the inner loop run from "
        "the first cache with unit strides; the copies cost O(1/size) of the work.";
    recipe.strategy.bottleneck = "compute";
    recipe.strategy.excludes = {"direct_tiled", "packed_right", "dot_products", "row_streaming", "split_inner"};
    // What is packed for a single row or column is used once; of small matrices copies take as long as the products.
    const ContractionForm& form = text.form();
    const bool small = form.m.is_at_most(small_extent) && form.n.is_at_most(small_extent);
    recipe.strategy.confidence = form.m.is(1) || form.n.is(1) ? 0.3 : small ? 0.5 : 0.8;
    Body body;
    body.about =
        "// A contraction as matrix product, packed and tiled as in BLIS: the tile's sums stay in registers, "
        "a "
        "panel of the\n// right operand in the first cache, a block of the left one in the second.";
    body.choices = {text.vector_length()};
    add_tile(text, body);
    const bool avx512 = text.machine().vector_bytes >= 64;
    body.choices.push_back({"MC", {"48", "96", "168", "192", "336"}, avx512 ? "192" : "168", true});
    // Sums of a part of k lie in the result meanwhile, where 16 bits would round them: such a result gets them whole.
    const bool whole = text.element(text.form().output) != "float";
    if (whole) body.constants = "constexpr int64_t KC = int64_t{1} << 40;\n";
    else body.choices.push_back({"KC", {"128", "192", "256", "384", "512"}, avx512 ? "384" : "256", true});
    body.choices.push_back({"NC", {"256", "1024", "4096"}, whole ? "256" : "4096", true});
    body.choices.push_back({"UNROLL", {"1", "2", "4"}, "2"});
    body.choices.push_back(text.parallel_min());
    if (prefetch) body.choices.push_back({"PREFETCH", {"8", "16", "32"}, "16"});
    body.constants += "constexpr int NR = NRV * VL;\nconstexpr int unroll = UNROLL;\n";
    const Operand& c = text.form().output;
    bool side_by_side = text.plain_right() && text.plain_right()->n.is(1);
    std::string pack_right = side_by_side ? pack_rows : pack_panels;
    if (text.right_lies_along_k()) {
        const Operand& right = *text.plain_right();
        pack_right = fill(pack_turned, {{"column", right.address("", "n + j", "k0")}, {"apart", right.n.cpp()}});
        body.helpers.insert("to_lanes");
    }
    body.members = fill(packed_members, {{"pack_right", pack_right}});
    body.members = fill(
        body.members, {{"left", text.left("m + i", "k")},
                       {"right", text.right("k", "n + j")},
                       {"touch", fmt::format("for (int64_t i = 0; i < MR && i < m1 - m; ++i)\n"
                                             "            for (int64_t j = 0; j < NR; j += {}) __builtin_prefetch({});",
                                             whole ? 32 : 16,  // elements of a line of the cache
                                             c.address("m + i", "n + j", ""))},
                       {"prefetch", prefetch ? "            __builtin_prefetch(a + PREFETCH * MR);\n"
                                               "            __builtin_prefetch(b + PREFETCH * NR);\n"
                                             : ""}});
    body.entry = text.grid_entry();
    body.m_step = "MR";
    body.n_step = "NR";
    body.blocks = true;
    body.scratch = true;
    text.write(recipe, body);
    return recipe;
}

}  // namespace

std::vector<Recipe> packed_recipes(const KernelText& text) {
    Recipe recipe = packed(text, false);
    Recipe variant = packed(text, true);
    variant.suffix = "prefetch";
    recipe.variants.push_back(variant);
    return {recipe};
}

}  // namespace strop::playbook
