# Tests of the viewer. Included by CMakeLists.txt.

# viewer_unit(NAME...): for each, unit/test_NAME.c, of a part of the viewer.
function(viewer_unit)
  foreach(name IN LISTS ARGN)
    nnb_test(test_${name} unit unit/test_${name}.c)
    target_link_libraries(test_${name} PRIVATE viewer_parts)
  endforeach()
endfunction()

# viewer_test(NAME SCRIPT ARG...): a script that is given the program and what makes traces of text.
function(viewer_test name script)
  nnb_run(${name} e2e ${CMAKE_CURRENT_SOURCE_DIR}/${script} $<TARGET_FILE:burstscope>
    $<TARGET_FILE:trace_from_text> ${ARGN})
  nnb_reads_traces(${name})
endfunction()

# ---- parts: what it is made of, without a database ----
if(TARGET burstscope)
  viewer_unit(advice conjunct diagnose explained findings http maker map metrics options output reader rows screen timeline verdicts waiting)
  foreach(test diagnose maker rows)
    target_link_libraries(test_${test} PRIVATE stored)
  endforeach()
endif()

# ---- verdicts: against the truth of simulated schedules, parts of which are not recorded ----
if(TARGET burstscope)
  nnb_test(test_verdict_oracle unit unit/test_verdict_oracle.c analyzer/group_truth.c analyzer/judged.c analyzer/schedule_cut.c
    analyzer/verdict_truth.c)
  target_link_libraries(test_verdict_oracle PRIVATE schedule_sim viewer_parts bsa_fold bsa_replay)
  target_link_options(test_verdict_oracle PRIVATE -Wl,--wrap=fsync) # thousands of databases, each read once
  if(BURSTSCOPE_SANITIZE) # slower: ./run soak has more
    target_compile_definitions(test_verdict_oracle PRIVATE SEEDS=8)
  endif()
endif()

# ---- watched: the last seconds, against check on the same time ----
if(TARGET burstscope)
  nnb_test(test_sliding unit unit/test_sliding.c)
  target_link_libraries(test_sliding PRIVATE viewer_parts bsa ctf_writer folders schedule_sim)
  nnb_reads_traces(test_sliding)
  if(BURSTSCOPE_SANITIZE) # slower
    target_compile_definitions(test_sliding PRIVATE SEEDS=2)
  endif()
endif()

# ---- compared: recordings with recordings, and with rules ----
if(TARGET burstscope)
  viewer_unit(stats slo)
  target_compile_definitions(test_slo PRIVATE EXAMPLES="${PROJECT_SOURCE_DIR}/docs/examples"
    MANUAL="${PROJECT_SOURCE_DIR}/docs/man/burstscope-slo.5")
  nnb_fuzz(fuzz_slo 4096 -dict=${CMAKE_CURRENT_SOURCE_DIR}/fuzz/slo.dict)
  if(TARGET fuzz_slo)
    target_link_libraries(fuzz_slo PRIVATE viewer_counted) # viewer_parts has the rules, too, and 150 sources more
  endif()
endif()

# ---- not recorded: what each kind of rule says then ----
if(TARGET burstscope AND NOT BURSTSCOPE_SANITIZE) # slow, and the same code as of other tests
  viewer_unit(unseen)
  target_link_libraries(test_unseen PRIVATE stored scripts)
  target_link_options(test_unseen PRIVATE -Wl,--wrap=fsync) # a database for each row
endif()

# ---- recorded: through the provider and LTTng, which no sanitizer knows ----
if(TARGET burstscope)
  viewer_unit(recording top watch)
