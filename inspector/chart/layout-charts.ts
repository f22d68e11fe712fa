import * as bundled from 'elkjs/lib/elk.bundled.js';
import type { ELK } from 'elkjs/lib/elk-api.js';
import type { Chart, ChartState } from '../../src/durable/charts/chart.ts';
import type { RunCharts } from '../../src/inspection/wire.ts';
import { type Drawing, type DrawnLevel, ownOf } from './drawing.ts';
import { levelsOf } from './level.ts';
import { type Inner, layOutLevel } from './level-layout.ts';
import { normalizeChart } from './normalize-chart.ts';

/** The most states in one picture; states of inner charts count each time they are drawn. */
const MAX_DRAWN = 4_000;

const Elk = bundled.default as unknown as new () => ELK;

/** Width to height of a whole chart, and of a picture inside a state. */
const ASPECT = { whole: 1.5, inside: 1.2 } as const;

/** Lays out all charts, inner pictures before those that contain them. Returns the drawings by chart id. */
export async function drawingsOf({ charts, invoked }: RunCharts): Promise<Record<string, Drawing>> {
  const elk = new Elk();
  const byId = new Map(charts.map((chart) => [chart.id, normalizeChart(chart)]));
  const drawings = new Map<string, Drawing>();
  const weights = new Map<string, number>();
  const started = new Set<string>();
  const draw = async (id: string): Promise<void> => {
    const chart = byId.get(id);
    // A chart that invokes itself, directly or indirectly, is not drawn inside itself.
    if (chart === undefined || started.has(id)) return;
    started.add(id);
    let weight = chart.states.length;
    const insets = new Map<string, Inner>();
    for (const name of new Set(chart.states.flatMap(({ invokes }) => invokes))) {
      const inner = ownOf(invoked, name);
      if (inner === undefined) continue;
      await draw(inner);
      const whole = drawings.get(inner)?.levels[inner];
      // Nested charts are drawn once per use, which multiplies quickly.
      const uses = chart.states.filter(({ invokes }) => invokes.includes(name)).length;
      const added = uses * (weights.get(inner) ?? 0);
      if (whole === undefined || weight + added > MAX_DRAWN) continue;
      weight += added;
      insets.set(name, { chartId: inner, level: inner, width: whole.width, height: whole.height });
    }
    weights.set(id, weight);
    drawings.set(id, { chartId: id, levels: await levelsIn(chart, insets, elk) });
  };
  for (const { id } of charts) await draw(id);
  return Object.fromEntries(drawings);
}

/** For larger charts, only one arrangement of each level is tried. */
const MAX_VARIED = 60;

/** Lays out the levels of a chart, the innermost first. */
async function levelsIn(
  chart: Chart,
  insets: ReadonlyMap<string, Inner>,
  elk: Pick<ELK, 'layout'>,
): Promise<Record<string, DrawnLevel>> {
  const drawn = new Map<string, DrawnLevel>();
  const innerOf = ({ id, invokes }: ChartState): Inner | null => {
    const inside = drawn.get(id);
    if (inside !== undefined) return { chartId: chart.id, level: id, width: inside.width, height: inside.height };
    return invokes.map((name) => insets.get(name) ?? null).find((inner) => inner !== null) ?? null;
  };
  for (const level of [...levelsOf(chart)].reverse()) {
    const aspect = level.root.id === chart.id ? ASPECT.whole : ASPECT.inside;
    drawn.set(
      level.root.id,
      await layOutLevel(level, { elk, aspect, innerOf, isFast: chart.states.length > MAX_VARIED }),
    );
  }
  return Object.fromEntries(drawn);
}
