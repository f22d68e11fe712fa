import type { Chart } from '../../engine/charts/chart.ts';

/** A transition of a chart in words: `cycling.yield.deciding, at once, [confidenceReached] → synthesizing`. */
export function placeInWords({ id, transitions }: Chart, place: number): string {
  const transition = transitions[place];
  if (transition === undefined) return `transition ${place}`;
  const { source, event, guard, target } = transition;
  const short = (state: string): string => (state === id ? state : state.replace(`${id}.`, ''));
  const to = target.length === 0 ? 'stays' : `→ ${target.map(short).join(', ')}`;
  return `${short(source)}, ${event === '' ? 'at once' : event}${guard === null ? '' : `, [${guard}]`} ${to}`;
}
