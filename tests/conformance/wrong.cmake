# Services with one defect each: libnnburst again, from the same objects except one source with one text replaced.
# `nnburst-conformance --validate` must find each (wrong.sh).

# nnb_wrong(NAME SUITE RULE SOURCE FROM TO): a library that nnburstd loads instead of its own.
function(nnb_wrong name suite rule source from to)
  set(original ${PROJECT_SOURCE_DIR}/runtime/${source})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${original})
  file(READ ${original} text)
  string(FIND "${text}" "${from}" at)
  if(at EQUAL -1)
    message(FATAL_ERROR "wrong.cmake: the place of ${name} is gone from ${source}: choose one that makes it true again")
  endif()
  string(REPLACE "${from}" "${to}" text "${text}")
  get_filename_component(base ${source} NAME)
  set(planted ${CMAKE_CURRENT_BINARY_DIR}/wrong/${name}/${base})
  file(CONFIGURE OUTPUT ${planted} CONTENT "${text}" @ONLY)
  string(REGEX REPLACE "[.]c$" "" part ${source})
  add_library(wrong_${name} SHARED ${planted} "$<FILTER:$<TARGET_OBJECTS:nnburst>,EXCLUDE,/${part}[.]c[.]o$>")
  target_include_directories(wrong_${name} PRIVATE ${PROJECT_SOURCE_DIR}/runtime ${PROJECT_SOURCE_DIR}/runtime/include)
  target_link_libraries(wrong_${name} PRIVATE $<TARGET_PROPERTY:nnburst,LINK_LIBRARIES>)
  set_target_properties(wrong_${name} PROPERTIES OUTPUT_NAME nnburst VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/wrong/${name})
  set_property(GLOBAL APPEND PROPERTY nnb_wrongs ${suite} ${rule} $<TARGET_FILE:wrong_${name}>)
endfunction()

nnb_wrong(accepts-unwritten model O-11 model/validate.c
  "!notes[o].written)\n\t\t\treturn REFUSED(reason, \"input" "0)\n\t\t\treturn REFUSED(reason, \"input")
nnb_wrong(accepts-any-length request R7 model/request.c "bytes && length != bytes" "bytes && length > bytes && 0")
nnb_wrong(malformed-is-none burst B-18 burst/server.c
  "struct nnb_result result = { .status = NNB_STATUS_GENERAL_FAILURE, .timing" "struct nnb_result result = { .status = NNB_STATUS_NONE, .timing")
nnb_wrong(past-is-transient deadline Q-16 sched/run.c
  "NNB__PASSED:\n\t\treturn deadline_missed(r, terms->deadline_ns, NNB_STATUS_MISSED_DEADLINE_PERSISTENT"
  "NNB__PASSED:\n\t\treturn deadline_missed(r, terms->deadline_ns, NNB_STATUS_MISSED_DEADLINE_TRANSIENT")
nnb_wrong(never-initialised memory M-22 driver/buffer.c "b->initialised = true;" "b->initialised = false;")
nnb_wrong(always-initialised memory M-32 driver/buffer.c "return b->initialised ? NNB_STATUS_NONE"
  "return b->device ? NNB_STATUS_NONE")
nnb_wrong(any-role memory M-20 driver/buffer.c "if (!has_role(b, w->prepared, output, index))" "if (0)")
nnb_wrong(signals-early fence Q-34 service/fenced.c "\t\tnnb__job_execute(j, NULL);" "\t\tnnb_fence_signal(j->fenced->fence, false);\n\t\tnnb__job_execute(j, NULL);")
nnb_wrong(does-not-wait fence Q-32 service/fenced.c "r = nnb__fence_wait(f->wait_for, f->n, until, c->life, f->fence);"
  "r = c->life + until ? NNB_FENCE_SIGNALLED : 0;")

add_library(driver_wrong MODULE conformance/driver_wrong.c)
target_link_libraries(driver_wrong PRIVATE nnbx_driver nnburst burstscope_warnings)
set_target_properties(driver_wrong PROPERTIES PREFIX "" OUTPUT_NAME driver-wrong
  LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
get_property(wrongs GLOBAL PROPERTY nnb_wrongs)
nnb_run(conformance_wrong unit ${CMAKE_CURRENT_SOURCE_DIR}/conformance/wrong.sh
  $<TARGET_FILE:nnburst-conformance> $<TARGET_FILE:nnburstd> $<TARGET_FILE:driver_wrong> $<TARGET_FILE:driver_xnnpack> ${wrongs})
