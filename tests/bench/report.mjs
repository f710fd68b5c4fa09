// report.mjs PAGE... -- opens each page in a headless Chromium of 1280 x 800 without a GPU, and prints a line of figures for it:
// ms until its first picture, ms until it can be used, MB of script memory, p95 in ms of drawing while it is moved and zoomed over all of it.
// `report.mjs --peer INDEX PROFILE`: ms until speedscope shows the profile, or "none", where it does not within a minute.
import { Browser } from '../viewer/browser.mjs';

const b = new Browser();
const marks = `Object.fromEntries(performance.getEntriesByType('mark').map((m) => [m.name, m.startTime]))`;
const moves = `(() => {
	const t = burstscope.timeline, length = burstscope.world.length, took = [];

	for (let i = 0; i < 200; i++) {
		const span = length / 2 ** (i % 20), from = (length - span) * ((i * 7919) % 200) / 200, began = performance.now();

		t.from = from;
		t.to = from + span;
		t.draw();
		t.canvas.getContext('2d').getImageData(0, 0, 1, 1); // it is painted, and not only asked for
		took.push(performance.now() - began);
	}
	return took.sort((a, b) => a - b)[189];
})()`;

try {
	if (process.argv[2] === '--peer') {
		const [index, profile] = process.argv.slice(3);
		const name = profile.replace(/.*\//, '').replace(/\.js$/, '');

		await b.open(`file://${index}#localProfilePath=${profile}`, { ready: 'true' });
		const shown = `document.title.includes(${JSON.stringify(name)}) && performance.now()`;
		await b.until(shown, 60000);
		console.log((await b.value('performance.now()')).toFixed(1));
	} else {
		for (const page of process.argv.slice(2)) {
			b.session = undefined; // a tab of its own: nothing of the page before is in its memory
			await b.open(`file://${page}`);
			const at = await b.value(marks), moved = await b.value(moves);
			await b.send('HeapProfiler.collectGarbage');
			const { usedSize, backingStorageSize } = await b.send('Runtime.getHeapUsage');
			console.log([at['first-picture'], at.interactive, (usedSize + (backingStorageSize ?? 0)) / 1e6, moved].map((v) => v.toFixed(1)).join(' '));
		}
	}
} catch {
	console.log('none');
}
await b.close();
