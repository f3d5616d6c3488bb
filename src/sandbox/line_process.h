// A helper process of ours that speaks one line of text at a time on its standard input and output.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

#include "sandbox/process.h"

namespace strop::sandbox {

class LineProcess {
public:
    enum class Errors { ours, among_output };   // where its standard error goes

    // The process dies with us.
    explicit LineProcess(const std::vector<std::string>& argv, Errors errors = Errors::ours);
    ~LineProcess();
    LineProcess(const LineProcess&) = delete;
    LineProcess& operator=(const LineProcess&) = delete;

    // False when it is gone.
    bool write_line(const std::string& line);
    // False when it ended. `idle` is called a few times a second while waiting; it may throw to give up.
    bool read_line(std::string& line, const std::function<void()>& idle);
    void interrupt();   // SIGINT: it may save its state and end by itself
    // How it ended. Waits for it.
    Finished end();

private:
    pid_t pid_ = -1;
    int in_ = -1, out_ = -1;
    std::string buffer_;
};

}  // namespace strop::sandbox
