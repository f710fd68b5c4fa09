# shellcheck shell=bash disable=SC2034
# fold.sh -- for mutate.sh: the fold, and the test that compares it with simulated schedules.
fold=analyzer/fold
mutated=("$fold"/{lanes,refusals,schedule,waits,shares,judge,events}.c)
others=(analyzer/base/{index,mixed,table}.c "$fold"/{blame,device,exec,fold,losses,numbers,overhead,pending,pools,steps,valid,voices,world}.c
	runtime/policy/{policy,terms}.c tests/analyzer/{collect,lag_windows,schedule_again,schedule_sim,schedule_truth}.c)
tests=(tests/unit/test_fold_schedules.c)
flags=(-DSEEDS=120 "-I$tree/analyzer" "-I$tree/runtime/include" "-I$tree/runtime" "-I$tree/tests")
link=(-lcmocka)
bar=55
