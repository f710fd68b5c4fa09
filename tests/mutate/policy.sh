# shellcheck shell=bash disable=SC2034
# policy.sh -- for mutate.sh: the policy, and the test that simulates it.
mutated=(runtime/policy/policy.c)
others=(tests/unit/policy_sim.c)
tests=(tests/unit/test_policy.c)
flags=(-DSEEDS=4000 -DTRIES=100 "-I$tree/runtime/include" "-I$tree/runtime" "-I$tree/tests")
link=(-lcmocka -lm)
bar=80
