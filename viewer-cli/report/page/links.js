// links.js -- who took a lane from whom, and who kept a more urgent one waiting, drawn between the rows of apps.
import { ink } from './draw.js';
import { lowerBound } from './data.js';

const MOST_LINKS = 300; // more of them hide what they link

/** @typedef {{kind: 'preemption' | 'inversion', from: number, to: number, began: number, ended: number}} Link from and to: places of executions */

/** Those of the pack @name that touch the time from @from to @to. @param {any} pack @param {'preemption' | 'inversion'} kind @param {any} world @param {number} from @param {number} to @returns {Link[]} */
function linksIn(pack, kind, world, from, to) {
	const links = [], preempted = kind === 'preemption';
	const [by, whom, began] = preempted ? [pack.by_execution_id, pack.execution_id, pack.stopped] : [pack.holder_id, pack.victim_id, pack.began];
	const first = preempted ? lowerBound(began.codes, from) : 0; // a preemption is drawn where it took the lane away; these are in order

	for (let i = first; i < pack.n && links.length <= MOST_LINKS; i++) {
		const at = began.get(i), ended = preempted ? at : at + (pack.dur_ns.get(i) || 0);

		if (at > to) {
			if (preempted)
				break;
			continue;
		}
		if (ended >= from)
			links.push({ kind, from: world.indexOf(by.get(i)), to: world.indexOf(whom.get(i)), began: at, ended });
	}
	return links;
}

/** What there is to draw between @from and @to; null: too much. @param {any} world @param {number} from @param {number} to @returns {Link[] | null} */
export function linksBetween(world, from, to) {
	if (!world.preemptions)
		return [];
	const links = [...linksIn(world.preemptions, 'preemption', world, from, to), ...linksIn(world.inversions, 'inversion', world, from, to)];

	return links.length > MOST_LINKS ? null : links.filter((link) => link.from >= 0 && link.to >= 0);
}

/** An arrow to the row that lost, and for an inversion a dashed line as long as it waited. @param {CanvasRenderingContext2D} context @param {Link} link @param {{x: number, end: number, top: number, bottom: number}} at where; from the winner's row to the loser's */
export function drawLink(context, link, { x, end, top, bottom }) {
	const way = Math.sign(bottom - top) || 1;

	context.strokeStyle = context.fillStyle = ink(link.kind === 'preemption' ? 'ink' : 'unsure');
	context.beginPath();
	if (link.kind === 'inversion')
		context.setLineDash([4, 3]);
	context.moveTo(x, top);
	context.lineTo(x, bottom - 5 * way);
	if (link.kind === 'inversion') {
		context.moveTo(x, bottom);
		context.lineTo(end, bottom);
	}
	context.stroke();
	context.setLineDash([]);
	context.beginPath();
	context.moveTo(x, bottom);
	context.lineTo(x - 3.5, bottom - 6 * way);
	context.lineTo(x + 3.5, bottom - 6 * way);
	context.fill();
}
