import type { RunCharts } from '../../../src/inspection/wire.ts';
import { chartWaysOf } from '../coverage.ts';
import type { RunFold } from '../run-fold.ts';
import type { TakenWay } from '../transition-log.ts';

/** One step of a run: its journal entry and the transition it took. */
export interface Step {
  readonly seq: number;
  readonly way: TakenWay;
  /** Identifies the transition; equal in every run. */
  readonly name: string;
}

/** The transitions a run took, in order. Self-transitions are left out: how a reply is split into chunks does not matter. */
export function pathOf(fold: RunFold, charts: RunCharts | null): readonly Step[] {
  const ways = charts === null ? null : chartWaysOf(charts.charts);
  const events = new Map(charts?.charts.map(({ id, transitions }) => [id, transitions]));
  const steps: Step[] = [];
  for (const way of fold.transitions.ways) {
    const { machine, source, target, guard } = way;
    if (target.length === 1 && target[0] === source) continue;
    const place = ways?.placeOf(way) ?? -1;
    const event = events.get(machine)?.[place]?.event ?? way.event;
    const name = JSON.stringify([machine, event, source, target, guard]);
    for (const seq of way.seqs) steps.push({ seq, way, name });
  }
  return causesFirst(
    steps.sort((left, right) => left.seq - right.seq),
    new Set(Object.values(charts?.invoked ?? {})),
  );
}

/**
 * Puts the first steps of a nested machine after the step that starts the machine: the journal has them in the opposite order.
 */
function causesFirst(steps: readonly Step[], nested: ReadonlySet<string>): readonly Step[] {
  const ordered: Step[] = [];
  let held: Step[][] = [];
  const release = (): void => {
    for (const group of held.reverse()) ordered.push(...group);
    held = [];
  };
  for (const step of steps) {
    const { machine, event } = step.way;
    if (event !== 'xstate.init' || !nested.has(machine)) {
      ordered.push(step);
      release();
    } else if (held.at(-1)?.[0]?.way.machine === machine) held.at(-1)?.push(step);
    else held.push([step]);
  }
  release();
  return ordered;
}
