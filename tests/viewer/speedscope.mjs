// speedscope.mjs INDEX PROFILE.js [PICTURE] -- opens the profile in speedscope's page INDEX, in a headless Chromium,
// and prints a line for each of its threads: the number of calls, of calls within no other call, the length of these
// in ns, and the thread's name. PICTURE gets a screenshot of the page.
import { writeFileSync } from 'node:fs';
import { Browser } from './browser.mjs';

const [index, profile, picture] = process.argv.slice(2);
const b = new Browser();
let status = 0;

// The page has no interface for this, so the script reads the properties of a component of its tree, which Preact
// keeps at the elements.
const threads = `(() => {
	const seen = new Set();
	const find = (o, depth) => {
		if (!o || typeof o !== 'object' || seen.has(o) || depth > 20 || o instanceof Node)
			return undefined;
		seen.add(o);
		if (Array.isArray(o.profiles))
			return o.profiles;
		for (const key of Object.keys(o)) {
			const found = find(o[key], depth + 1);

			if (found)
				return found;
		}
		return undefined;
	};
	const trees = [...document.querySelectorAll('*')].flatMap((e) => Object.keys(e).filter((k) => k.startsWith('__')).map((k) => e[k]));
	const profiles = trees.map((t) => find(t, 0)).find((p) => p);

	return profiles.map(({ profile }) => {
		let calls = 0, depth = 0, outermost = 0, began = 0, us = 0;

		profile.forEachCall((_, at) => { calls++; if (!depth++) { outermost++; began = at; } }, (_, at) => { if (!--depth) us += at - began; });
		return [calls, outermost, Math.round(us * 1000), profile.getName()].join(' ');
	});
})()`;

try {
	await b.open(`file://${index}#localProfilePath=${profile}`, { ready: 'true' });
	await b.until(`document.title.includes(${JSON.stringify(profile.replace(/.*\//, '').replace(/\.js$/, ''))})`);
	for (const line of await b.value(threads))
		console.log(line);
	if (picture)
		writeFileSync(picture, await b.picture());
} catch (why) {
	console.error(`speedscope.mjs: ${why.message}`);
	status = 1;
}
await b.close();
process.exit(status);
