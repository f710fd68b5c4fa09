# Tests and benchmarks of the analyzer, and of the viewer over it. Included by CMakeLists.txt.

# ---- what programs share ----
# Events and executions as texts say them, with exact times.
nnb_parts(scripts analyzer/case_file.c analyzer/lines.c analyzer/script.c analyzer/timeline.c)
target_include_directories(scripts PUBLIC ${PROJECT_SOURCE_DIR}/analyzer ${PROJECT_SOURCE_DIR}/tracepoints/include)
# Traces of them.
nnb_parts(ctf_writer analyzer/ctf_writer.c)
nnb_parts(folders analyzer/folders.c)
target_link_libraries(ctf_writer PUBLIC scripts PkgConfig::BABELTRACE2)
add_executable(trace_from_text analyzer/trace_from_text.c)
target_link_libraries(trace_from_text PRIVATE ctf_writer burstscope_warnings)
nnb_test(test_case_lines unit unit/test_case_lines.c)
target_link_libraries(test_case_lines PRIVATE scripts)

# nnb_reads_traces(NAME...): tests that have babeltrace2 read what it may choke on, and so lose memory.
function(nnb_reads_traces)
  set_property(TEST ${ARGN} APPEND PROPERTY ENVIRONMENT
    LSAN_OPTIONS=suppressions=${CMAKE_CURRENT_SOURCE_DIR}/analyzer/lsan.supp:print_suppressions=0)
endfunction()

# ---- base: its hash tables, also when memory runs out ----
foreach(test index table)
  nnb_test(test_${test} unit unit/test_${test}.c)
  target_link_options(test_${test} PRIVATE -Wl,--wrap=calloc)
  target_link_libraries(test_${test} PRIVATE bsa_base)
endforeach()
nnb_mutants(base)

# ---- decode: and both decoders over the same traces ----
nnb_test(test_decode unit unit/test_decode.c)
target_link_libraries(test_decode PRIVATE bsa_decode ctf_writer)
nnb_test(test_decode_means unit unit/test_decode_means.c)
target_link_libraries(test_decode_means PRIVATE bsa_decode ctf_writer)
nnb_test(test_discover unit unit/test_discover.c)
target_link_libraries(test_discover PRIVATE bsa_decode)
nnb_parts(decoders analyzer/decoders.c)
target_link_libraries(decoders PUBLIC bsa_decode ctf_writer)
add_executable(decoders_agree analyzer/decoders_agree.c)
target_link_libraries(decoders_agree PRIVATE decoders burstscope_warnings)
nnb_test(test_quick unit unit/test_quick.c)
target_link_libraries(test_quick PRIVATE decoders folders)
nnb_test(test_follow unit unit/test_follow.c)
target_link_libraries(test_follow PRIVATE bsa_decode ctf_writer)
nnb_test(test_ordered unit unit/test_ordered.c)
target_link_libraries(test_ordered PRIVATE bsa_decode)
nnb_test(test_counts unit unit/test_counts.c)
target_link_libraries(test_counts PRIVATE bsa_decode)
nnb_test(test_gaps unit unit/test_gaps.c)
target_link_libraries(test_gaps PRIVATE bsa_decode)
nnb_reads_traces(test_decode test_decode_means test_quick test_follow)
if(NOT BURSTSCOPE_SANITIZE)
  nnb_e2e(decoders nnburst-load $<TARGET_FILE:decoders_agree>)
endif()
nnb_fuzz(fuzz_decode 8192)
if(TARGET fuzz_decode)
  target_link_libraries(fuzz_decode PRIVATE bsa_decode ctf_writer)
endif()

