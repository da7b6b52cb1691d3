# Counts what HEADER preprocesses to with -E: every line except blank ones and # markers. Fails above LIMIT.
set(probe "#include <${HEADER}>")
execute_process(
  COMMAND "${CMAKE_COMMAND}" -E echo "${probe}"
  COMMAND "${COMPILER}" -std=c++20 -I "${INCLUDE}" -E -x c++ -
  COMMAND grep -c "^[[:space:]]*[^#[:space:]]"
  RESULTS_VARIABLE results OUTPUT_VARIABLE lines ERROR_VARIABLE errors OUTPUT_STRIP_TRAILING_WHITESPACE)
if(NOT results STREQUAL "0;0;0")
  message(FATAL_ERROR "cannot preprocess ${HEADER}:\n${errors}")
elseif(lines GREATER LIMIT)
  message(NOTICE "${HEADER} preprocesses to ${lines} lines, more than the budget of ${LIMIT}")
  message(FATAL_ERROR "failed")
endif()
message(STATUS "${HEADER} preprocesses to ${lines} lines; the budget is ${LIMIT}")
