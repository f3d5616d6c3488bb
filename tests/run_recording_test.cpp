// What a replay reads from a recording.
#include "run/recording.h"

#include <filesystem>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/error.h"

namespace strop {
namespace {

Marks marks_of(const std::string& json, bool with_models = false) {
    auto path = std::filesystem::temp_directory_path() / fmt::format("strop_marks_{}.db", getpid());
    std::filesystem::remove(path);
    Marks marks;
    {
        Store store(path);
        RunRecord record;
        record.run = "softmax-1";
        record.problem = "softmax";
        store.save_run(record);
        store.add_document(record.run, marks_key, json);
        try {
            marks = load_marks(store, record.run, with_models);
        } catch (...) {
            std::filesystem::remove(path);
            throw;
        }
    }
    std::filesystem::remove(path);
    return marks;
}

TEST(Recording, OneDispatchMarkIsAListOfOne) {
    Marks marks = marks_of(R"({"search_looks": 7, "dispatch_comparisons": 3, "held_out_comparisons": 2})");
    EXPECT_EQ(marks.search_looks, 7);
    EXPECT_THAT(marks.dispatch_comparisons, testing::ElementsAre(3));
    EXPECT_EQ(marks.held_out_comparisons, 2);
}

TEST(Recording, HasOneMarkForEachDispatch) {
    Marks marks = marks_of(R"({"search_looks": 7, "dispatch_comparisons": [3, 5], "held_out_comparisons": 2})");
    EXPECT_THAT(marks.dispatch_comparisons, testing::ElementsAre(3, 5));
    EXPECT_EQ(marks.comparisons_of_dispatch(1), 5);
    EXPECT_THROW((void)marks.comparisons_of_dispatch(2), UsageError);
}

TEST(Recording, WithoutLooksIsTooOld) {
    EXPECT_THROW(marks_of(R"({"evaluations": 7, "dispatch_comparisons": 3, "held_out_comparisons": 2})"), UsageError);
}

TEST(Recording, OfASearchThatWaitedForItsModelsIsTooOld) {
    const std::string old = R"({"search_looks": 7, "dispatch_comparisons": 3, "held_out_comparisons": 2)";
    EXPECT_THROW(marks_of(old + "}", true), UsageError);
    EXPECT_EQ(marks_of(old + R"(, "replies_in_order": true})", true).search_looks, 7);
}

}  // namespace
}  // namespace strop