# ---- fold ----
if(TARGET bsa_fold)
  nnb_parts(lag_windows analyzer/lag_windows.c)
  target_link_libraries(lag_windows PUBLIC bsa_fold)
  # The schedule alone: stories, an oracle, losses, strangers.
  nnb_parts(schedule_parts unit/schedule_facts.c unit/schedule_world.c)
  target_link_libraries(schedule_parts PUBLIC lag_windows bsa_fold PkgConfig::CMOCKA)
  foreach(schedule IN ITEMS schedule schedule_oracle schedule_lossy schedule_hidden schedule_dropped schedule_hostile)
    nnb_test(test_${schedule} unit unit/test_${schedule}.c)
    target_link_libraries(test_${schedule} PRIVATE schedule_parts)
  endforeach()
  nnb_mutants(schedule)
  # Scripts of events, and what is found out.
  nnb_parts(fold_parts analyzer/collect.c analyzer/expect.c analyzer/fold_file.c analyzer/folded.c)
  target_link_libraries(fold_parts PUBLIC lag_windows scripts bsa_fold PkgConfig::CMOCKA)
  foreach(test fold_bounds valid)
    nnb_test(test_${test} unit unit/test_${test}.c)
    target_link_libraries(test_${test} PRIVATE fold_parts)
  endforeach()
  set(folds ${CMAKE_CURRENT_SOURCE_DIR}/analyzer/folds)
  target_compile_definitions(test_fold_bounds PRIVATE FOLDS="${folds}")
  add_executable(test_folds analyzer/test_folds.c)
  target_link_libraries(test_folds PRIVATE fold_parts burstscope_warnings)
  foreach(cases bounds ends executions losses numbers summaries world)
    nnb_run(folds_${cases} unit $<TARGET_FILE:test_folds> ${folds}/common.fold ${folds}/${cases}.fold)
  endforeach()
  nnb_test(test_fold_memory fault fault/test_fold_memory.c)
  target_compile_definitions(test_fold_memory PRIVATE EVERYTHING="${folds}/everything.events")
  target_link_options(test_fold_memory PRIVATE
    -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=free)
  target_link_libraries(test_fold_memory PRIVATE scripts bsa_fold)
  # Held against a service that is run by the policy itself.
  nnb_parts(schedule_sim analyzer/schedule_again.c analyzer/schedule_sim.c analyzer/schedule_truth.c)
  target_link_libraries(schedule_sim PUBLIC nnb_policy nnburst fold_parts)
  nnb_test(test_fold_schedules unit unit/test_fold_schedules.c)
  target_link_libraries(test_fold_schedules PRIVATE schedule_sim)
  if(BURSTSCOPE_SANITIZE) # slower: ./run soak has more
    target_compile_definitions(test_fold_schedules PRIVATE SEEDS=40)
  endif()
  nnb_mutants(fold)
  nnb_test(test_sharing unit unit/test_sharing.c)
  target_link_libraries(test_sharing PRIVATE bsa_replay m)
  nnb_test(test_without unit unit/test_without.c unit/policy_sim.c)
  target_link_libraries(test_without PRIVATE bsa_replay nnb_policy schedule_parts m)
  if(BURSTSCOPE_SANITIZE) # slower
    target_compile_definitions(test_without PRIVATE SEEDS=600)
  endif()
  nnb_test(test_bounds unit unit/test_bounds.c)
  target_include_directories(test_bounds PRIVATE ${PROJECT_SOURCE_DIR}/runtime/include)
  target_link_libraries(test_bounds PRIVATE bsa_replay nnb_policy schedule_parts)
  nnb_mutants(bounds)
  nnb_test(test_replay unit unit/test_replay.c)
  target_include_directories(test_replay PRIVATE ${PROJECT_SOURCE_DIR}/runtime/include)
  target_link_libraries(test_replay PRIVATE viewer_whatif schedule_sim)
  if(BURSTSCOPE_SANITIZE) # slower
    target_compile_definitions(test_replay PRIVATE SEEDS=1000)
  endif()
  nnb_mutants(replay)
  nnb_mutants(without)
  nnb_test(test_whatif unit unit/test_whatif.c)
  target_include_directories(test_whatif PRIVATE ${PROJECT_SOURCE_DIR}/runtime/include)
  target_link_libraries(test_whatif PRIVATE viewer_parts)
  nnb_test(test_blame unit unit/test_blame.c)
  target_link_libraries(test_blame PRIVATE bsa_fold)
  nnb_test(test_saved unit unit/test_saved.c unit/policy_sim.c)
  target_link_libraries(test_saved PRIVATE nnb_policy schedule_parts bsa_fold m)
  if(BURSTSCOPE_SANITIZE) # slower
    target_compile_definitions(test_saved PRIVATE SEEDS=1000)
  endif()
endif()

