# shellcheck shell=bash disable=SC2034
# memory.sh -- for mutate.sh: how files are mapped, with zeroes behind them, and their test. The bar is low because
# dma-bufs, tears, touches and gates are in these sources, too, and have tests of their own.
mutated=(runtime/memory/{slack,mapping}.c runtime/base/sealed.c)
others=(runtime/memory/{arrival,errand,gate,memory,packet,places,prober,suspicion,tear,wait,worker}.c
	runtime/base/{close,kept,offer,sys}.c)
tests=(tests/unit/test_memory.c)
flags=("-I$tree/runtime/include" "-I$tree/runtime" "-I$tree/tests")
link=(-lcmocka -lpthread -Wl,--wrap=fstat,--wrap=madvise)
bar=30
file_kib=unlimited # memfds of up to 2^62 bytes, which hold nothing
