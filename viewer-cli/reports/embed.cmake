# embed.cmake -- SQL into a header and a C file: cmake -D OUT=DIR -P embed.cmake FILE...
# reports/NAME.sql becomes the string bsv_sql_NAME: NAME has letters, digits and _ in it. bsv_reports has them all, in order.
# reports/parts/NAME.sql becomes bsv_sql_NAME, too, without the comment at its beginning and the end of its last line, because it may stand within a
# query that people see; bsv_reports does not have it.
# reports/fragments/FILE.sql has several of them, each after the line "-- NAME: comment", and each ending where the next one begins.
file(WRITE ${OUT}/reports.h.new "/* Made from reports/ by embed.cmake. */\n#pragma once\n
struct bsv_named_sql {\n\tconst char *name, *text;\n};\n\n/* A row with a NULL name ends it. */\nextern const struct bsv_named_sql bsv_reports[];\n\n")
file(WRITE ${OUT}/reports.c.new "/* Made from reports/ by embed.cmake. */\n#include \"reports.h\"\n\n#include <stddef.h>\n")
set(started NO)

# Declare and define the string bsv_sql_NAME.
function(embed name sql)
  string(REPLACE "\\" "\\\\" sql "${sql}")
  string(REPLACE "\"" "\\\"" sql "${sql}")
  string(REPLACE "\n" "\\n\"\n\t\"" sql "${sql}")
  file(APPEND ${OUT}/reports.h.new "extern const char bsv_sql_${name}[];\n")
  file(APPEND ${OUT}/reports.c.new "\nconst char bsv_sql_${name}[] =\n\t\"${sql}\";\n")
endfunction()

# Each of the fragments in @sql, the text of @file.
function(embed_fragments file sql)
  while(sql MATCHES "^-- ([a-z0-9_]+): [^\n]*\n(--[^\n]*\n)*(([^-\n][^\n]*\n)+)(.*)$")
    set(name "${CMAKE_MATCH_1}")
    set(sql "${CMAKE_MATCH_5}")
    string(REGEX REPLACE "\n$" "" text "${CMAKE_MATCH_3}")
    embed("${name}" "${text}")
  endwhile()
  if(NOT sql STREQUAL "")
    message(FATAL_ERROR "${file}: no fragment begins here: ${sql}")
  endif()
endfunction()

set(rows "")
math(EXPR last "${CMAKE_ARGC} - 1")
foreach(i RANGE ${last})
  set(file "${CMAKE_ARGV${i}}")
  if(started)
    get_filename_component(name "${file}" NAME_WE)
    file(READ "${file}" sql)
    if(file MATCHES "/fragments/[^/]*$")
      embed_fragments("${file}" "${sql}")
      continue()
    endif()
    if(file MATCHES "/parts/[^/]*$")
      string(REGEX REPLACE "^(--[^\n]*\n)+" "" sql "${sql}")
      string(REGEX REPLACE "\n$" "" sql "${sql}")
    endif()
    embed("${name}" "${sql}")
    if(NOT file MATCHES "/parts/[^/]*$")
      string(APPEND rows "\t{ \"${name}\", bsv_sql_${name} },\n")
    endif()
  elseif(file MATCHES "embed\\.cmake$")
    set(started YES)
  endif()
endforeach()
file(APPEND ${OUT}/reports.c.new "\nconst struct bsv_named_sql bsv_reports[] = {\n${rows}\t{ NULL, NULL },\n};\n")
file(RENAME ${OUT}/reports.h.new ${OUT}/reports.h)
file(RENAME ${OUT}/reports.c.new ${OUT}/reports.c)
