# shellcheck shell=bash disable=SC2034
# fold.sh -- for mutate.sh: the fold, the cases that were worked out by hand, those of kinds of events that are left out, and the test
# that compares the fold with simulated schedules, which takes longer.
fold=analyzer/fold
folds=$tree/tests/analyzer/folds
mutated=("$fold"/{lanes,refusals,schedule,waits,shares,judge,events}.c)
others=(analyzer/base/{index,mixed,table}.c "$fold"/{blame,device,exec,fold,losses,numbers,overhead,pending,pools,steps,valid,voices,world}.c
	runtime/policy/{policy,terms}.c
	tests/analyzer/{collect,expect,fold_file,folded,lag_windows,lines,schedule_again,schedule_sim,schedule_truth,script,timeline}.c)
tests=(tests/analyzer/test_folds.c tests/unit/test_kinds.c tests/unit/test_fold_schedules.c)
test_folds_arguments=("$folds/common.fold" "$folds"/*.fold)
flags=(-DSEEDS=120 "-I$tree/analyzer" "-I$tree/runtime/include" "-I$tree/runtime" "-I$tree/tests" "-I$tree/tracepoints/include")
link=(-lcmocka)
bar=55
