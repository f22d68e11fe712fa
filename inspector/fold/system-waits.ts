import type { RunCharts } from '../../src/inspection/wire.ts';
import { activeStatesAt } from './active-states.ts';
import { chartIndexOf } from './chart-index.ts';
import { humanize } from './format.ts';
import type { RunFold } from './run-fold.ts';

/** What the active states of an observed system react to. */
interface SystemWaits {
  readonly events: readonly string[];
  /** The actors whose end they wait for. */
  readonly actors: readonly string[];
  /** `dueMs`: since the start of the system; null if it is unknown. */
  readonly timers: readonly { readonly delay: string; readonly dueMs: number | null }[];
}

/** Reads the charts of the system, so it lists guarded transitions, too. */
export function systemWaits({ transitions, timeLine }: RunFold, charts: RunCharts, at: number): SystemWaits {
  const { active, leaf } = activeStatesAt(transitions, charts, at);
  const events = new Set<string>();
  const actors = new Set<string>();
  const timers: SystemWaits['timers'][number][] = [];
  for (const chart of chartIndexOf(charts).all)
    for (const id of active[chart.id] ?? []) {
      for (const name of chart.state(id)?.invokes ?? []) actors.add(name);
      for (const event of new Set(chart.transitionsFrom(id).map((transition) => transition.event))) {
        const delay = /^after (?<delay>.*)$/su.exec(event)?.groups?.['delay'];
        if (delay !== undefined) timers.push({ delay, dueMs: dueMs(chart.id, id, Number(delay)) });
        else if (!/^$|(?:^|: )(?:done|error)$/u.test(event)) events.add(event);
      }
    }
  return { events: [...events], actors: [...actors].map(humanize), timers };

  /** A state that was entered last started its timers then; when others did is not recorded. */
  function dueMs(machine: string, id: string, delayMs: number): number | null {
    const position = transitions.positionAt(machine, at);
    const isEntered = position?.targets.includes(id) === true && leaf[machine]?.includes(id) === true;
    return isEntered && Number.isFinite(delayMs) ? timeLine.atMs(position.since) + delayMs : null;
  }
}
