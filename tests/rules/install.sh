#!/usr/bin/env bash
# install.sh BUILD_DIR -- `cmake --install`, staged, gives a tree that installed.sh accepts.
. "$(dirname "$0")/rule.sh"

wants cmake
scratch
DESTDIR=$tmp cmake --install "$1" --prefix /usr >"$tmp.log" 2>&1 || broken "$(<"$tmp.log")"
rm -f "$tmp.log"
((violations == 0)) || exit 1
"$(dirname "$0")/installed.sh" "$tmp" "$1"