endif()
if(TARGET burstscope AND NNB_TRACING AND NOT BURSTSCOPE_SANITIZE)
  nnb_e2e(record burstscope $<TARGET_FILE:nnburst-load> $<TARGET_FILE:many_streams> $<TARGET_FILE:nbt_provider>)
  nnb_e2e(record_shared burstscope $<TARGET_FILE:many_streams> $<TARGET_FILE:nbt_provider>)
  nnb_e2e(record_full burstscope $<TARGET_FILE:nnburst-load> $<TARGET_FILE:many_streams> $<TARGET_FILE:nbt_provider>)
  nnb_run(e2e_kills e2e ${CMAKE_CURRENT_SOURCE_DIR}/e2e/kills.sh $<TARGET_FILE:burstscope> $<TARGET_FILE:many_streams>
    $<TARGET_FILE:nbt_provider>)
  nnb_e2e(watch burstscope $<TARGET_FILE:nnburst-load> $<TARGET_FILE:json_schema> ${PROJECT_SOURCE_DIR}/docs/case.schema.json)
  nnb_e2e(watch_kills burstscope $<TARGET_FILE:nnburst-load> $<TARGET_FILE:json_schema> ${PROJECT_SOURCE_DIR}/docs/case.schema.json)
  nnb_e2e(scope burstscope $<TARGET_FILE:nnburst-load> ${PROJECT_SOURCE_DIR}/docs/events.md)
  nnb_e2e(watch_cycles burstscope $<TARGET_FILE:nnburst-load>)
  nnb_e2e(watch_folds burstscope $<TARGET_FILE:nnburst-load> $<TARGET_FILE:json_schema> ${PROJECT_SOURCE_DIR}/docs/case.schema.json)
  nnb_e2e(watch_folds_kills burstscope $<TARGET_FILE:nnburst-load> $<TARGET_FILE:json_schema> ${PROJECT_SOURCE_DIR}/docs/case.schema.json)
  nnb_e2e(top burstscope $<TARGET_FILE:nnburst-load> $<TARGET_FILE:json_schema> ${PROJECT_SOURCE_DIR}/docs/top.schema.json)
  nnb_e2e(remote burstscope $<TARGET_FILE:nnburst-load> $<TARGET_FILE:json_schema> ${PROJECT_SOURCE_DIR}/docs/top.schema.json ${PROJECT_SOURCE_DIR}/docs/case.schema.json)
  nnb_e2e(remote_screen burstscope $<TARGET_FILE:nnburst-load>)
  nnb_e2e(top_screen burstscope $<TARGET_FILE:nnburst-load>)
  nnb_e2e(exporter burstscope $<TARGET_FILE:nnburst-load>)
  nnb_e2e(prometheus burstscope $<TARGET_FILE:nnburst-load> ${CMAKE_CURRENT_SOURCE_DIR}/viewer/promql.py)
  nnb_e2e(doctor burstscope $<TARGET_FILE:many_streams> $<TARGET_FILE:nbt_provider>)
  nnb_e2e(demo burstscope)
  add_dependencies(e2e_demo nnburst-load)
endif()

