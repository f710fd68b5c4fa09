#!/usr/bin/env bash
# package.sh BUILD_DIR | FILE.deb -- cpack makes a Debian package that says what it needs, and unpacks into
# a tree that installed.sh accepts.
. "$(dirname "$0")/rule.sh"

here=$(cd "$(dirname "$0")" && pwd)
wants dpkg-deb
scratch

deb=$1
if [[ -d $1 ]]; then
	wants cpack dpkg-shlibdeps file
	if ! cpack --config "$1/CPackConfig.cmake" -G DEB -B "$tmp/made" >"$tmp/log" 2>&1; then
		broken "cpack: $(<"$tmp/log")"
		exit 1
	fi
	deb=$(echo "$tmp"/made/*.deb)
fi

[[ $(dpkg-deb -f "$deb" Package) == burstscope ]] || broken "the package is not named burstscope"
[[ $(dpkg-deb -f "$deb" Depends) == *libc6* ]] || broken "Depends does not name the C library: shlibdeps?"
control=$(dpkg-deb --ctrl-tarfile "$deb" | tar -t)
for file in shlibs postinst; do
	[[ $control == *"./$file"* ]] || broken "the package carries no $file for its library"
done
while read -r owner path; do
	[[ $owner == root/root ]] || broken "$path belongs to $owner"
done < <(dpkg-deb -c "$deb" | awk '{ print $2, $6 }')
((violations == 0)) || exit 1

dpkg-deb -x "$deb" "$tmp/root"
"$here/installed.sh" "$tmp/root" "$1"

[[ ! -d $1 ]] || cp "$deb" "$1/package.deb" # for package_installs.sh
judged 'the package is whole'
