# Runs PROGRAM ARGUMENT in a scratch folder; what it prints must be EXPECTED, byte for byte. Without ARGUMENT it may not
# crash.
cmake_path(GET PROGRAM FILENAME name)
set(scratch "${CMAKE_CURRENT_BINARY_DIR}/scratch/${name}")
file(MAKE_DIRECTORY "${scratch}")
execute_process(COMMAND "${PROGRAM}" "${ARGUMENT}" WORKING_DIRECTORY "${scratch}"
  RESULT_VARIABLE status OUTPUT_FILE "${scratch}/stdout.txt")
if(NOT status EQUAL 0)
  message(FATAL_ERROR "${name} ended with ${status}")
endif()
# Started by hand, without the argument: it may ask for one, it may not crash.
execute_process(COMMAND "${PROGRAM}" WORKING_DIRECTORY "${scratch}" RESULT_VARIABLE alone OUTPUT_QUIET ERROR_VARIABLE said)
if(NOT alone MATCHES "^[012]$")
  message(FATAL_ERROR "${name} without an argument ended with ${alone}")
elseif(NOT alone EQUAL 0 AND said STREQUAL "")
  message(FATAL_ERROR "${name} without an argument failed without a word")
endif()
if(DEFINED ENV{UPDATE_GOLDEN})
  file(COPY_FILE "${scratch}/stdout.txt" "${EXPECTED}")
  return()
endif()
execute_process(COMMAND "${CMAKE_COMMAND}" -E compare_files "${scratch}/stdout.txt" "${EXPECTED}"
  RESULT_VARIABLE different ERROR_QUIET)
if(different)
  execute_process(COMMAND diff -u "${EXPECTED}" "${scratch}/stdout.txt")
  message(FATAL_ERROR "${name} printed something else than ${EXPECTED}; UPDATE_GOLDEN=1 accepts it")
endif()
