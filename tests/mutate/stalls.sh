# shellcheck shell=bash disable=SC2034
# stalls.sh -- for mutate.sh: the thread that takes lanes away, and what wakes it; and the test of when it looks and sleeps.
mutated=(runtime/sched/{stalls,lanes}.c)
others=(runtime/base/sys.c runtime/trace/{reference,trace}.c runtime/policy/{estimate,policy,terms}.c tracepoints/seam.c)
tests=(tests/unit/test_watch_thread.c)
flags=(-DWATCHDOG_S=20 "-I$tree/runtime" "-I$tree/runtime/include" "-I$tree/tracepoints/include" "-I$tree/tests")
link=(-lcmocka -lm -ldl -lpthread -Wl,--wrap=nnb__now,--wrap=nnb__futex_wait,--wrap=nnb__thread_waits,--wrap=nnb__lanes_holders)
bar=0
enough=1000000 # so many changes that the bar never applies: most are of lanes.c, which test_lanes tests
