# shellcheck shell=bash disable=SC2034
# errand.sh -- for mutate.sh: the workers, and their test, which as root has files that keep a worker asleep. Those that keep
# a trial asleep it has from Linux 6.6 on: before, some of these defects are not caught.
mutated=(runtime/memory/{errand,packet,places,prober,worker}.c)
others=(runtime/base/{close,kept,offer,sys}.c runtime/memory/arrival.c)
tests=(tests/unit/test_errand.c)
flags=("-I$tree/runtime/include" "-I$tree/runtime" "-I$tree/tests")
link=(-lcmocka -lpthread)
bar=50
