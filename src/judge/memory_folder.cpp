#include "judge/memory_folder.h"

#include <cstdio>
#include <cstring>

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"

namespace strop::judge {

namespace {

int make_folder() {
    int context = ::fsopen("tmpfs", FSOPEN_CLOEXEC);
    if (context < 0) return -1;
    bool configured = ::fsconfig(context, FSCONFIG_SET_STRING, "huge", "within_size", 0) == 0 &&
                      ::fsconfig(context, FSCONFIG_SET_STRING, "size", "0", 0) == 0 &&  // no limit of its own
                      ::fsconfig(context, FSCONFIG_SET_STRING, "mode", "0700", 0) == 0 &&
                      ::fsconfig(context, FSCONFIG_CMD_CREATE, nullptr, nullptr, 0) == 0;
    int folder = configured ? ::fsmount(context, FSMOUNT_CLOEXEC, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV) : -1;
    ::close(context);
    return folder;
}

bool write_text(const char* path, const char* text) {
    int fd = ::open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0) return false;
    bool written = ::write(fd, text, std::strlen(text)) == static_cast<ssize_t>(std::strlen(text));
    ::close(fd);
    return written;
}

// In the child: only system calls, for the parent may have threads.
bool enter_name_spaces(const char* users, const char* groups) {
    return ::unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0 && write_text("/proc/self/setgroups", "deny") &&
           write_text("/proc/self/uid_map", users) && write_text("/proc/self/gid_map", groups);
}

union Control {
    char bytes[CMSG_SPACE(sizeof(int))];
    cmsghdr align;
};

msghdr message(iovec& part, Control& control) {
    msghdr head = {};
    head.msg_iov = &part;
    head.msg_iovlen = 1;
    head.msg_control = control.bytes;
    head.msg_controllen = sizeof control.bytes;
    return head;
}

void send_descriptor(int socket, int fd) {
    char byte = 0;
    iovec part = {&byte, 1};
    Control control = {};
    msghdr head = message(part, control);
    cmsghdr* entry = CMSG_FIRSTHDR(&head);
    entry->cmsg_level = SOL_SOCKET;
    entry->cmsg_type = SCM_RIGHTS;
    entry->cmsg_len = CMSG_LEN(sizeof fd);
    std::memcpy(CMSG_DATA(entry), &fd, sizeof fd);
    (void)::sendmsg(socket, &head, MSG_NOSIGNAL);
}

int receive_descriptor(int socket) {
    char byte;
    iovec part = {&byte, 1};
    Control control = {};
    msghdr head = message(part, control);
    if (::recvmsg(socket, &head, MSG_CMSG_CLOEXEC) <= 0) return -1;
    cmsghdr* entry = CMSG_FIRSTHDR(&head);
    if (!entry || entry->cmsg_type != SCM_RIGHTS) return -1;
    int fd;
    std::memcpy(&fd, CMSG_DATA(entry), sizeof fd);
    return fd;
}

int make_folder_in_a_child() {
    char users[64], groups[64];
    std::snprintf(users, sizeof users, "%u %u 1", ::getuid(), ::getuid());
    std::snprintf(groups, sizeof groups, "%u %u 1", ::getgid(), ::getgid());
    int sockets[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) return -1;
    pid_t child = ::fork();
    if (child == 0) {
        int folder = enter_name_spaces(users, groups) ? make_folder() : -1;
        if (folder >= 0) send_descriptor(sockets[1], folder);
        ::_exit(0);
    }
    ::close(sockets[1]);
    int folder = child < 0 ? -1 : receive_descriptor(sockets[0]);
    ::close(sockets[0]);
    if (child > 0) ::waitpid(child, nullptr, 0);
    return folder;
}

// Some systems allow the mount and not the file.
bool usable(int folder) {
    int fd = ::openat(folder, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd < 0) return false;
    ::close(fd);
    return true;
}

}  // namespace

int memory_folder() {
    static const int folder = [] {
        int made = make_folder();
        if (made < 0) made = make_folder_in_a_child();
        if (made >= 0 && usable(made)) return made;
        spdlog::info("no file system of our own in memory: buffers come from small pages");
        if (made >= 0) ::close(made);
        return -1;
    }();
    return folder;
}

}  // namespace strop::judge
