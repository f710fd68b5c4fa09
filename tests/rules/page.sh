#!/usr/bin/env bash
# page.sh PAGE BUILD_DIR -- the modules of the report's page, by TypeScript's compiler and eslint (which npm fetches, once for a build): types
# agree, the rules of eslint.config.mjs beside PAGE are kept, and nothing is declared in two of them, for they become one script.
. "$(dirname "$0")/rule.sh"

page=$1 build=$2 typescript=5.9.2 eslint=9.36.0
wants npm node
tools=$build/npm
if [[ ! -x $tools/node_modules/.bin/tsc || ! -x $tools/node_modules/.bin/eslint ]]; then
	npm install --silent --no-audit --no-fund --prefix "$tools" "typescript@$typescript" "eslint@$eslint" >/dev/null 2>&1 || {
		echo 'skipped: npm fetches nothing here'
		exit 77
	}
fi

while IFS= read -r line; do
	broken "$line"
done < <("$tools/node_modules/.bin/tsc" --noEmit --allowJs --checkJs --strict --noUnusedLocals --noUnusedParameters --noImplicitReturns --target esnext \
	--module esnext --moduleResolution bundler --lib esnext,dom,dom.iterable "$page"/*.js)
while IFS= read -r line; do
	broken "$line"
done < <(cd "$page/.." && { "$tools/node_modules/.bin/eslint" --format json "${page##*/}" || true; } | node -e '
	for (const { filePath, messages } of JSON.parse(require("fs").readFileSync(0, "utf8")))
		for (const { line, ruleId, message } of messages)
			console.log(`${filePath.replace(/.*\//, "")}:${line}: ${message} (${ruleId ?? "it cannot be read"})`);' || echo 'eslint does not run')
while IFS= read -r name; do
	broken "$name is declared in two modules"
done < <(sed -nE 's/^(export )?(async )?(const|let|function|class) ([A-Za-z_]+).*/\4/p' "$page"/*.js | sort | uniq -d)
while IFS=: read -r file line text; do
	broken "${file##*/}:$line: $text: text of a recording is no HTML"
done < <(grep -nE 'innerHTML|outerHTML|insertAdjacentHTML|document\.write|setAttribute\(.(style|on)' "$page"/*.js || true)
judged "$(cat "$page"/*.js | wc -l) lines of JavaScript"
