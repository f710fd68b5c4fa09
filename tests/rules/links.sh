#!/usr/bin/env bash
# links.sh FILE... -- what the runtime's libraries and programs need at run time is the C library and
# one another, the library that reads JSON, and each driver its own. Above all never LTTng: who is traced must run,
# and cost the same, without it. Of the viewer: SQLite, and what reads the JSON of cases; what reads traces is for its importer alone.
. "$(dirname "$0")/rule.sh"

allowed='lib(c|m|pthread)\.so\.[0-9]+|ld-linux[a-z0-9_-]*\.so\.[0-9]+|libnnburst\.so\.[0-9]+'
wants readelf

# own FILE: what this one may need besides.
own()
{
	case $(basename "$1") in
	libnnburst.so* | nnburst-load) echo 'libjansson\.so\.[0-9]+' ;;
	burstscope) echo 'libsqlite3\.so\.[0-9]+|libz\.so\.[0-9]+|libjansson\.so\.[0-9]+' ;;
	driver-xnnpack.so) echo 'libXNNPACK\.so\.[0-9]+' ;;
	*) echo 'nothing else' ;;
	esac
}

for file; do
	needed=$(readelf -dW "$file" | sed -nE 's/.*\(NEEDED\).*\[(.*)\]/\1/p')
	[[ $needed || $file == *.so ]] || broken "$(basename "$file") needs nothing at all: is it dynamic?"
	for each in $needed; do
		if [[ $each == *lttng* ]]; then
			broken "$(basename "$file") needs $each: what is traced never depends on LTTng"
		elif [[ $each == *babeltrace* ]]; then
			broken "$(basename "$file") needs $each: who asks a database does not load what reads traces"
		elif ! [[ $each =~ ^($allowed|$(own "$file"))$ ]]; then
			broken "$(basename "$file") needs $each, which is not allowed for it"
		fi
	done
done
judged "$# files need only what they may"
