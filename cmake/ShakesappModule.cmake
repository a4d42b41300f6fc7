# One target a folder. A module exposes the headers of its include/ folder and
# nothing else, so that an include that docs/ARCHITECTURE.md does not allow does
# not compile.

option(SHAKESAPP_WERROR "Treat compiler warnings as errors" OFF)
set(SHAKESAPP_SANITIZE "" CACHE STRING "Sanitizers to build with, such as address,undefined")
option(SHAKESAPP_COVERAGE "Instrument for gcov" OFF)

# The compiler options of every target of ours.
function(shakesapp_target_options target)
  target_compile_features(${target} PRIVATE c_std_17)
  set_target_properties(${target} PROPERTIES
    C_EXTENSIONS OFF
    C_VISIBILITY_PRESET hidden
    POSITION_INDEPENDENT_CODE ON)
  target_compile_definitions(${target} PRIVATE _GNU_SOURCE)
  target_compile_options(${target} PRIVATE
    -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wmissing-prototypes
    -Wpointer-arith -Wcast-qual -Wvla -Wformat=2 -Wwrite-strings -Wundef
    # Profiles read well: every caller keeps its frame.
    -fno-omit-frame-pointer -fno-optimize-sibling-calls
    $<$<BOOL:${SHAKESAPP_WERROR}>:-Werror>)
  if(SHAKESAPP_SANITIZE)
    target_compile_options(${target} PRIVATE
      -fsanitize=${SHAKESAPP_SANITIZE} -fno-sanitize-recover=all)
    target_link_options(${target} PRIVATE -fsanitize=${SHAKESAPP_SANITIZE})
  endif()
  if(SHAKESAPP_COVERAGE)
    target_compile_options(${target} PRIVATE --coverage)
    target_link_options(${target} PRIVATE --coverage)
  endif()
endfunction()

# shakesapp_module(NAME SOURCES a.c ... [USES public modules] [PRIVATE_USES modules])
# The static library of one folder.
function(shakesapp_module name)
  cmake_parse_arguments(PARSE_ARGV 1 module "" "" "SOURCES;USES;PRIVATE_USES")
  add_library(${name} STATIC ${module_SOURCES})
  shakesapp_target_options(${name})
  target_include_directories(${name} PUBLIC include)
  target_link_libraries(${name} PUBLIC ${module_USES} PRIVATE ${module_PRIVATE_USES})
endfunction()

# shakesapp_program(NAME SOURCES a.c ... USES modules)
# A program, which lies in the build folder's bin/.
function(shakesapp_program name)
  cmake_parse_arguments(PARSE_ARGV 1 program "" "" "SOURCES;USES")
  add_executable(${name} ${program_SOURCES})
  shakesapp_target_options(${name})
  set_target_properties(${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
  target_link_libraries(${name} PRIVATE ${program_USES})
endfunction()
