// Control groups that limit the number of threads of one child: for who may make them, which is mostly root.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

namespace strop::sandbox {

// Of this name space of processes: of a group of another one, nobody here knows whether its owner lives.
std::string prefix_of_groups();
// Those that processes which were killed have left in that folder.
void remove_abandoned_groups(const std::filesystem::path& parent);

class ControlGroup {
public:
    // Null when the system permits none.
    static std::unique_ptr<ControlGroup> make(int most_threads);
    ~ControlGroup();  // when who was in it has ended
    ControlGroup(const ControlGroup&) = delete;
    ControlGroup& operator=(const ControlGroup&) = delete;

    // In a child with one thread: it belongs to the group from now on, and what it starts. Async-signal-safe.
    bool enter() const;

private:
    ControlGroup() = default;
    std::string folder_;
    int members_ = -1;
};

}  // namespace strop::sandbox
