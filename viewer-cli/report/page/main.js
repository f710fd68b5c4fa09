// main.js -- the page: answers and the overview at once; the timeline and charts when the executions have been read.
import { changesIn, Comparison, differencesIn } from './compare.js';
import { answersOf, jsonOf, Packs, percentile } from './data.js';
import { drawFairness, drawLatency, interferenceMatrix, missesMatrix, worstOf } from './charts.js';
import { onOtherColours } from './draw.js';
import { fillAudits, fillFindings } from './findings.js';
import { showExecution, tablesOfSpan } from './execution.js';
import { count, duration, quoted, sentence, shown } from './format.js';
import { copyButton, fill, learnCauses, make, tableOf, titled } from './tables.js';
import { heldBy, legendOf, secondsOf, spanIntoAddress, Strip, Timeline } from './timeline.js';
import { World } from './world.js';

const FEW_CHANGES = 5; // of a comparison, on the first screen
const PATIENCE = 500; // ms after which the page says that it is still reading

/** @param {string} id */
const byId = (id) => /** @type {any} */ (document.getElementById(id));

/** In a line what the page compares, and what came of it. @param {Record<string, any>} answers @param {any} about */
function fillComparedWith(answers, about) {
	const { rows = [], verdict, error } = answers.diff ?? {}, { worse, better, same, unsure, untested } = differencesIn(rows);
	const changes = changesIn(rows), more = changes.length > FEW_CHANGES ? `; and ${count(changes.length - FEW_CHANGES)} more` : '';
	const changed = changes.length ? `What changed: ${changes.slice(0, FEW_CHANGES).join('; ')}${more}. ` : '';
	const counts = `Of ${count(rows.length)} figures, ${count(worse)} are worse in B, ${count(better)} are better, ${count(same)} are not distinguishable, ${count(unsure)} could not be decided, and ${count(untested)} were not compared: too few executions.`;
	const outcome = error ? `${titled(sentence(error))}.` : `${changed}${counts} Verdict: ${verdict?.pass === true ? 'pass' : verdict?.pass === false ? 'FAIL' : 'cannot tell'}.`;

	byId('compare').hidden = byId('to-compare').hidden = false;
	byId('in-findings').append(make('p', { class: 'trust' }, make('strong', {}, 'Compared: '), `A is ${shown(about.database)}, and B is ${shown(about.other)}. ${outcome} `,
		make('a', { href: '#compare' }, 'Both side by side'), '. Other sections are about A.'));
}

const rulesMean = /** @type {[RegExp, string][]} */ ([[/\bfifo\b/g, 'first come, first served (fifo)'], [/\bfair\b/g, 'apps share evenly (fair)'], [/\bpriority\b/g, 'the most urgent first (priority)'],
	[/\bedf\b/g, 'the earliest deadline first (edf)'], [/\bnative\b/g, 'the driver decides (native)'], [/\bpreempt none\b/g, 'runs are not interrupted (preempt none)'],
	[/\bpreempt save\b/g, 'runs may be interrupted and go on later (preempt save)'], [/\bpreempt restart\b/g, 'runs may be interrupted and begin again (preempt restart)']]);

/** "fifo, preempt none" in words. @param {string} rules */
function rulesOf(rules) {
	return rulesMean.reduce((text, [word, means]) => text.replace(word, means), rules);
}

/** "3 apps, 592 executions in 3.291 s; the service: first come, first served (fifo), 1 lane." @param {any} summary @param {any} overview */
function subtitleOf(summary, overview) {
	const [trust] = summary?.parts?.find((/** @type {any} */ part) => part.name === 'trust')?.rows ?? [], apps = overview.apps_all;
	const who = `${count(apps)} ${apps === 1 ? 'app' : 'apps'}`;

	return trust ? `${who}, ${count(trust.n_executions)} executions in ${duration(trust.span_ns)}; the service: ${trust.rules ? rulesOf(trust.rules) : 'its rules are unknown'}.` : `${who}.`;
}

