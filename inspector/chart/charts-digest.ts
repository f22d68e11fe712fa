import type { Chart } from '../../src/engine/charts/chart.ts';
import type { RunCharts } from '../../src/inspection/wire.ts';
import { ownOf } from './own-of.ts';

/** A short name for everything that the drawing of a chart depends on: the chart, and those that run inside its states. */
export function chartDigest(chartId: string, { charts, invoked }: RunCharts): string {
  const byId = new Map(charts.map((chart) => [chart.id, chart]));
  const inside = new Map<string, Chart>();
  const names = new Map<string, string>();
  const visit = (id: string): void => {
    const chart = byId.get(id);
    if (chart === undefined || inside.has(id)) return;
    inside.set(id, chart);
    for (const name of chart.states.flatMap(({ invokes }) => invokes)) {
      const inner = ownOf(invoked, name);
      if (inner === undefined) continue;
      names.set(name, inner);
      visit(inner);
    }
  };
  visit(chartId);
  const sorted = [...names].sort(([one], [other]) => (one < other ? -1 : 1));
  return hash(JSON.stringify([DRAWING_VERSION, [...inside.values()], sorted]));
}

/** Another number where the same charts are laid out otherwise than before. */
const DRAWING_VERSION = 1;

/** FNV-1a, twice with different beginnings: 64 bits, as hexadecimal digits. It keeps no secrets. */
function hash(text: string): string {
  let [one, other] = [0x811c9dc5, 0x1b873593];
  for (let place = 0; place < text.length; place += 1) {
    const unit = text.charCodeAt(place);
    one = Math.imul(one ^ unit, 0x01000193);
    other = Math.imul(other ^ (unit + place), 0x01000193);
  }
  return [one, other].map((part) => (part >>> 0).toString(16).padStart(8, '0')).join('');
}
