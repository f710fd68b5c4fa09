# embed.cmake -- the page's parts into a header and a C file: cmake -D OUT=DIR -D FROM=DIR -P embed.cmake MODULE...
# The modules become one script: what they import from one another is in it, so that import and export go away. The policy of
# the page allows the script and the style by their hashes.
set(script "'use strict';\n(() => {\n")
set(started NO)
math(EXPR last "${CMAKE_ARGC} - 1")
foreach(i RANGE ${last})
  set(file "${CMAKE_ARGV${i}}")
  if(started)
    file(READ "${FROM}/${file}" text)
    string(REGEX REPLACE "\nimport [^;]*;" "" text "\n${text}")
    string(REGEX REPLACE "\nexport " "\n" text "${text}")
    string(APPEND script "${text}")
  elseif(file MATCHES "embed\\.cmake$")
    set(started YES)
  endif()
endforeach()
string(APPEND script "})();\n")
file(WRITE ${OUT}/page.js "${script}")

set(head "/* Made from report/page/ by embed.cmake. */\n#pragma once\n\n#include <stddef.h>\n\n")
set(source "/* Made from report/page/ by embed.cmake. */\n#include \"page.h\"\n")
foreach(part script=${OUT}/page.js style=${FROM}/page.css body=${FROM}/page.html)
  string(REGEX REPLACE "=.*" "" name "${part}")
  string(REGEX REPLACE "^[^=]*=" "" file "${part}")
  file(READ ${file} bytes HEX)
  file(SHA256 ${file} hash)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
  string(APPEND head "extern const unsigned char bsv_page_${name}[];\nextern const size_t bsv_page_${name}_size;\n"
    "extern const char bsv_page_${name}_sha256[];\n")
  string(APPEND source "\nconst unsigned char bsv_page_${name}[] = { ${bytes} };\n"
    "const size_t bsv_page_${name}_size = sizeof(bsv_page_${name});\n"
    "const char bsv_page_${name}_sha256[] = \"${hash}\";\n")
endforeach()
file(WRITE ${OUT}/page.h "${head}")
file(WRITE ${OUT}/page.c "${source}")
