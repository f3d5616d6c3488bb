// Register tiles over operands that stay where they are: nothing is copied, or only the right operand.
#include "base/strings.h"
#include "playbook/contraction_text.h"

namespace strop::playbook {

namespace {

// Shared by both: the tile, and the choice of how many rows it has.
const char* const tile_members = R"(
    // ROWS rows and `VECTORS` vectors of columns at (m, n); row k of the right side begins at b + k * b_row.
    template <int ROWS, int VECTORS>
    void tile(const float* b, int64_t b_row, int64_t m, int64_t n, int64_t lanes) const {
        vec sums[ROWS][VECTORS] = {};  // in registers
        const float* a = @a@;
#pragma GCC unroll unroll
        for (int64_t k = 0; k < @depth@; ++k, b += b_row) {
            vec row[VECTORS];
#pragma GCC unroll 8
            for (int j = 0; j < VECTORS; ++j) row[j] = load(b + j * VL);
#pragma GCC unroll 32
            for (int i = 0; i < ROWS; ++i)
#pragma GCC unroll 8
                for (int j = 0; j < VECTORS; ++j) sums[i][j] += splat(a[@a_offset@]) * row[j];
        }
        float rest[ROWS][VECTORS * VL];
#pragma GCC unroll 32
        for (int i = 0; i < ROWS; ++i)
#pragma GCC unroll 8
            for (int j = 0; j < VECTORS; ++j) store(rest[i] + j * VL, sums[i][j]);
        for (int64_t i = 0; i < ROWS; ++i)
            for (int64_t j = 0; j < VECTORS * VL && j < lanes; j += VL)
                put(load(rest[i] + j), m + i, n + j, lanes - j@stage@);
    }

    // Rows m0 to m1 of some columns: full tiles, then one of the height that is left.
    template <int VECTORS>
    void tiles(const float* b, int64_t b_row, int64_t m0, int64_t m1, int64_t n, int64_t lanes) const {
        int64_t m = m0;
        for (; m + MR <= m1; m += MR) tile<MR, VECTORS>(b, b_row, m, n, lanes);
        last_rows<MR - 1, VECTORS>(m1 - m, b, b_row, m, n, lanes);
    }

    template <int ROWS, int VECTORS>
    void last_rows(int64_t rows, const float* b, int64_t b_row, int64_t m, int64_t n, int64_t lanes) const {
        if constexpr (ROWS > 0) {
            if (rows == ROWS) tile<ROWS, VECTORS>(b, b_row, m, n, lanes);
            else last_rows<ROWS - 1, VECTORS>(rows, b, b_row, m, n, lanes);
        }
    }
)";

const char* const direct_share = R"(
    // C[m0:m1, n0:n1]. Columns that fill no vector are copied first, to load them whole.
    __attribute__((noinline)) void share(int64_t m0, int64_t m1, int64_t n0, int64_t n1) const {
        int64_t n = n0;
        for (; n + NR <= n1; n += NR) tiles<NRV>(@b@, @b_row@, m0, m1, n, NR);
        for (; n + VL <= n1; n += VL) tiles<1>(@b@, @b_row@, m0, m1, n, VL);
        if (n == n1) return;
        float* const to = scratch(@depth@ * VL);
        for (int64_t k = 0; k < @depth@; ++k) store(to + k * VL, load_tail(@b_at_k@, n1 - n));
        tiles<1>(to, VL, m0, m1, n, n1 - n);
    }
)";

const char* const packed_share = R"(
    // C[m0:m1, n0:n1]: columns are copied in panels of NR, which all rows then use.
    __attribute__((noinline)) void share(int64_t m0, int64_t m1, int64_t n0, int64_t n1) const {
        // Whole tiles.
        const int64_t block_m = (MC + MR - 1) / MR * MR, block_n = (NC + NR - 1) / NR * NR;
        const int64_t width = smaller((n1 - n0 + NR - 1) / NR * NR, block_n);
        float* const packed = scratch(@K@ * width);
        for (int64_t n = n0; n < n1; n += block_n) {
            const int64_t n_end = smaller(n + block_n, n1);
            for (int64_t m = m0; m < m1; m += block_m) {
                const int64_t m_end = smaller(m + block_m, m1);
                for (int64_t j = n; j < n_end; j += NR) {
                    float* const panel = packed + (j - n) * @K@;
                    if (m == m0) pack_right(panel, j, n_end - j);
                    tiles<NRV>(panel, NR, m, m_end, j, n_end - j);
                }
            }
        }
    }
)";

const char* const pack_single = R"(
    // One panel of columns, k by k; columns beyond the end are 0.
    void pack_right(float* to, int64_t n, int64_t lanes) const {
        if (lanes >= NR) {
            for (int64_t k = 0; k < @K@; ++k)
                for (int64_t j = 0; j < NR; ++j) to[k * NR + j] = @right@;
            return;
        }
        for (int64_t k = 0; k < @K@; ++k)
            for (int64_t j = 0; j < NR; ++j) to[k * NR + j] = j < lanes ? @right@ : 0.0f;
    }
)";

