// One function a command, each in the file of its name; the result is the exit code.
#pragma once

#include "cli/flags.h"

namespace strop::cli {

int command_optimize(const Arguments& arguments);
int command_judge(const Arguments& arguments);
int command_check(const Arguments& arguments);
int command_compare(const Arguments& arguments);
int command_profile(const Arguments& arguments);
int command_suggest(const Arguments& arguments);
int command_tune(const Arguments& arguments);
int command_import(const Arguments& arguments);
int command_write(const Arguments& arguments);
int command_translate(const Arguments& arguments);
int command_list(const Arguments& arguments);
int command_runs(const Arguments& arguments);
int command_query(const Arguments& arguments);
int command_knowledge(const Arguments& arguments);
int command_learn(const Arguments& arguments);
int command_show(const Arguments& arguments);
int command_report(const Arguments& arguments);
int command_export(const Arguments& arguments);
int command_resume(const Arguments& arguments);
int command_doctor(const Arguments& arguments);
int command_setup(const Arguments& arguments);
int command_completion(const Arguments& arguments);
int command_man(const Arguments& arguments);
int command_help(const Arguments& arguments);
int command_serve(const Arguments& arguments);
int command_mcp(const Arguments& arguments);
int command_worker(const Arguments& arguments);

}  // namespace strop::cli