# ---- store ----
if(TARGET bsa_store)
  nnb_parts(stored analyzer/stored.c)
  target_link_libraries(stored PUBLIC bsa_store bsa_fold PkgConfig::SQLITE3 PkgConfig::CMOCKA)
  foreach(test store store_columns store_stats db)
    nnb_test(test_${test} unit unit/test_${test}.c)
  endforeach()
  # What fails, or is killed, are its writes: SQLite's through the system calls it is given, its own by the linker.
  nnb_test(test_store_faults fault fault/test_store_faults.c)
  target_link_options(test_store_faults PRIVATE
    -Wl,--wrap=pwrite,--wrap=write,--wrap=copy_file_range,--wrap=rename,--wrap=fsync)
  nnb_test(test_temporary fault fault/test_temporary.c)
  target_link_options(test_temporary PRIVATE -Wl,--wrap=open)
  # A database that is larger than the one page that SQLite never uses, for which pages.c is compiled once more.
  nnb_test(test_store_large unit unit/test_store_large.c ${PROJECT_SOURCE_DIR}/analyzer/store/pages.c)
  target_compile_definitions(test_store_large PRIVATE PENDING_BYTE=pending_byte)
  target_compile_options(test_store_large PRIVATE "SHELL:-include ${CMAKE_CURRENT_SOURCE_DIR}/analyzer/pending_byte.h")
  foreach(test test_store test_store_columns test_store_stats test_db test_store_faults test_store_large test_temporary)
    target_link_libraries(${test} PRIVATE stored m)
  endforeach()
  target_include_directories(test_store_columns PRIVATE ${PROJECT_SOURCE_DIR}/tracepoints/include)
  add_executable(columns rules/columns.c)
  target_link_libraries(columns PRIVATE bsa_store burstscope_warnings)
  nnb_rule(database database.sh $<TARGET_FILE:columns> ${PROJECT_SOURCE_DIR}/docs/database.md)
  nnb_parts(bench_facts bench/facts.c)
  target_link_libraries(bench_facts PUBLIC bsa_store)
  nnb_bench(store)
  target_link_libraries(bench_store PRIVATE bench_facts)
  nnb_bench(pages)
  target_link_libraries(bench_pages PRIVATE bench_facts PkgConfig::SQLITE3)
  list(APPEND benches_run store pages)
  add_executable(facts_to_db analyzer/facts_to_db.c)
  target_link_libraries(facts_to_db PRIVATE bench_facts burstscope_warnings)
  nnb_run(store_other_sqlite e2e ${CMAKE_CURRENT_SOURCE_DIR}/analyzer/other_sqlite.sh $<TARGET_FILE:facts_to_db> ${PROJECT_BINARY_DIR})
endif()

