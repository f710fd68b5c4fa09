# shellcheck shell=bash disable=SC2034
# without.sh -- for mutate.sh: what would have been without a cause, and the test that plays the worlds without it.
mutated=(analyzer/replay/without.c)
others=(analyzer/replay/{bounds,replay}.c runtime/policy/{estimate,policy,terms}.c tests/unit/{policy_sim,schedule_world}.c analyzer/base/{index,mixed,table}.c analyzer/fold/*.c)
tests=(tests/unit/test_without.c)
flags=(-DSEEDS=300 "-I$tree/analyzer" "-I$tree/analyzer/include" "-I$tree/runtime/include" "-I$tree/runtime" "-I$tree/tests")
link=(-lcmocka -lm)
bar=45
