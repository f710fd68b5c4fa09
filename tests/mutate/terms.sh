# shellcheck shell=bash disable=SC2034
# terms.sh -- for mutate.sh: admission by deadline, estimates of a model's time, and their test.
mutated=(runtime/policy/{terms,estimate}.c)
tests=(tests/unit/test_terms.c)
flags=("-I$tree/runtime/include" "-I$tree/runtime" "-I$tree/tests")
link=(-lcmocka)
bar=90
enough=30
