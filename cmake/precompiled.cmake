# Headers of libraries that most sources include, precompiled once: half of what a source costs to compile. Those of
# Strop itself are not among them, so that each source still shows that its own headers are complete.

set(STROP_PRECOMPILED
  <algorithm> <chrono> <filesystem> <functional> <map> <memory> <optional> <set> <sstream> <string> <variant> <vector>
  <fmt/format.h> <nlohmann/json.hpp>)

# Of templates in a precompiled header clang does not know that the system's own headers instantiate them, and warns.
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  add_compile_options(-Wno-deprecated-declarations)
endif()

# `name`: an empty library that others reuse. Options that change what a header says have to be theirs as well.
function(strop_precompiled name)
  cmake_parse_arguments(arg "" "" "HEADERS;LIBRARIES;OPTIONS" ${ARGN})
  file(GENERATE OUTPUT ${CMAKE_BINARY_DIR}/${name}.cpp CONTENT "")
  add_library(${name} OBJECT ${CMAKE_BINARY_DIR}/${name}.cpp)
  target_link_libraries(${name} PRIVATE fmt::fmt spdlog::spdlog nlohmann_json::nlohmann_json ${arg_LIBRARIES})
  target_compile_options(${name} PRIVATE ${arg_OPTIONS})
  target_precompile_headers(${name} PRIVATE ${STROP_PRECOMPILED} ${arg_HEADERS})
endfunction()

strop_precompiled(strop_precompiled)
if(CMAKE_BUILD_TYPE STREQUAL "Debug")
  strop_precompiled(strop_precompiled_computing OPTIONS -O1)
endif()
