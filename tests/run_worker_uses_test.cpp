// Who measured, over the parts of a run that was stopped.
#include "run/worker_uses.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace strop {
namespace {

TEST(WorkerUses, AddUpOverTheParts) {
    const std::vector<WorkerUse> all =
        joined({{"a", 2, 8, 1, "no route"}, {"b", 1, 4, 0, "gone"}}, {{"a", 3, 12, 1, ""}, {"c", 1, 4, 0, ""}});
    ASSERT_EQ(all.size(), 3u);
    EXPECT_EQ(all[0].batches, 5);
    EXPECT_EQ(all[0].evaluations, 20);
    EXPECT_EQ(all[0].losses, 2);
    EXPECT_EQ(all[0].dropped, "");  // it is there again
    EXPECT_EQ(all[1].dropped, "gone");
    EXPECT_EQ(all[2].name, "c");
}

TEST(WorkerUses, SettingsHaveAllCommandsAndKeepTheBatches) {
    RunSettings settings;
    settings.batch_workers = 7;
    note_workers({{"ssh a", "ssh b"}, {}}, settings);
    EXPECT_EQ(settings.worker, "ssh a");
    EXPECT_THAT(settings.other_workers, testing::ElementsAre("ssh b"));
    note_workers({}, settings);
    EXPECT_EQ(settings.worker, "");
    EXPECT_THAT(settings.other_workers, testing::IsEmpty());
    EXPECT_EQ(settings.batch_workers, 7);
}

}  // namespace
}  // namespace strop
