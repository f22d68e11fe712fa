import type { Chart } from '../../engine/charts/chart.ts';
import type { RunCharts } from '../wire.ts';
import { chartOfOutline } from './chart-of-definition.ts';
import { decodeDefinition } from './decode.ts';
import { type MachineOutline, machineOutline } from './machine-outline.ts';

/** The chart of an actor: the outline tells its states, `id` which chart of the system it is. */
export interface OpenedChart {
  readonly id: string;
  readonly outline: MachineOutline;
  readonly truncated: boolean;
  /** It was not there before. */
  readonly added: boolean;
}

const MAX_CHARTS = 200;

/**
 * The charts of a system. Two actors at the same time are two charts though they have one definition: the second's id has its session id
 * behind it. An actor that begins when another of the same definition has ended takes its chart over.
 */
export function createChartBook() {
  const outlines = new Map<string, { outline: MachineOutline; truncated: boolean } | null>();
  const charts = new Map<string, { chart: Chart; definition: string; busy: boolean }>();
  const invoked = new Map<string, string>();
  let first: string | null = null;

  const outlineOf = (definition: string) => {
    const known = outlines.get(definition);
    if (known !== undefined) return known;
    const read = decodeDefinition(definition);
    const outline = read && { outline: machineOutline(read.definition), truncated: read.truncated };
    if (outlines.size < MAX_CHARTS) outlines.set(definition, outline);
    return outline;
  };

  return {
    /** Null for an actor that is no machine; 'full' where there are too many charts. */
    open(definition: string | null | undefined, sessionId: string, isRoot: boolean): OpenedChart | 'full' | null {
      const read = definition ? outlineOf(definition) : null;
      if (!definition || read === null) return null;
      const { outline, truncated } = read;
      const free = [...charts].find(([, { busy, definition: other }]) => !busy && other === definition);
      const id = free?.[0] ?? (charts.has(outline.root.id) ? `${outline.root.id} ${sessionId}` : outline.root.id);
      if (free === undefined && (charts.size >= MAX_CHARTS || charts.has(id))) return 'full';
      charts.set(id, { chart: free?.[1].chart ?? chartOfOutline(outline, id), definition, busy: true });
      if (isRoot) first = id;
      return { id, outline, truncated, added: free === undefined };
    },
    leave(id: string): void {
      const chart = charts.get(id);
      if (chart !== undefined) chart.busy = false;
    },
    /** A state invokes it by this name. */
    invoke(src: string, id: string): boolean {
      const known = invoked.has(src);
      if (!known) invoked.set(src, id);
      return !known;
    },
    all(): RunCharts {
      const all = [...charts.values()].map(({ chart }) => chart);
      const root = all.filter(({ id }) => id === first);
      return {
        charts: [...root, ...all.filter(({ id }) => id !== first)],
        invoked: Object.fromEntries(invoked),
      };
    },
  };
}
