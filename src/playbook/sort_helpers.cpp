// Functions that sort rows, for plain loops.
#include <algorithm>
#include <string>

#include "playbook/plain_loops.h"

namespace strop::playbook {

namespace {

// Stable sorting by the bytes of a key from the lowest on (Knuth, volume 3, 5.2.5); what is sorted is first cut down to
// what is read, by the bits of the bounds' keys from the highest on.
constexpr const char* common = R"(
template <class T>
using Bits = std::conditional_t<sizeof(T) == 8, uint64_t,
                                std::conditional_t<sizeof(T) == 4, uint32_t,
                                                   std::conditional_t<sizeof(T) == 2, uint16_t, uint8_t>>>;

// An unsigned number for each number, in the numbers' order; and back.
template <bool descending, class T> static inline Bits<T> sorting_key(T value) {
    constexpr Bits<T> sign = (Bits<T>)1 << (8 * sizeof(T) - 1);
    Bits<T> key = __builtin_bit_cast(Bits<T>, value);
    if constexpr (!std::is_integral_v<T>) key = key & sign ? ~key : key | sign;
    else if constexpr (std::is_signed_v<T>) key ^= sign;
    return descending ? ~key : key;
}
template <bool descending, class T> static inline T from_sorting_key(Bits<T> key) {
    constexpr Bits<T> sign = (Bits<T>)1 << (8 * sizeof(T) - 1);
    if (descending) key = ~key;
    if constexpr (!std::is_integral_v<T>) key = key & sign ? key ^ sign : ~key;
    else if constexpr (std::is_signed_v<T>) key ^= sign;
    return __builtin_bit_cast(T, key);
}

template <class Key> struct Placed {
    Key key;
    uint32_t place;
};
template <class Key> static inline Key key_of(Key key) { return key; }
template <class Key> static inline Key key_of(Placed<Key> placed) { return placed.key; }

// Room for a row, until the next one.
template <class T, int which = 0> __attribute__((noinline)) static T* sorting_row(int64_t count) {
    static thread_local struct Row {
        std::unique_ptr<T[]> elements;
        int64_t size = 0;
    } row;
    if (row.size < count) row = {std::unique_ptr<T[]>(new T[count]), count};
    return row.elements.get();
}

// So few that each is compared with each.
template <class Key> constexpr int64_t few = sizeof(Key) <= 4 ? 128 : 64;

// Whether it is quicker to leave out first what is not read.
template <class Key> static inline bool is_worth_a_cut(int64_t count, int64_t wanted) {
    return wanted < count && count > (4 * wanted < count ? 32 : few<Key>);
}

// Two keys between which, or at which, the key of this place is, and at most 15 others, but for ones that are equal.
template <class Key> struct Bounds {
    Key low, high;
};
template <class Key> static Bounds<Key> bounds_of(const Key* keys, int64_t count, int64_t place) {
    Bounds<Key> bounds = {0, (Key)~(Key)0};
    int64_t before = 0, within = count;
    for (int bit = 8 * sizeof(Key) - 1; bit >= 0 && within - before > 16; --bit) {
        const Key tried = bounds.low | (Key)(((Key)1 << bit) - 1);
        uint32_t not_above = 0;
        for (int64_t i = 0; i < count; ++i) not_above += keys[i] <= tried;
        if (not_above > place) bounds.high = tried, within = not_above;
        else bounds.low = tried + 1, before = not_above;
    }
    return bounds;
}

// Of a few keys, how many come before each; of equal ones the first comes first.
template <class Key> static void count_before(const Key* keys, int64_t count, Key* before) {
    typedef Key Lanes __attribute__((vector_size(16 * sizeof(Key))));
    Lanes lane;
    for (int i = 0; i < 16; ++i) lane[i] = (Key)i;
    for (int64_t block = 0; block < count; block += 16) {
        Lanes ours, less = {};
        __builtin_memcpy(&ours, keys + block, sizeof ours);
        int64_t k = 0;
        for (; k < block; ++k) less = Lanes{} + keys[k] <= ours ? less + 1 : less;
        for (; k < count && k < block + 16; ++k) {
            const Lanes key = Lanes{} + keys[k], place = Lanes{} + (Key)(k - block);
            less = (key < ours) | ((key == ours) & (place < lane)) ? less + 1 : less;
        }
        for (; k < count; ++k) less = Lanes{} + keys[k] < ours ? less + 1 : less;
        __builtin_memcpy(before + block, &less, sizeof less);
    }
}

// By their keys, of equal ones the first first, in one of the two arrays. Few go each to the number of those before it;
// more are sorted byte by byte, from the lowest.
template <class Item> static Item* in_order(Item* items, Item* other, int64_t count) {
    typedef decltype(key_of(*items)) Key;
    if (count <= few<Key>) {
        Key keys[few<Key>], before[few<Key>];
        for (int64_t i = 0; i < count; ++i) keys[i] = key_of(items[i]);
        count_before(keys, count, before);
        for (int64_t i = 0; i < count; ++i) other[before[i]] = items[i];
        return other;
    }
    uint32_t counts[sizeof(Key)][256] = {};
    for (int64_t i = 0; i < count; ++i)
        for (unsigned byte = 0; byte < sizeof(Key); ++byte) ++counts[byte][key_of(items[i]) >> 8 * byte & 255];
    for (unsigned byte = 0; byte < sizeof(Key); ++byte) {
        if (counts[byte][key_of(items[0]) >> 8 * byte & 255] == count) continue;
        uint32_t begin = 0;
        for (uint32_t& one : counts[byte]) {
            const uint32_t length = one;
            one = begin;
            begin += length;
        }
        for (int64_t i = 0; i < count; ++i) other[counts[byte][key_of(items[i]) >> 8 * byte & 255]++] = items[i];
        std::swap(items, other);
    }
    return items;
}
)";

constexpr const char* placed = R"(
// The first `limit` elements of a row in their order, with their places; both zeros are equal.
template <bool descending, class T>
__attribute__((noinline)) static const Placed<Bits<T>>* first_in_order(const T* row, int64_t count, int64_t limit) {
    typedef Bits<T> Key;
    Key* const keys = sorting_row<Key, 1>(count);
    Placed<Key>* const items = sorting_row<Placed<Key>, 1>(count);
    for (int64_t i = 0; i < count; ++i) keys[i] = sorting_key<descending>(row[i] == 0 ? (T)0 : row[i]);
    int64_t kept = 0;
    const bool cut = is_worth_a_cut<Key>(count, limit);
    const Key last = cut ? bounds_of(keys, count, limit - 1).high : (Key)~(Key)0;
    for (int64_t i = 0; i < count; ++i) {
        items[kept] = {keys[i], (uint32_t)i};
        kept += keys[i] <= last;
    }
    return in_order(items, sorting_row<Placed<Key>, 2>(count), kept);
}
)";

