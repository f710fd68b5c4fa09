# shellcheck shell=bash disable=SC2034
# base.sh -- for mutate.sh: the hash tables of the analyzer, and their own tests.
mutated=(analyzer/base/{index,table}.c)
others=(analyzer/base/mixed.c)
tests=(tests/unit/test_{index,table}.c)
flags=("-I$tree/analyzer" "-I$tree/tests")
link=(-lcmocka -Wl,--wrap=calloc)
bar=70
