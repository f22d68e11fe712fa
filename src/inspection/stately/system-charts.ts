import { type Chart, eventName } from '../../durable/charts/chart.ts';
import type { RunCharts } from '../wire.ts';
import { type MachineOutline, machineOutline, type StateOutline, type TransitionOutline } from './machine-outline.ts';
import { decodeDefinition } from './messages.ts';

/** The chart of an actor. `id` identifies it within the system. */
export interface OpenedChart {
  readonly id: string;
  readonly outline: MachineOutline;
  readonly truncated: boolean;
  /** Whether the chart is new. */
  readonly added: boolean;
}

const MAX_CHARTS = 200;

/**
 * Keeps the charts of a system. Two concurrent actors with one definition have two charts; the session id is appended to the second's id. An
 * actor that starts after another with the same definition has ended reuses its chart.
 */
export function createSystemCharts() {
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
    /** Returns the chart of a new actor; null if it is not a machine, 'full' if there are too many charts. */
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
    release(id: string): void {
      const chart = charts.get(id);
      if (chart !== undefined) chart.busy = false;
    },
    /** Records which chart runs in states that invoke `src`. Returns whether this is new. */
    setInvoked(src: string, id: string): boolean {
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

/**
 * Returns the chart of a machine that is known only by its configuration as JSON. It differs from `chartOf(machine)`: the package sorts the
 * configuration, and with it states and events, by name; a function guard is `inline` or has the function's name; a function action has the
 * function's name; routes (`xstate.route`) are left out.
 */
export function chartOfOutline({ root, states }: MachineOutline, id = root.id): Chart {
  const outlines = [...states.values()];
  return {
    id,
    states: outlines.map((state) => ({
      id: state.id,
      name: state.key,
      parent: state.parent?.id ?? null,
      type: state.type,
      description: state.description,
      initial: state.children.get(state.initial ?? '')?.id ?? null,
      invokes: state.invokes.map(({ src }) => src),
    })),
    transitions: outlines.flatMap((state) =>
      [...state.transitions.values(), state.always].flatMap((group) =>
        group.map((transition, index) => chartTransition(transition, index, state)),
      ),
    ),
  };
}

function chartTransition({ target, eventType, guard, actions }: TransitionOutline, index: number, state: StateOutline) {
  return {
    source: state.id,
    target: target.map(({ id }) => id),
    event: eventName(eventType, state),
    guard,
    otherwise: guard === null && index > 0,
    actions,
  };
}