# ---- compared, recorded: two builds of which one is slower ----
if(TARGET burstscope AND NNB_TRACING AND NOT BURSTSCOPE_SANITIZE)
  add_library(driver_slower MODULE e2e/driver_slower.c)
  target_link_libraries(driver_slower PRIVATE nnbx_driver nnburst burstscope_warnings)
  set_target_properties(driver_slower PROPERTIES PREFIX "" OUTPUT_NAME driver-slower
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
  nnb_e2e(compare burstscope $<TARGET_FILE:nnburst-load> $<TARGET_FILE:driver_slower>)
  nnb_bench(whatif)
  target_compile_definitions(bench_whatif PRIVATE BURSTSCOPE="$<TARGET_FILE:burstscope>" NNBURSTD="$<TARGET_FILE:nnburstd>"
    NNBURST_LOAD="$<TARGET_FILE:nnburst-load>" DRIVER_SLOWER="$<TARGET_FILE:driver_slower>"
    WHATIF_SH="${CMAKE_CURRENT_SOURCE_DIR}/bench/whatif.sh")
  target_link_libraries(bench_whatif PRIVATE viewer_parts bsa_store)
  add_dependencies(bench_whatif burstscope nnburstd nnburst-load driver_slower)
  add_executable(live_peer bench/live_peer.c)
  target_link_libraries(live_peer PRIVATE PkgConfig::BABELTRACE2 burstscope_warnings)
  add_executable(live_again bench/live_again.c)
  target_link_libraries(live_again PRIVATE bsa burstscope_warnings)
  nnb_bench(live)
  target_compile_definitions(bench_live PRIVATE BURSTSCOPE="$<TARGET_FILE:burstscope>" NNBURSTD="$<TARGET_FILE:nnburstd>"
    NNBURST_LOAD="$<TARGET_FILE:nnburst-load>" LIVE_SH="${CMAKE_CURRENT_SOURCE_DIR}/bench/live.sh" LIVE_PEER="$<TARGET_FILE:live_peer>")
  add_dependencies(bench_live live_again live_peer burstscope nnburstd nnburst-load driver_null nbt_provider)
  add_executable(static_page bench/static_page.c)
  target_link_libraries(static_page PRIVATE burstscope_warnings)
  nnb_bench(scraped)
  target_compile_definitions(bench_scraped PRIVATE BURSTSCOPE="$<TARGET_FILE:burstscope>" NNBURSTD="$<TARGET_FILE:nnburstd>"
    NNBURST_LOAD="$<TARGET_FILE:nnburst-load>" STATIC_PAGE="$<TARGET_FILE:static_page>"
    SCRAPED_SH="${CMAKE_CURRENT_SOURCE_DIR}/bench/scraped.sh")
  add_dependencies(bench_scraped burstscope nnburstd nnburst-load static_page driver_null nbt_provider)
endif()

# ---- answers: about traces that never change, and to mistakes ----
if(TARGET burstscope)
  add_executable(json_schema viewer/json_schema.c)
  target_link_libraries(json_schema PRIVATE PkgConfig::JANSSON burstscope_warnings)
  viewer_test(viewer_golden golden/golden.sh $<TARGET_FILE:json_schema>)
  add_executable(slo_counts golden/slo_counts.c)
  target_link_libraries(slo_counts PRIVATE viewer_parts burstscope_warnings)
  viewer_test(viewer_agree golden/agree.sh $<TARGET_FILE:slo_counts>)
  viewer_test(viewer_figures e2e/figures.sh)
  viewer_test(viewer_diff e2e/diff.sh ${CMAKE_CURRENT_SOURCE_DIR}/golden)
  viewer_test(viewer_drawn e2e/drawn.sh)
  viewer_test(viewer_said viewer/said.sh)
  viewer_test(viewer_kinds viewer/kinds.sh)
  viewer_test(viewer_trackevent viewer/trackevent.sh)
  viewer_test(viewer_page viewer/page.sh)
  find_program(NNB_NODE node)
  if(NNB_NODE)
    nnb_run(viewer_palette unit ${NNB_NODE} ${CMAKE_CURRENT_SOURCE_DIR}/viewer/palette.mjs
      ${PROJECT_SOURCE_DIR}/viewer-cli/report/page/page.css)
  endif()
  viewer_test(viewer_speedscope viewer/speedscope.sh ${PROJECT_BINARY_DIR})
  viewer_test(viewer_fair_steps viewer/fair_steps.sh)
  viewer_test(viewer_hidden_lag viewer/hidden_lag.sh)
  viewer_test(viewer_many_waits viewer/many_waits.sh)
  viewer_test(viewer_hidden_inversion viewer/hidden_inversion.sh)
  viewer_test(viewer_unheld viewer/unheld.sh)
  viewer_test(viewer_apart viewer/apart.sh)
  viewer_test(viewer_probation viewer/probation.sh)
  viewer_test(viewer_native_sleep viewer/native_sleep.sh)
  viewer_test(viewer_counts viewer/counts.sh)
  viewer_test(viewer_emptied viewer/emptied.sh)
  viewer_test(viewer_tables viewer/tables.sh ${PROJECT_BINARY_DIR})
  viewer_test(viewer_cpus viewer/cpus.sh)
  add_executable(metric_table viewer/metric_table.c)
  target_link_libraries(metric_table PRIVATE viewer_parts burstscope_warnings)
  add_executable(live_metrics viewer/live_metrics.c)
  target_link_libraries(live_metrics PRIVATE viewer_parts bsa burstscope_warnings)
  viewer_test(viewer_metrics viewer/metrics.sh $<TARGET_FILE:metric_table> $<TARGET_FILE:live_metrics>)
  viewer_test(viewer_errors e2e/viewer_errors.sh)
  viewer_test(viewer_input e2e/viewer_input.sh)
  add_executable(hostile_importer e2e/hostile_importer.c)
  target_include_directories(hostile_importer PRIVATE ${PROJECT_SOURCE_DIR}/viewer-cli)
  target_link_libraries(hostile_importer PRIVATE bsa burstscope_warnings)
  nnb_run(viewer_hostile_importer e2e ${CMAKE_CURRENT_SOURCE_DIR}/e2e/hostile_importer.sh $<TARGET_FILE:burstscope>
    $<TARGET_FILE:hostile_importer>)
  # What is wrong in what they are given may break the program, too: CI has them with sanitizers.
  set_tests_properties(viewer_errors viewer_input viewer_hostile_importer PROPERTIES LABELS fault)
  viewer_test(viewer_terminal e2e/terminal.sh)
  nnb_run(viewer_complete e2e ${CMAKE_CURRENT_SOURCE_DIR}/e2e/complete.sh $<TARGET_FILE:burstscope>
    ${PROJECT_BINARY_DIR}/viewer-cli/made $<TARGET_FILE:trace_from_text> ${CMAKE_CURRENT_SOURCE_DIR}/golden/unfair.trace)
  add_dependencies(viewer_complete completions_viewer)
  nnb_rule(pages pages.sh $<TARGET_FILE:burstscope> ${PROJECT_SOURCE_DIR})
  nnb_rule(page page.sh ${PROJECT_SOURCE_DIR}/viewer-cli/report/page ${PROJECT_BINARY_DIR})
  nnb_rule(shown shown.sh $<TARGET_FILE:burstscope> ${PROJECT_SOURCE_DIR})
endif()
if(TARGET burstscope AND NNB_TRACING AND NOT BURSTSCOPE_SANITIZE)
  nnb_e2e(check_ci burstscope $<TARGET_FILE:nnburst-load>)
  nnb_e2e(diagnosis burstscope $<TARGET_FILE:nnburst-load>)
  nnb_e2e(fairness burstscope $<TARGET_FILE:nnburst-load>)
  nnb_e2e(hang burstscope $<TARGET_FILE:nnburst-load>)
  nnb_e2e(hang_live burstscope $<TARGET_FILE:nnburst-load>)
  nnb_e2e(hang_watched burstscope $<TARGET_FILE:nnburst-load>)
  nnb_e2e(hang_starved burstscope $<TARGET_FILE:nnburst-load>)
  nnb_e2e(hang_killed burstscope $<TARGET_FILE:nnburst-load>)
endif()