constexpr const char* order_in = R"(
// Where the first `limit` elements of the row's order are; of equal ones the first comes first.
template <bool descending, class T>
static void order_in(const T* row, int64_t count, int64_t limit, int64_t* order) {
    const auto* const items = first_in_order<descending>(row, count, limit);
    for (int64_t i = 0; i < limit; ++i) order[i] = items[i].place;
}
)";

constexpr const char* places_in = R"(
// The place of each element in the row's order; of equal ones the first comes first.
template <bool descending, class T> static void places_in(const T* row, int64_t count, int64_t* places) {
    const auto* const items = first_in_order<descending>(row, count, count);
    for (int64_t i = 0; i < count; ++i) places[items[i].place] = i;
}
)";

constexpr const char* sorted_in = R"(
// The elements from `begin` to `end` of the row's order.
template <bool descending, class T>
__attribute__((noinline)) static void sorted_in(const T* row, int64_t count, int64_t begin, int64_t end, T* sorted) {
    typedef Bits<T> Key;
    Key* const keys = sorting_row<Key, 1>(count);
    for (int64_t i = 0; i < count; ++i) keys[i] = sorting_key<descending>(row[i]);
    const bool cut = is_worth_a_cut<Key>(count, end - begin);
    Bounds<Key> read = {0, (Key)~(Key)0};
    if (cut && begin > 0) read = bounds_of(keys, count, begin);
    if (cut && (begin == 0 || end - begin > 1)) read.high = bounds_of(keys, count, end - 1).high;
    int64_t before = 0, kept = 0;
    for (int64_t i = 0; i < count; ++i) {
        const Key key = keys[i];
        keys[kept] = key;
        before += key < read.low;
        kept += (key >= read.low) & (key <= read.high);
    }
    const Key* const ordered = in_order(keys, sorting_row<Key, 2>(count), kept);
    for (int64_t i = begin; i < end; ++i) sorted[i - begin] = from_sorting_key<descending, T>(ordered[i - before]);
}
)";

}  // namespace

bool has_sort(const std::set<std::string>& used) {
    return used.contains("order_in") || used.contains("places_in") || used.contains("sorted_in");
}

std::string sort_helpers(const std::set<std::string>& used) {
    if (!has_sort(used)) return "";
    std::string text = common;
    if (used.contains("order_in") || used.contains("places_in")) text += placed;
    if (used.contains("order_in")) text += order_in;
    if (used.contains("places_in")) text += places_in;
    if (used.contains("sorted_in")) text += sorted_in;
    return text;
}

}  // namespace strop::playbook