# ---- all of it: cases, from events to answers ----
if(TARGET bsa)
  nnb_test(test_import unit unit/test_import.c)
  target_link_libraries(test_import PRIVATE bsa scripts ctf_writer folders)
  nnb_reads_traces(test_import)
  nnb_test(test_machine unit unit/test_machine.c)
  target_link_libraries(test_machine PRIVATE bsa ctf_writer folders PkgConfig::SQLITE3)
  nnb_reads_traces(test_machine)
  nnb_test(test_ties unit unit/test_ties.c)
  target_compile_definitions(test_ties PRIVATE CHECK_SQL="${CMAKE_CURRENT_SOURCE_DIR}/analyzer/check.sql"
    LOSSLESS_SQL="${CMAKE_CURRENT_SOURCE_DIR}/analyzer/lossless.sql")
  target_link_libraries(test_ties PRIVATE bsa bsa_decode ctf_writer folders PkgConfig::SQLITE3)
  nnb_reads_traces(test_ties)
  nnb_test(test_impostors unit unit/test_impostors.c)
  target_compile_definitions(test_impostors PRIVATE EVENTS="${CMAKE_CURRENT_SOURCE_DIR}/analyzer/impostors")
  target_link_libraries(test_impostors PRIVATE bsa ctf_writer folders PkgConfig::SQLITE3)
  nnb_reads_traces(test_impostors)
  # Databases of them.
  nnb_parts(imported analyzer/imported.c)
  target_link_libraries(imported PUBLIC bsa scripts PkgConfig::CMOCKA)
  nnb_test(test_crowd unit unit/test_crowd.c)
  target_link_libraries(test_crowd PRIVATE imported bsa_fold folders PkgConfig::SQLITE3)
  if(BURSTSCOPE_SANITIZE) # slower
    target_compile_definitions(test_crowd PRIVATE SCALE=1)
  endif()
  nnb_test(test_joined unit unit/test_joined.c analyzer/floods.c)
  target_link_libraries(test_joined PRIVATE imported bsa_fold folders PkgConfig::SQLITE3)
  if(TARGET burstscope)
    target_compile_definitions(test_joined PRIVATE BURSTSCOPE="$<TARGET_FILE:burstscope>")
    add_dependencies(test_joined burstscope)
  endif()
  nnb_test(test_kept unit unit/test_kept.c)
  target_link_libraries(test_kept PRIVATE bsa bsa_fold scripts folders PkgConfig::SQLITE3)
  nnb_test(test_live unit unit/test_live.c)
  target_compile_definitions(test_live PRIVATE CASES="${CMAKE_CURRENT_SOURCE_DIR}/analyzer/cases")
  target_link_libraries(test_live PRIVATE bsa ctf_writer folders schedule_sim PkgConfig::SQLITE3)
  nnb_reads_traces(test_live)
  nnb_test(test_asked unit unit/test_asked.c)
  target_link_libraries(test_asked PRIVATE bsa scripts folders PkgConfig::SQLITE3)
  nnb_test(test_users unit unit/test_users.c)
  target_link_libraries(test_users PRIVATE bsa scripts)
  nnb_test(test_mutated_traces unit unit/test_mutated_traces.c analyzer/mutated.c)
  target_compile_definitions(test_mutated_traces PRIVATE CHECK_SQL="${CMAKE_CURRENT_SOURCE_DIR}/analyzer/check.sql"
    CASES="${CMAKE_CURRENT_SOURCE_DIR}/analyzer/cases" GOLDEN="${CMAKE_CURRENT_SOURCE_DIR}/golden")
  target_link_libraries(test_mutated_traces PRIVATE bsa bsa_decode ctf_writer folders PkgConfig::SQLITE3)
  if(BURSTSCOPE_SANITIZE) # slower: ./run soak N mutated-traces has more
    target_compile_definitions(test_mutated_traces PRIVATE ROUNDS=10)
  endif()
  target_link_options(test_mutated_traces PRIVATE -Wl,--wrap=fsync) # thousands of databases, each read once
  nnb_reads_traces(test_mutated_traces)
  add_executable(test_cases analyzer/test_cases.c)
  target_compile_definitions(test_cases PRIVATE CHECK_SQL="${CMAKE_CURRENT_SOURCE_DIR}/analyzer/check.sql")
  target_link_libraries(test_cases PRIVATE
    imported bsa_fold ctf_writer PkgConfig::SQLITE3 burstscope_warnings)
  foreach(cases IN ITEMS causes fairness lanes latency losses one_side overhead saved saved_long things)
    nnb_run(cases_${cases} unit $<TARGET_FILE:test_cases> ${CMAKE_CURRENT_SOURCE_DIR}/analyzer/cases/${cases}.case)
    nnb_reads_traces(cases_${cases})
  endforeach()
  nnb_fuzz(fuzz_import 4096 -len_control=0) # an import takes milliseconds: few, and long ones
  if(TARGET fuzz_import)
    target_include_directories(fuzz_import PRIVATE ${PROJECT_SOURCE_DIR}/analyzer ${PROJECT_SOURCE_DIR}/tracepoints/include)
    target_compile_definitions(fuzz_import PRIVATE CHECK_SQL="${CMAKE_CURRENT_SOURCE_DIR}/analyzer/check.sql")
    target_link_libraries(fuzz_import PRIVATE bsa)
  endif()
endif()

