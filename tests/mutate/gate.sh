# shellcheck shell=bash disable=SC2034
# gate.sh -- for mutate.sh: which apps are suspected, and what may be mapped of them, and their test.
mutated=(runtime/memory/{suspicion,gate,wait}.c)
others=(runtime/base/{close,kept,sys}.c)
tests=(tests/unit/test_gate.c)
flags=("-I$tree/runtime/include" "-I$tree/runtime" "-I$tree/tests")
link=(-lcmocka -lpthread)
bar=50
