# shellcheck shell=bash disable=SC2034
# bounds.sh -- for mutate.sh: how far the times of a replay can be wrong, and the test that replays with other lengths.
mutated=(analyzer/replay/bounds.c)
others=(analyzer/replay/replay.c runtime/policy/{estimate,policy,terms}.c tests/unit/schedule_world.c analyzer/base/{index,mixed,table}.c analyzer/fold/*.c)
tests=(tests/unit/test_bounds.c)
flags=("-I$tree/analyzer" "-I$tree/analyzer/include" "-I$tree/runtime/include" "-I$tree/runtime" "-I$tree/tests")
link=(-lcmocka)
bar=60