# ---- recordings, through the provider and LTTng, which no sanitizer knows ----
if(TARGET burstscope AND NNB_TRACING AND NOT BURSTSCOPE_SANITIZE)
  nnb_e2e(import burstscope $<TARGET_FILE:nnburst-load>)
  nnb_e2e(import_scenarios burstscope $<TARGET_FILE:nnburst-load>)
  nnb_e2e(holes burstscope $<TARGET_FILE:nnburst-load> $<TARGET_FILE:followed>)
  add_library(late_news MODULE e2e/late_news.c)
  target_link_libraries(late_news PRIVATE ${CMAKE_DL_LIBS} burstscope_warnings)
  nnb_e2e(stops burstscope $<TARGET_FILE:nnburst-load> $<TARGET_FILE:late_news>)
  add_executable(cut_packets e2e/cut_packets.c)
  target_link_libraries(cut_packets PRIVATE burstscope_warnings)
  nnb_e2e(recomputed burstscope $<TARGET_FILE:nnburst-load> $<TARGET_FILE:cut_packets>)
  add_library(hold_pages MODULE e2e/hold_pages.c)
  target_link_libraries(hold_pages PRIVATE burstscope_warnings)
  nnb_run(e2e_stalled e2e ${CMAKE_CURRENT_SOURCE_DIR}/e2e/stalled.sh $<TARGET_FILE:burstscope> $<TARGET_FILE:nnburstd> $<TARGET_FILE:nnburst-load>
    $<TARGET_FILE:hold_pages>)
  add_executable(forge e2e/forge.c)
  target_link_libraries(forge PRIVATE nbt burstscope_warnings)
  add_executable(misnamed e2e/misnamed.c)
  target_link_libraries(misnamed PRIVATE PkgConfig::LTTNG_UST burstscope_warnings)
  nnb_e2e(impostors burstscope $<TARGET_FILE:nnburst-load> $<TARGET_FILE:forge> $<TARGET_FILE:nbt_provider> $<TARGET_FILE:misnamed>)
  nnb_e2e(mutated test_mutated_traces $<TARGET_FILE:nnburst-load>)
  add_executable(many_streams e2e/many_streams.c)
  target_link_libraries(many_streams PRIVATE nbt burstscope_warnings)
  nnb_e2e(import_robust burstscope $<TARGET_FILE:nnburst-load> $<TARGET_FILE:many_streams>
    $<TARGET_FILE:nbt_provider>)
  # Some of the cases.
  add_executable(emit_case e2e/emit_case.c)
  target_link_libraries(emit_case PRIVATE scripts nbt burstscope_warnings)
  nnb_run(e2e_exact e2e ${CMAKE_CURRENT_SOURCE_DIR}/e2e/exact.sh $<TARGET_FILE:burstscope>
    $<TARGET_FILE:emit_case> $<TARGET_FILE:test_cases> $<TARGET_FILE:nbt_provider>
    ${CMAKE_CURRENT_SOURCE_DIR}/analyzer/cases/causes.case)
endif()
if(TARGET bsa_plugin AND TARGET burstscope AND NOT BURSTSCOPE_SANITIZE)
  add_executable(plugin_host e2e/plugin_host.c)
  target_link_libraries(plugin_host PRIVATE PkgConfig::BABELTRACE2 PkgConfig::SQLITE3 burstscope_warnings)
  nnb_run(e2e_plugin e2e ${CMAKE_CURRENT_SOURCE_DIR}/e2e/plugin.sh
    $<TARGET_FILE:burstscope> $<TARGET_FILE:trace_from_text> $<TARGET_FILE:bsa_plugin> $<TARGET_FILE:plugin_host>)
endif()