/** What is to be read first. @param {Record<string, any>} answers @param {any} about @param {any} overview */
function fillFirst(answers, about, overview) {
	document.title = `${about.title} - burstscope`;
	byId('title').textContent = shown(about.title);
	byId('made').append(` ${about.version}, from ${shown(about.database)}`);
	byId('subtitle').textContent = subtitleOf(answers.summary, overview);
	if (about.asked)
		byId('subtitle').append(` Drawn ${overview.all === 1 ? 'is the one execution' : `are the ${count(overview.all)} executions`} ${sentence(about.asked)}.`);
	if (answers.check) {
		byId('in-findings').append(make('h3', {}, 'Rules of burstscope check'));
		fill(byId('in-findings'), answers.check, 'Rules');
	}
	if (about.other)
		fillComparedWith(answers, about);
	fillFindings(byId('in-findings'), answers.summary ?? {}, about);
}

/** @param {Record<string, any>} answers */
function fillAnswers(answers) {
	fill(byId('in-misses'), answers.misses, 'Causes');
	fill(byId('in-latency'), answers.latency, 'Latency from end to end');
	fill(byId('in-latency'), answers.overhead, 'Overhead');
	fill(byId('in-fairness'), answers.fairness, 'What each app had of the lanes');
	const interference = interferenceMatrix(answers.fairness);

	if (interference)
		byId('in-fairness').append(interference);
	for (const name of ['priority', 'starvation', 'preemptions']) {
		byId('in-fairness').append(make('h3', {}, name[0].toUpperCase() + name.slice(1)));
		fill(byId('in-fairness'), answers[name], name);
	}
	fill(byId('in-slots'), answers.slots, 'Slots');
	fill(byId('in-slots'), answers.memory, 'Memory');
}

const phasesMean = [['prepare', 'the client makes its request'], ['send', 'the request is on its way to the service'], ['decode', 'the service reads and checks it'], ['fence', 'fenced executions wait for their fences'],
	['slots', 'the service finds and maps the memory it names'], ['queue', 'it is ready and waits for a lane for the first time'], ['run', 'it is on a lane'], ['preempted', 'it was taken off its lane and waits'],
	['reply', 'the service writes its answer'], ['return', 'the answer is on its way'], ['finish', 'the client takes the answer'], ['signal', 'a fence is signalled']];

/** What the words of the tables mean, and what was recorded by which rules. @param {any} about @param {Record<string, any>} answers */
function fillDefinitions(about, answers) {
	const place = byId('in-method'), words = (/** @type {string} */ title, /** @type {string[][]} */ rows) => tableOf(title, [{ name: 'word', class: 'label' }, { name: 'means', class: 'text' }], rows.map(([word, means]) => ({ word, means })));

	fill(place, answers.settings, 'Rules of the services that were recorded, since when');
	fill(place, answers.traces, 'Traces that were recorded');
	const causes = words('Causes of missed deadlines and of overhead', about.causes);

	causes.id = 'causes';
	place.append(causes, words('Phases of an execution, in their order', phasesMean));
}

/** @param {any} about @param {any} overview */
function fillMethod(about, overview) {
	byId('in-method').append(
		make('p', {}, 'Each table is what the command of the same name answers (', make('code', {}, `burstscope misses --format json ${quoted(about.database)}`),
			'), to the row and the figure; of long ones, the first 500 rows. docs/figures.md says how each figure is made.'),
		make('p', {}, 'Percentiles are exact (nearest rank), of executions that were recorded whole and whose status is NONE. An unknown figure is "-", never 0. Times are since the first event of the recording.'),
		make('p', {}, 'In the timeline, a lane shows who held it; where there is more than a pixel can show, each app has its share of the pixel\'s height (a whole pixel at least). An app\'s row shows its executions: pale while they wait, are preempted or are on their way, full on a lane, red if their deadline was missed, with a mark at the deadline; further out, how many were submitted. Striped: not all was recorded.'),
		make('p', {}, 'Links: ', make('code', {}, '#exec=ID'), ' shows an execution, ', make('code', {}, '#t=1.2s..1.4s'), ' a span.',
			...(about.other ? [' Of B: ', make('code', {}, '#b-exec=ID'), ', ', make('code', {}, '#b-t=1.2s..1.4s'), '.'] : [])));
	if (overview.stride > 1)
		byId('in-method').append(make('p', {}, `Of ${count(overview.all)} executions this page has ${count(overview.shown)}: all that missed a deadline, those that causes, preemptions, inversions and waits of missed ones name, and one in ${overview.stride} of the others. Tables and the overview strip are of all. The charts of latency, and what is said of a span or of who held lanes, are of the executions in this page. --max-size makes the page larger.`));
}

