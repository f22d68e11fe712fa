import type { RunCharts } from '../../../src/inspection/wire.ts';
import type { RunFold } from '../run-fold.ts';
import type { RecordedTransition } from '../transition-log.ts';
import { transitionLookup } from '../transition-lookup.ts';

export interface Step {
  readonly seq: number;
  readonly transition: RecordedTransition;
  /** Identifies the transition; equal in every run. */
  readonly name: string;
}

/** The transitions a run took, in order. Self-transitions are left out: how a reply is split into chunks does not matter. */
export function pathOf(fold: RunFold, charts: RunCharts | null): readonly Step[] {
  const lookup = charts === null ? null : transitionLookup(charts.charts);
  const events = new Map(charts?.charts.map(({ id, transitions }) => [id, transitions]));
  const steps: Step[] = [];
  for (const transition of fold.transitions.distinct) {
    const { machine, source, target, guard } = transition;
    if (target.length === 1 && target[0] === source) continue;
    const index = lookup?.indexOf(transition) ?? -1;
    const event = events.get(machine)?.[index]?.event ?? transition.event;
    const name = JSON.stringify([machine, event, source, target, guard]);
    for (const seq of transition.seqs) steps.push({ seq, transition, name });
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
  let postponed: Step[][] = [];
  const release = (): void => {
    for (const group of postponed.reverse()) ordered.push(...group);
    postponed = [];
  };
  for (const step of steps) {
    const { machine, event } = step.transition;
    if (event !== 'xstate.init' || !nested.has(machine)) {
      ordered.push(step);
      release();
    } else if (postponed.at(-1)?.[0]?.transition.machine === machine) postponed.at(-1)?.push(step);
    else postponed.push([step]);
  }
  release();
  return ordered;
}
