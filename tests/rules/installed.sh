#!/usr/bin/env bash
# installed.sh ROOT [BUILD_DIR] -- below ROOT/usr everything lies where Debian looks for it, and can be used from
# there: the program runs; consumer.c is compiled, linked and run with nothing but pkg-config's word. A BUILD_DIR
# may be one without the analyzer.
. "$(dirname "$0")/rule.sh"

here=$(cd "$(dirname "$0")" && pwd)
usr=$1/usr
lib=$usr/lib
[[ -e /etc/debian_version ]] && lib=$usr/lib/$(gcc -print-multiarch)
wants gcc g++ pkg-config
scratch

# Each program, and the section of its page.
programs=(bin/nnburst-conformance.1 bin/nnburst-fmq.1 bin/nnburst-load.1 sbin/nnburstd.8)
analyzer=()
if ! grep -qs '^BURSTSCOPE_ANALYZER:BOOL=OFF' "${2-}/CMakeCache.txt"; then
	programs+=(bin/burstscope.1)
	analyzer=("$usr/libexec/burstscope/burstscope-importer" "$usr/share/man/man1/burstscope-record.1.gz" "$usr/share/man/man1/burstscope-misses.1.gz"
		"$usr/share/man/man7/babeltrace2-sink.nnburst.sqlite.7.gz"
		"$lib/babeltrace2/plugins/babeltrace-plugin-nnburst.so")
fi
for file in "${analyzer[@]}" "$lib/libnnburst.so" "$lib/libnnburst.so.0" "$lib/pkgconfig/nnburst.pc" \
	"$lib/nnburst/driver-null.so" "$lib/nnburst/driver-xnnpack.so" "$usr/include/nnb/fmq.h" \
	"$usr/include/nnb/operations.def" "$usr/share/doc/burstscope/copyright" \
	"$usr/share/man/man3/nnb_fmq.3.gz" "$usr/share/man/man7/nnb_fmq.7.gz" "$usr/share/man/man5/nnb_model.5.gz" \
	"$usr/share/man/man5/nnburst-scenario.5.gz" \
	"$usr/share/burstscope/scenarios/audio.json"; do
	[[ -s $file ]] || broken "missing or empty: ${file#"$1"}"
done
for each in "${programs[@]}"; do
	section=${each##*.} path=${each%.*} program=$(basename "${each%.*}")
	for file in "$usr/$path" "$usr/share/man/man$section/$program.$section.gz" \
		"$usr/share/bash-completion/completions/$program" "$usr/share/zsh/vendor-completions/_$program"; do
		[[ -s $file ]] || broken "missing or empty: ${file#"$1"}"
	done
done
((violations == 0)) || exit 1

for page in "$usr"/share/man/man*/*; do
	gzip -t "$page" || broken "not gzip: ${page#"$1"}"
done
wanted=$(PKG_CONFIG_PATH=$lib/pkgconfig pkg-config --modversion nnburst)
for each in "${programs[@]}"; do
	path=${each%.*} program=$(basename "${each%.*}")
	bash -n "$usr/share/bash-completion/completions/$program" || broken "the bash completion of $program is no bash"
	[[ $program == burstscope ]] || for option in $(LD_LIBRARY_PATH=$lib "$usr/$path" --help | grep -oE -e '--[a-z][a-z-]*' | sort -u); do
		for completion in "bash-completion/completions/$program" "zsh/vendor-completions/_$program"; do
			grep -qw -e "$option" "$usr/share/$completion" || broken "$completion lacks $option, which $program --help has"
		done
	done
	version=$(LD_LIBRARY_PATH=$lib "$usr/$path" --version) || broken "$program --version failed"
	[[ $version == *"$wanted"* ]] || broken "$program says '$version', pkg-config says '$wanted'"
done
grep -q "^ExecStart=.*/sbin/nnburstd " "$usr/lib/systemd/system/nnburstd.service" || broken 'no unit that starts nnburstd'
if command -v systemd-tmpfiles >/dev/null; then
	mkdir -p "$tmp/dev/shm"
	echo old >"$tmp/dev/shm/lttng-ust-wait-8"
	exec {held}<"$tmp/dev/shm/lttng-ust-wait-8"
	systemd-tmpfiles --root "$tmp" --remove --create "$usr/lib/tmpfiles.d/nnburst.conf" || broken 'systemd-tmpfiles does not take nnburst.conf'
	[[ $(stat -c '%a %s' "$tmp/dev/shm/lttng-ust-wait-8") == '644 4' ]] || broken 'nnburst.conf makes another file'
	[[ ! "$tmp/dev/shm/lttng-ust-wait-8" -ef /dev/fd/$held ]] || broken 'nnburst.conf leaves a file that another user may have open'
	exec {held}<&-
fi

# The importer is found, and does not find a trace.
if ((${#analyzer[@]})); then
	grep -q "^ExecStart=.*/bin/burstscope watch " "$usr/lib/systemd/system/burstscope-watch.service" || broken 'no unit that starts burstscope watch'
	mkdir "$tmp/nothing"
	status=0
	"$usr/bin/burstscope" import -o "$tmp/db" "$tmp/nothing" 2>"$tmp/said" || status=$?
	((status == 4)) || broken "the installed burstscope cannot import: $(<"$tmp/said")"
fi

# The drivers are found where they are installed.
LD_LIBRARY_PATH=$lib "$usr/bin/nnburst-conformance" --quiet "$here/../../docs/examples/models" >/dev/null ||
	broken 'the installed nnburst-conformance fails on the examples'

# So are the scenarios.
LD_LIBRARY_PATH=$lib "$usr/bin/nnburst-load" --check audio || broken 'the installed nnburst-load knows no audio'

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
