# shellcheck shell=bash disable=SC2034
# terms.sh -- for mutate.sh: what a deadline is worth and how long a model is taken to be, and the test of both.
mutated=(runtime/policy/{terms,estimate}.c)
tests=(tests/unit/test_terms.c)
flags=("-I$tree/runtime/include" "-I$tree/runtime" "-I$tree/tests")
link=(-lcmocka)
bar=90
enough=30
