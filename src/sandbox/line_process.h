// A helper process of ours that speaks one line of text at a time on its standard input and output.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "sandbox/process.h"

namespace strop::sandbox {

class LineProcess {
public:
    enum class Errors { ours, among_output, kept };  // where its standard error goes; kept: for last_error()

    // The process dies with us.
    explicit LineProcess(const std::vector<std::string>& argv, Errors errors = Errors::ours);
    ~LineProcess();
    LineProcess(const LineProcess&) = delete;
    LineProcess& operator=(const LineProcess&) = delete;

    // False when it is gone. `idle` is called a few times a second while waiting; it may throw to give up.
    bool write_line(const std::string& line, const std::function<void()>& idle = [] {});
    // The same of bytes that are all of its input.
    bool write_all(const std::string& bytes, const std::function<void()>& idle);
    // False when it ended. Of a line without end `longest` bytes at a time are a line.
    bool read_line(std::string& line, const std::function<void()>& idle, size_t longest = SIZE_MAX);
    void interrupt();  // SIGINT: it may save its state and end by itself
    // How it ended. Waits for it.
    Finished end();
    // Its input ends and it has this long to follow, then it is killed.
    Finished end_within(Seconds patience);
    // The last line that is not empty of its standard error so far, where that is kept.
    std::string last_error() const;
    const std::string& errors() const { return errors_; }  // the last of it, where that is kept

private:
    bool write(const std::string& bytes, const std::function<void()>& idle);
    bool take_line(std::string& line, size_t longest);
    // For something to read, or for room to write.
    void wait_for(bool room, const std::function<void()>& idle);
    void keep_errors();

    pid_t pid_ = -1;
    int in_ = -1, out_ = -1, err_ = -1;
    std::string buffer_, errors_;
    size_t searched_ = 0;           // of the buffer, in which there is no line's end
    Clock::time_point idle_again_;  // also while there is always something to read
};

// Runs a program of ours to its end; its errors come among its lines. Once `cancelled` says so (asked a few times a
// second) it is interrupted, and still followed until it ends.
Finished follow(const std::vector<std::string>& argv, const std::function<void(const std::string& line)>& on_line,
                const std::function<bool()>& cancelled);

}  // namespace strop::sandbox
