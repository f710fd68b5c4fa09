# Tests of the viewer. Included by CMakeLists.txt.
set(viewer ${PROJECT_SOURCE_DIR}/viewer-cli)
set(render ${viewer}/render)
set(screen ${viewer}/answer/screen.c)

# viewer_unit(NAME SOURCE...): unit/test_NAME.c, with files of the viewer; where there is an analyzer.
function(viewer_unit name)
  nnb_test(test_${name} unit unit/test_${name}.c ${ARGN})
  target_include_directories(test_${name} PRIVATE ${viewer} ${PROJECT_BINARY_DIR}/viewer-cli)
  target_link_libraries(test_${name} PRIVATE bsa m)
  add_dependencies(test_${name} burstscope) # which makes reports.h
endfunction()

# viewer_test(NAME SCRIPT ARG...): a script that is given the program and what makes traces of text.
function(viewer_test name script)
  add_test(NAME ${name} COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/${script} $<TARGET_FILE:burstscope>
    $<TARGET_FILE:trace_from_text> ${ARGN})
  set_tests_properties(${name} PROPERTIES LABELS e2e SKIP_RETURN_CODE 77)
  nnb_reads_traces(${name})
endfunction()

# ---- parts: what it is made of, without a database ----
if(TARGET burstscope)
  set(rows ${viewer}/answer/rows.c ${viewer}/answer/template.c)
  set(rendered ${screen} ${rows} ${render}/render.c ${render}/scale.c)
  viewer_unit(screen ${rendered} ${render}/table.c ${render}/json.c ${render}/csv.c)
  viewer_unit(options ${rendered} ${viewer}/options/options.c ${viewer}/options/nearest.c)
  viewer_unit(rows analyzer/stored.c ${rows})
  target_link_libraries(test_rows PRIVATE bsa_store bsa_fold PkgConfig::SQLITE3)
  viewer_unit(verdicts ${viewer}/audit/verdicts.c ${screen})
  viewer_unit(explained ${render}/explained.c ${render}/explained_bars.c ${render}/explained_ledger.c ${render}/bars.c
    ${render}/cells.c ${viewer}/audit/causes.c ${screen})
  viewer_unit(timeline ${render}/timeline.c ${render}/timeline_draw.c ${render}/axis.c ${render}/tally.c ${render}/bars.c
    ${render}/cells.c ${screen})
endif()

# ---- compared: recordings with recordings, and with rules ----
if(TARGET burstscope)
  viewer_unit(stats ${viewer}/stats/bootstrap.c ${viewer}/stats/compare.c ${viewer}/stats/group.c ${viewer}/stats/order.c)
  viewer_unit(slo ${viewer}/slo/judge.c ${viewer}/slo/junit.c ${viewer}/slo/rules.c ${viewer}/stats/group.c
    ${viewer}/options/nearest.c ${screen})
  target_compile_definitions(test_slo PRIVATE EXAMPLES="${PROJECT_SOURCE_DIR}/docs/examples"
    MANUAL="${PROJECT_SOURCE_DIR}/docs/man/burstscope-slo.5")
  nnb_fuzz(fuzz_slo 4096 -dict=${CMAKE_CURRENT_SOURCE_DIR}/fuzz/slo.dict)
  if(TARGET fuzz_slo)
    target_sources(fuzz_slo PRIVATE ${viewer}/slo/rules.c ${viewer}/stats/group.c ${viewer}/options/nearest.c)
    target_include_directories(fuzz_slo PRIVATE ${viewer})
    target_link_libraries(fuzz_slo PRIVATE bsa m)
  endif()
endif()

# ---- recorded: through the provider and LTTng, which no sanitizer knows ----
if(TARGET burstscope)
  viewer_unit(recording ${viewer}/record/packets.c ${viewer}/record/sizing.c)
endif()
if(TARGET burstscope AND NNB_TRACING AND NOT BURSTSCOPE_SANITIZE)
  nnb_e2e(record burstscope $<TARGET_FILE:nnburst-load> $<TARGET_FILE:many_streams> $<TARGET_FILE:nbt_provider>)
  nnb_e2e(doctor burstscope $<TARGET_FILE:many_streams> $<TARGET_FILE:nbt_provider>)
  nnb_e2e(demo burstscope)
endif()

# ---- answers: about traces that never change, and to mistakes ----
if(TARGET burstscope)
  add_executable(json_schema viewer/json_schema.c)
  target_link_libraries(json_schema PRIVATE PkgConfig::JANSSON burstscope_warnings)
  viewer_test(viewer_golden golden/golden.sh $<TARGET_FILE:json_schema>)
  viewer_test(viewer_agree golden/agree.sh)
  viewer_test(viewer_figures e2e/figures.sh)
  viewer_test(viewer_diff e2e/diff.sh ${CMAKE_CURRENT_SOURCE_DIR}/golden)
  viewer_test(viewer_drawn e2e/drawn.sh)
  viewer_test(viewer_errors e2e/viewer_errors.sh)
  viewer_test(viewer_input e2e/viewer_input.sh)
  viewer_test(viewer_terminal e2e/terminal.sh)
  add_test(NAME viewer_complete COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/e2e/complete.sh $<TARGET_FILE:burstscope>
    ${PROJECT_BINARY_DIR}/viewer-cli/made $<TARGET_FILE:trace_from_text> ${CMAKE_CURRENT_SOURCE_DIR}/golden/unfair.trace)
  set_tests_properties(viewer_complete PROPERTIES LABELS e2e SKIP_RETURN_CODE 77)
  nnb_rule(pages pages.sh $<TARGET_FILE:burstscope> ${PROJECT_SOURCE_DIR})
  nnb_rule(shown shown.sh $<TARGET_FILE:burstscope> ${PROJECT_SOURCE_DIR})
endif()
if(TARGET burstscope AND NNB_TRACING AND NOT BURSTSCOPE_SANITIZE)
  nnb_e2e(check_ci burstscope $<TARGET_FILE:nnburst-load>)
  nnb_e2e(diagnosis burstscope $<TARGET_FILE:nnburst-load>)
endif()
