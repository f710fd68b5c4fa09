#!/usr/bin/env bash
# installed.sh ROOT -- below ROOT/usr everything lies where Debian looks for it, and can be used from
# there: the program runs; consumer.c is compiled, linked and run with nothing but pkg-config's word.
. "$(dirname "$0")/rule.sh"

here=$(cd "$(dirname "$0")" && pwd)
usr=$1/usr
lib=$usr/lib
[[ -e /etc/debian_version ]] && lib=$usr/lib/$(gcc -print-multiarch)
wants gcc g++ pkg-config
scratch

for file in "$lib/libnnburst.so" "$lib/libnnburst.so.0" "$lib/pkgconfig/nnburst.pc" \
	"$usr/include/nnb/fmq.h" "$usr/bin/nnburst-fmq" "$usr/share/doc/burstscope/copyright" \
	"$usr/share/man/man1/nnburst-fmq.1.gz" "$usr/share/man/man3/nnb_fmq.3.gz" \
	"$usr/share/man/man7/nnb_fmq.7.gz" "$usr/share/bash-completion/completions/nnburst-fmq" \
	"$usr/share/zsh/vendor-completions/_nnburst-fmq"; do
	[[ -s $file ]] || broken "missing or empty: ${file#"$1"}"
done
((violations == 0)) || exit 1

for page in "$usr"/share/man/man*/*; do
	gzip -t "$page" || broken "not gzip: ${page#"$1"}"
done
bash -n "$usr/share/bash-completion/completions/nnburst-fmq" || broken 'the bash completion is no bash'

version=$(LD_LIBRARY_PATH=$lib "$usr/bin/nnburst-fmq" --version) || broken 'nnburst-fmq --version failed'
wanted=$(PKG_CONFIG_PATH=$lib/pkgconfig pkg-config --modversion nnburst)
[[ $version == *"$wanted"* ]] || broken "nnburst-fmq says '$version', pkg-config says '$wanted'"

read -ra flags < <(PKG_CONFIG_PATH=$lib/pkgconfig pkg-config --cflags --libs nnburst)
for compiler in 'gcc -std=c11' 'g++ -x c++ -std=c++17'; do
	# shellcheck disable=SC2086 # a compiler and its options
	if ! $compiler -Wall -Wextra -Werror "$here/consumer.c" -o "$tmp/consumer" "${flags[@]}"; then
		broken "'$compiler' cannot build consumer.c against the installed library"
	elif ! LD_LIBRARY_PATH=$lib "$tmp/consumer"; then
		broken "consumer.c built by '$compiler' fails"
	fi
done
judged 'all there, and usable'
