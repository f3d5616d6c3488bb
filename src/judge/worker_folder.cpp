#include "judge/worker_folder.h"

#include <ctime>
#include <string>
#include <system_error>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace strop::judge {

namespace fs = std::filesystem;

namespace {

constexpr const char* prefix = "strop-worker";
constexpr const char* lock_name = ".lock";
constexpr time_t youngest = 60;  // seconds: a younger one may be about to be locked

bool is_abandoned(const fs::path& folder) {
    const int lock = ::open((folder / lock_name).c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (lock < 0) return false;
    struct stat about = {};
    const bool abandoned = ::fstat(lock, &about) == 0 && S_ISREG(about.st_mode) && about.st_uid == ::geteuid() &&
                           ::time(nullptr) - about.st_mtime > youngest && ::flock(lock, LOCK_EX | LOCK_NB) == 0;
    ::close(lock);
    return abandoned;
}

void remove_abandoned(const fs::path& where) {
    std::error_code failed;
    for (fs::directory_iterator entry(where, failed), end; !failed && entry != end; entry.increment(failed)) {
        std::error_code ignored;
        if (entry->path().filename().string().starts_with(prefix) && entry->is_directory(ignored) &&
            !entry->is_symlink(ignored) && is_abandoned(entry->path()))
            fs::remove_all(entry->path(), ignored);
    }
}

}  // namespace

WorkerFolder::WorkerFolder()
    : folder_(prefix),
      lock_(::open((folder_.path() / lock_name).c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600)) {
    if (lock_ >= 0) ::flock(lock_, LOCK_EX | LOCK_NB);
    remove_abandoned(folder_.path().parent_path());
}

WorkerFolder::~WorkerFolder() {
    if (lock_ >= 0) ::close(lock_);
}

}  // namespace strop::judge
