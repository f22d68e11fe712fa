import type { ELK } from 'elkjs/lib/elk-api.js';
import type { RunCharts } from '../../src/inspection/wire.ts';
import { type Drawing, MOST_DRAWN, ownOf } from './drawing.ts';
import { layoutChart } from './layout-chart.ts';

/** Width to height of a chart that is drawn inside a state. */
const INSET_ASPECT = 2;

/** The drawings of all charts, by their ids: those that run inside states of others before those. */
export async function drawAll(
  { charts, invoked }: RunCharts,
  elk: Pick<ELK, 'layout'>,
): Promise<Record<string, Drawing>> {
  const byId = new Map(charts.map((chart) => [chart.id, chart]));
  const drawings = new Map<string, Drawing>();
  const weights = new Map<string, number>();
  const begun = new Set<string>();
  const nested = new Set(
    charts.flatMap(({ states }) => states.flatMap(({ invokes }) => invokes.map((name) => ownOf(invoked, name)))),
  );
  const draw = async (id: string): Promise<void> => {
    const chart = byId.get(id);
    // A chart that invokes itself, directly or indirectly, is not drawn inside itself.
    if (chart === undefined || begun.has(id)) return;
    begun.add(id);
    const insets = new Map<string, Drawing>();
    let weight = chart.states.length;
    for (const name of new Set(chart.states.flatMap(({ invokes }) => invokes))) {
      const inner = ownOf(invoked, name);
      if (inner === undefined) continue;
      await draw(inner);
      const drawing = drawings.get(inner);
      // Nested charts are drawn once per use, which multiplies quickly.
      const uses = chart.states.filter(({ invokes }) => invokes.includes(name)).length;
      const added = uses * (weights.get(inner) ?? 0);
      if (drawing === undefined || weight + added > MOST_DRAWN) continue;
      weight += added;
      insets.set(name, drawing);
    }
    weights.set(id, weight);
    drawings.set(id, await layoutChart(chart, { elk, insets, ...(nested.has(id) ? { aspect: INSET_ASPECT } : {}) }));
  };
  for (const { id } of charts) await draw(id);
  return Object.fromEntries(drawings);
}
