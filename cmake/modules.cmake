# One static library a folder of src/, one test program a module.

set(STROP_LAYERS ${CMAKE_SOURCE_DIR}/cmake/layers.txt)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${STROP_LAYERS})

# The modules that a module may use, in `result`.
function(strop_layers_below name result)
  file(STRINGS ${STROP_LAYERS} row REGEX "^${name}:")
  if(NOT row)
    message(FATAL_ERROR "cmake/layers.txt has no row of ${name}")
  endif()
  string(REGEX REPLACE "^${name}: *" "" modules "${row}")
  string(REPLACE " " ";" modules "${modules}")
  set(${result} ${modules} PARENT_SCOPE)
endfunction()

function(strop_module name)
  cmake_parse_arguments(arg "" "" "LIBRARIES" ${ARGN})
  strop_layers_below(${name} modules)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${name}/*.cpp)
  list(FILTER sources EXCLUDE REGEX "_main\\.cpp$|processor_state|thread_state|cache_lines")  # of programs or architectures
  if(NOT sources)
    add_library(strop_${name} INTERFACE)
    set(kind INTERFACE)
  else()
    add_library(strop_${name} STATIC ${sources})
    set(kind PUBLIC)
  endif()
  target_include_directories(strop_${name} ${kind} ${CMAKE_SOURCE_DIR}/src)
  foreach(module ${modules})
    target_link_libraries(strop_${name} ${kind} strop_${module})
  endforeach()
  target_link_libraries(strop_${name} ${kind} ${arg_LIBRARIES})
  set_property(GLOBAL APPEND PROPERTY strop_modules ${name})
endfunction()

# tests/MODULE_*_test.cpp or tests/MODULE_test.cpp become the program test_MODULE.
function(strop_tests)
  get_property(modules GLOBAL PROPERTY strop_modules)
  foreach(module ${modules})
    file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/${module}_test.cpp
                                        ${CMAKE_SOURCE_DIR}/tests/${module}_*_test.cpp)
    if(sources)
      add_executable(test_${module} ${sources})
      target_include_directories(test_${module} PRIVATE ${CMAKE_SOURCE_DIR}/tests)
      target_link_libraries(test_${module} PRIVATE strop_${module} GTest::gtest_main GTest::gmock)
      target_compile_definitions(test_${module} PRIVATE STROP_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
      target_compile_options(test_${module} PRIVATE -O0)  # a third less to compile, and nothing in them takes long
      add_test(NAME ${module} COMMAND test_${module})
      set_tests_properties(${module} PROPERTIES ENVIRONMENT "STROP_HOME=${CMAKE_SOURCE_DIR}" TIMEOUT 1200)
    endif()
  endforeach()
endfunction()