# ---- what a hostile trace can cost ----
if(TARGET burstscope AND NOT BURSTSCOPE_SANITIZE) # a sanitizer has memory of its own
  add_executable(test_floods analyzer/floods.c analyzer/test_floods.c)
  target_link_libraries(test_floods PRIVATE ctf_writer burstscope_warnings)
  nnb_run(floods unit $<TARGET_FILE:test_floods> $<TARGET_FILE:burstscope>)
  # Of 100 000 apps with a model and a stream each, of streams, and of answers whose streams are unknown, the import is judged by the bars, and answers by three times what they take (0.9 s of cpu time in dev; nine rules 1.8 s, of six; a page 2.3 s and a comparison 4 s, of nine): ./run soak N floods has the rest.
  nnb_run(floods_many unit ${CMAKE_COMMAND} -E env NNB_FLOOD=100000 NNB_FLOOD_MS=3000
    $<TARGET_FILE:test_floods> $<TARGET_FILE:burstscope> apps_run streams_run streams_unseen)
  # 3125 apps wait through as many windows: a query that reads a row for each app and window takes 2 to 9 s of cpu time in a release build, and one that does not, 0.2 s (a page: 0.45 s).
  nnb_run(floods_windows unit ${CMAKE_COMMAND} -E env NNB_FLOOD=100000 NNB_FLOOD_MS=1000
    $<TARGET_FILE:test_floods> $<TARGET_FILE:burstscope> windows_square)
  # 4500 apps: an import that visits each app in each window takes 10 s of cpu time, and makes a database of a hundred MB; one that visits none that only waits, 2 to 3 s.
  nnb_run(floods_dormant unit ${CMAKE_COMMAND} -E env NNB_FLOOD=144000 NNB_FLOOD_MS=1000 NNB_FLOOD_IMPORT_MS=6000
    $<TARGET_FILE:test_floods> $<TARGET_FILE:burstscope> windows_square)
  # Compared with each other, so many names take an import 6 s of cpu time and minutes; looked up, 0.5 s.
  nnb_run(floods_names unit ${CMAKE_COMMAND} -E env NNB_FLOOD=40000 NNB_FLOOD_MS=1000 NNB_FLOOD_IMPORT_MS=2500
    $<TARGET_FILE:test_floods> $<TARGET_FILE:burstscope> processes_named models_named)
  # When the hash of base/mixed.h had no secret, numbers chosen to collide took an import 6 s of cpu time; now, 0.5 s.
  nnb_run(floods_chosen unit ${CMAKE_COMMAND} -E env NNB_FLOOD=30000 NNB_FLOOD_MS=1000 NNB_FLOOD_IMPORT_MS=5000
    $<TARGET_FILE:test_floods> $<TARGET_FILE:burstscope> chosen)
  # With all stretches of a preempted execution read again for each of its waits, an import takes 15 s of cpu time; with one look at them, 0.5 s.
  nnb_run(floods_stolen unit ${CMAKE_COMMAND} -E env NNB_FLOOD=8000 NNB_FLOOD_MS=3000 NNB_FLOOD_IMPORT_MS=3000
    $<TARGET_FILE:test_floods> $<TARGET_FILE:burstscope> stolen)
endif()

# ---- how fast a question is answered ----
if(TARGET burstscope)
  nnb_bench(answers)
  target_compile_definitions(bench_answers PRIVATE BURSTSCOPE="$<TARGET_FILE:burstscope>")
  target_link_libraries(bench_answers PRIVATE bench_facts)
  add_dependencies(bench_answers burstscope)
  list(APPEND benches_run answers)
  nnb_bench(search)
  target_compile_definitions(bench_search PRIVATE BURSTSCOPE="$<TARGET_FILE:burstscope>")
  target_link_libraries(bench_search PRIVATE bench_facts)
  add_dependencies(bench_search burstscope)
  list(APPEND benches_run search)
  nnb_bench(export)
  target_compile_definitions(bench_export PRIVATE BURSTSCOPE="$<TARGET_FILE:burstscope>")
  target_link_libraries(bench_export PRIVATE bench_facts viewer_parts)
  add_dependencies(bench_export burstscope)
  list(APPEND benches_run export)
  nnb_bench(report)
  target_compile_definitions(bench_report PRIVATE BURSTSCOPE="$<TARGET_FILE:burstscope>"
    BENCH_DIR="${CMAKE_CURRENT_SOURCE_DIR}/bench")
  target_link_libraries(bench_report PRIVATE bench_facts)
  add_dependencies(bench_report burstscope)
endif()

# ---- how fast a trace becomes a database ----
if(TARGET burstscope AND NNB_TRACING AND NOT BURSTSCOPE_SANITIZE)
  nnb_parts(bench_importing bench/importing.c)
  target_compile_definitions(bench_importing PUBLIC $<TARGET_PROPERTY:bench_tracing,COMPILE_DEFINITIONS>
    BURSTSCOPE="$<TARGET_FILE:burstscope>" IMPORT_PY="${CMAKE_CURRENT_SOURCE_DIR}/bench/import.py")
  target_link_libraries(bench_importing PUBLIC bench_parts)
  add_dependencies(bench_importing nnburstd tracing_app burstscope)
  nnb_bench(import)
  target_link_libraries(bench_import PRIVATE bench_importing)
  list(APPEND benches_run import)
  add_executable(long_import bench/long_import.c)
  target_link_libraries(long_import PRIVATE bench_importing burstscope_warnings)
  nnb_run(e2e_long_import e2e $<TARGET_FILE:long_import>)
endif()