// The same where each column is a row of memory.
const char* const pack_turned = R"(
    // One panel of columns, k by k; columns beyond the end are 0.
    void pack_right(float* to, int64_t n, int64_t lanes) const {
        for (int64_t j = 0; j < NR; j += VL) to_lanes(@column@, @apart@, lanes - j, @K@, to + j, NR);
    }
)";

std::string pack_text(const KernelText& text) {
    if (!text.right_lies_along_k()) return fill(pack_single, {{"right", text.right("k", "n + j")}});
    const Operand& right = *text.plain_right();
    return fill(pack_turned, {{"column", right.address("", "n + j", "")}, {"apart", right.n.cpp()}});
}

std::string tile_text(const KernelText& text, const std::string& depth, const std::string& stage) {
    const Operand& a = *text.plain_left();
    std::string row = a.m.times("i"), column = a.k.times("k");
    std::string offset = row.empty() ? column : column.empty() ? row : row + " + " + column;
    std::string members = replace_all(tile_members, "const float* a =", "const " + text.element(a) + "* a =");
    // Of 16 bits where it lies, of 32 in a copy.
    if (text.plain_right() && text.element(*text.plain_right()) != "float") {
        members = replace_all(members, "const float* b,", "const Right* b,");
        members = replace_all(members, "int VECTORS>", "int VECTORS, class Right>");
    }
    return fill(members, {{"a", a.address("m", "", "")},
                          {"a_offset", offset.empty() ? "0" : offset},
                          {"depth", depth},
                          {"stage", stage}});
}

}  // namespace

std::string direct_text(const KernelText& text, const std::string& depth, const std::string& stage) {
    const Operand& b = *text.plain_right();
    return tile_text(text, depth, stage) + fill(direct_share, {{"b", b.address("", "n", "")},
                                                               {"b_at_k", b.address("", "n", "k")},
                                                               {"b_row", b.k.cpp()},
                                                               {"depth", depth}});
}

// Whether columns can be loaded as vectors where they lie.
bool direct_fits(const KernelText& text) {
    return text.plain_left() && text.plain_right() && text.plain_right()->n.is(1);
}

void add_direct_choices(const KernelText& text, Body& body) {
    bool wide = text.wide_registers();
    bool neon = text.machine().vector_bytes <= 16;
    const bool one_vector = text.form().n.is_at_most(text.machine().vector_bytes / 4);
    body.choices = {text.vector_length(),
                    {"MR", {"2", "4", "6", "8"}, wide ? "8" : "6"},
                    {"NRV",
                     {"1", "2", "3", "4"},
                     one_vector     ? "1"
                     : wide && neon ? "3"
                                    : "2"},
                    {"UNROLL", {"1", "2", "4"}, "2"}};
    body.helpers = {"load_tail"};
    body.require = {text.fits_registers("MR * NRV + NRV + 1")};
    body.constants = "constexpr int NR = NRV * VL;\nconstexpr int unroll = UNROLL;\n";
    body.scratch = true;
    body.m_step = "MR";
    body.n_step = "NR";
}

std::vector<Recipe> direct_recipes(const KernelText& text) {
    std::vector<Recipe> recipes;
    if (!text.plain_left()) return recipes;
    if (direct_fits(text)) {
        Recipe recipe;
        recipe.strategy.id = "direct_tiled";
        recipe.strategy.hypothesis =
            "Small and skinny products do not repay copies: a register tile reads both operands "
            "where they are.";
        recipe.strategy.bottleneck = "latency";
        recipe.strategy.excludes = {"packed_tiled", "packed_right", "dot_products", "row_streaming", "split_inner"};
        recipe.strategy.confidence = 0.6;
        Body body;
        add_direct_choices(text, body);
        body.choices.push_back(text.parallel_min());
        body.entry = text.grid_entry();
        body.about =
            "// A contraction as matrix product over the operands as they lie: a tile of sums in registers, "
            "no "
            "copies, for\n// products that are small or have few rows.";
        body.members = direct_text(text, "@K@", "");
        text.write(recipe, body);
        recipes.push_back(recipe);
    }
    Recipe recipe;
    recipe.strategy.id = "packed_right";
    recipe.strategy.hypothesis =
        "One copy of the right operand gives the tile unit strides where it reads vectors; single "
        "elements of the left one can be read in place.";
    recipe.strategy.bottleneck = "compute";
    recipe.strategy.excludes = {"packed_tiled", "direct_tiled", "dot_products", "row_streaming", "split_inner"};
    recipe.strategy.confidence = 0.6;
    Body body;
    add_direct_choices(text, body);
    body.choices.push_back(text.parallel_min());
    body.entry = text.grid_entry();
    body.about =
        "// A contraction as matrix product: the right operand is copied once into panels of columns, the "
        "left one "
        "is read\n// where it lies.";
    body.choices.push_back({"MC", {"48", "96", "192"}, "96", true});
    body.choices.push_back({"NC", {"256", "1024", "4096"}, "1024", true});
    if (text.right_lies_along_k()) body.helpers.insert("to_lanes");
    body.members = tile_text(text, "@K@", "") + packed_share + pack_text(text);
    text.write(recipe, body);
    recipes.push_back(recipe);
    return recipes;
}

}  // namespace strop::playbook
