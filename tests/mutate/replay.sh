# shellcheck shell=bash disable=SC2034
# replay.sh -- for mutate.sh: the replay of what-if, and the test that compares it with simulated traces.
mutated=(analyzer/replay/replay.c)
others=(runtime/policy/{estimate,policy,terms}.c tests/analyzer/schedule_sim.c)
tests=(tests/unit/test_replay.c)
flags=(-DSEEDS=300 "-I$tree/analyzer" "-I$tree/analyzer/include" "-I$tree/runtime/include" "-I$tree/runtime" "-I$tree/tests")
link=(-lcmocka)
bar=70