/** Lets the browser show what there is. */
function rest() {
	return new Promise((resolve) => setTimeout(resolve));
}

class Page {
	constructor() {
		this.about = jsonOf('about');
		this.overview = jsonOf('overview');
		this.world = /** @type {any} */ (new World(this.overview));
		const answers = answersOf();

		this.touched = false; // by the reader, who may have scrolled
		for (const kind of ['wheel', 'touchmove', 'pointerdown', 'keydown'])
			addEventListener(kind, () => { this.touched = true; }, { once: true, passive: true });
		learnCauses(this.about.causes);
		fillFirst(answers, this.about, this.overview);
		byId('legend').append(...legendOf(this.overview, (id) => this.world.appName(id)));
		this.strip = new Strip(byId('strip'), this.overview, (at) => this.go(at));
		this.timeline = new Timeline(byId('lanes'), byId('tip'), this.world,
			{ changed: () => this.changed(), selected: () => this.selected(), chosen: () => spanIntoAddress(this.timeline, ''), picked: (index) => this.pick(index, true) });
		this.strip.draw(0, this.world.length);
		this.timeline.draw();
		performance.mark('first-picture');
		this.patience = setTimeout(() => { byId('status').textContent = 'The executions are being read.'; }, PATIENCE);
		/** @type {Comparison | undefined} */
		this.comparison = undefined;
		this.filled = rest().then(() => {
			fillAnswers(answers);
			if (this.about.other)
				this.comparison = new Comparison(byId('in-compare'), this.about, this.overview, this.world, answers);
			fillMethod(this.about, this.overview);
			fillDefinitions(this.about, answers);
			fillAudits(byId('trust-in-full'), answers.summary ?? {});
			this.land();
		});
	}

	/** The timeline's middle is at @at. @param {number} at */
	go(at) {
		if (!this.timeline)
			return;
		const half = (this.timeline.to - this.timeline.from) / 2;

		this.timeline.show(at - half, at + half);
	}

	/** @param {Promise<Record<string, import('./data.js').Pack>>} packs */
	async read(packs) {
		const { world } = this;

		const all = await packs;

		world.take(all, jsonOf('labels') ?? []);
		await this.filled;
		this.timeline.ready();
		clearTimeout(this.patience);
		const trials = world.countWord(world.executions.path_word, 'prepare');

		const some = trials ? `, ${count(trials)} of them trial runs of models that were prepared` : '';

		byId('status').textContent = this.overview.stride > 1
			? `${count(this.overview.shown)} of ${count(this.overview.all)} executions are in this page${some}: see Method.` : `All ${count(this.overview.all)} executions are in this page${some}.`;
		this.listen();
		this.follow();
		performance.mark('interactive');
		await rest();
		drawLatency(byId('latency-charts'), world);
		await rest();
		drawFairness(byId('fairness-charts'), world);
		const worst = worstOf(world, 50);

		if (worst)
			byId('in-misses').append(missesMatrix(world), worst);
		else if (!this.overview.missed.some((/** @type {number} */ n) => n > 0))
			byId('in-misses').prepend(make('p', {}, 'No missed deadline was recorded.'));
		this.comparison?.ready(this.timeline, Object.fromEntries(Object.entries(all).flatMap(([name, pack]) => (name.endsWith('2') ? [[name.slice(0, -1), pack]] : []))), jsonOf('labels2') ?? []);
		if (this.comparison)
			this.follow();
		requestAnimationFrame(() => requestAnimationFrame(() => this.land())); // in the first one, charts get their heights
		performance.mark('all-drawn');
		document.documentElement.dataset.state = 'ready';
	}

	changed() {
		this.strip.draw(this.timeline.from, this.timeline.to);
	}

