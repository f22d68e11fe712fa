import * as bundled from 'elkjs/lib/elk.bundled.js';
import type { ELK } from 'elkjs/lib/elk-api.js';
import type { RunCharts } from '../../src/inspection/wire.ts';
import { type Drawing, type LaidOut, MAX_DRAWN, ownOf, tooLarge } from './drawing.ts';
import { layoutChart } from './layout-chart.ts';

const Elk = bundled.default as unknown as new () => ELK;

/** Lays out arbitrary charts; skips charts that are too large. `problem` gives the reason if drawings are missing. */
export async function layOut({ charts, invoked }: RunCharts): Promise<LaidOut> {
  const drawn = charts.filter((chart) => tooLarge({ charts: [chart], invoked }) === null);
  try {
    return { drawings: await drawingsOf({ charts: drawn, invoked }), problem: tooLarge({ charts, invoked }) };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { drawings: null, problem: `The chart could not be laid out: ${reason}` };
  }
}

/** Width to height of a chart that is drawn inside a state. */
const INSET_ASPECT = 2;

/** Lays out all charts, inner charts before the charts that contain them. Returns the drawings by chart id. */
export async function drawingsOf({ charts, invoked }: RunCharts): Promise<Record<string, Drawing>> {
  const elk = new Elk();
  const byId = new Map(charts.map((chart) => [chart.id, chart]));
  const drawings = new Map<string, Drawing>();
  const weights = new Map<string, number>();
  const started = new Set<string>();
  const nested = new Set(
    charts.flatMap(({ states }) => states.flatMap(({ invokes }) => invokes.map((name) => ownOf(invoked, name)))),
  );
  const draw = async (id: string): Promise<void> => {
    const chart = byId.get(id);
    // A chart that invokes itself, directly or indirectly, is not drawn inside itself.
    if (chart === undefined || started.has(id)) return;
    started.add(id);
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
      if (drawing === undefined || weight + added > MAX_DRAWN) continue;
      weight += added;
      insets.set(name, drawing);
    }
    weights.set(id, weight);
    drawings.set(id, await layoutChart(chart, { elk, insets, ...(nested.has(id) ? { aspect: INSET_ASPECT } : {}) }));
  };
  for (const { id } of charts) await draw(id);
  return Object.fromEntries(drawings);
}
