# shellcheck shell=bash disable=SC2034
# schedule.sh -- for mutate.sh: the schedule of the fold, and its own tests.
mutated=(analyzer/fold/{device,lanes,losses,refusals,schedule,shares,steps,waits}.c)
others=(analyzer/base/{index,mixed,table}.c tests/analyzer/lag_windows.c tests/unit/schedule_{facts,world}.c)
tests=(tests/unit/test_schedule{,_oracle,_lossy,_hidden,_dropped,_hostile}.c)
flags=(-DSEEDS=2500 "-I$tree/analyzer" "-I$tree/tests")
link=(-lcmocka)
bar=70