	selected() {
		const { selection, lanes, apps } = this.timeline, place = byId('selection');

		if (!selection) {
			place.replaceChildren();
			return;
		}
		const [from, to] = secondsOf(selection);
		const command = `burstscope export --to perfetto --from ${from} --to ${to} -o part.pftrace ${quoted(this.about.database)}`;

		place.replaceChildren(...tablesOfSpan(this.world, apps, lanes, selection[0], selection[1], { heldBy, percentile }), make('p', { class: 'note' }, 'This part alone: ', make('a', { href: `#t=${from}..${to}` }, 'link'), '; for Perfetto: ',
			make('code', {}, command), ' ', copyButton('the command', () => command)));
	}

	/** @param {number} index @param {boolean} link */
	pick(index, link) {
		const { timeline, world } = this;

		timeline.pick(index);
		showExecution(byId('execution'), world, timeline.lanes, index, this.about.database);
		if (link)
			history.replaceState(null, '', `#exec=${world.executions.id.get(index)}`);
	}

	/** None is shown any more. */
	unpick() {
		this.timeline.picked = -1;
		this.timeline.soon();
		byId('execution').hidden = true;
	}

	/** The timeline is in sight, and has the keys. */
	reach() {
		byId('timeline').scrollIntoView();
		byId('lanes').focus({ preventScroll: true });
	}

	/** At the section that the address of a page just opened names: the browser went there before what is above it was there. */
	land() {
		const [opened] = /** @type {PerformanceNavigationTiming[]} */ (performance.getEntriesByType('navigation'));

		// Where a page that is loaded again was scrolled to is the browser's business.
		if (!this.touched && location.hash && (opened?.type ?? 'navigate') === 'navigate')
			document.getElementById(location.hash.slice(1))?.scrollIntoView({ behavior: 'instant' });
	}

	/** What the address asks for. */
	follow() {
		const [, second, what, value] = /^#(b-)?(exec|t)=(.*)$/.exec(location.hash.replaceAll('%2E', '.')) ?? [];

		if (second) {
			if (this.comparison?.b.timeline.apps.length)
				byId('found').textContent = this.comparison.follow(what, value);
			else if (!this.about.other)
				byId('found').textContent = 'This page has no second recording.';
		} else if (what === 'exec') {
			const index = this.world.indexOf(Number(value));

			if (index >= 0)
				this.pick(index, false);
			else
				this.unpick();
			byId('found').textContent = index >= 0 ? '' : this.world.absent(value, '', this.about.database);
			this.reach();
		} else if (what === 't') {
			byId('found').textContent = this.timeline.showSpan(value);
			this.reach();
		}
	}

	/** @param {string} text an id, or a part of the name of an app or model */
	find(text) {
		const { executions } = this.world, wanted = text.trim().toLowerCase(), place = byId('found');

		if (!wanted)
			return;
		const byNumber = /^\d+$/.test(wanted) ? this.world.indexOf(Number(wanted)) : -1;
		const named = (/** @type {number} */ i) => this.world.appName(executions.app_id.get(i)).toLowerCase().includes(wanted) || this.world.modelName(executions.model_id.get(i)).toLowerCase().includes(wanted);
		let index = byNumber;

		for (let k = 1; index < 0 && k <= executions.n; k++) {
			const i = (Math.max(0, this.timeline.picked) + k) % executions.n;

			if (named(i))
				index = i;
		}
		place.textContent = index < 0 ? `Nothing in this page is called ${text}.` : `Execution ${executions.id.get(index)}. Again: the next one.`;
		if (index >= 0)
			this.pick(index, true);
	}

	listen() {
		const redraw = () => { this.timeline.soon(); this.changed(); };

		byId('search').addEventListener('submit', (/** @type {Event} */ e) => {
			e.preventDefault();
			this.find(byId('query').value);
		});
		for (const button of byId('search').querySelectorAll('[data-key]'))
			button.addEventListener('click', () => this.timeline.press(button.dataset.key));
		addEventListener('hashchange', () => this.follow());
		new ResizeObserver(redraw).observe(byId('strip'));
		onOtherColours(redraw);
	}
}

const packs = new Packs(jsonOf('overview')?.shown ?? 0).all, page = new Page();

/** @type {any} */ (globalThis).burstscope = page;
page.read(packs).catch((why) => {
	clearTimeout(page.patience);
	byId('status').textContent = `The executions cannot be shown: ${why}`;
	byId('status').className = 'bad';
});
