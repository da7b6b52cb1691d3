# MODE=positive: SOURCE must compile. MODE=negative: SOURCE with NEGATIVE defined must not, for the reasons it expects.
set(define "")
if(MODE STREQUAL "negative")
  set(define -D NEGATIVE)
endif()
function(fail text)
  message(NOTICE "${text}")  # as it is; FATAL_ERROR would wrap it
  message(FATAL_ERROR "failed")
endfunction()

execute_process(COMMAND "${COMPILER}" -std=c++20 -fsyntax-only -I "${INCLUDE}" ${define} "${SOURCE}"
  RESULT_VARIABLE status OUTPUT_VARIABLE said ERROR_VARIABLE said)

if(MODE STREQUAL "positive")
  if(NOT status EQUAL 0)
    fail("${SOURCE} must compile, but does not:\n${said}")
  endif()
  return()
endif()

file(STRINGS "${SOURCE}" expectations ENCODING UTF-8 REGEX "^ *// expect: ")
if(NOT expectations)
  fail("${SOURCE} has no // expect: line")
elseif(status EQUAL 0)
  fail("${SOURCE} compiles, but must not")
endif()
foreach(expectation IN LISTS expectations)
  string(REGEX REPLACE "^ *// expect: " "" text "${expectation}")
  string(FIND "${said}" "${text}" position)
  if(position EQUAL -1)
    fail("${SOURCE}: the compiler did not say '${text}'. It said:\n${said}")
  endif()
endforeach()
