import { isDeepStrictEqual } from 'node:util';
import type { Chart } from '../../durable/charts/chart.ts';
import type { ActorPath } from '../../durable/entries.ts';
import { changesBetween, withChanges } from '../state-changes.ts';
import type { ActorState, RunCharts, SystemState } from '../wire.ts';

/** Collects the states of the actors of a system. Consecutive states share the objects that did not change. */
export function systemStates() {
  let state: SystemState = {};
  /** The entries after which actors have ended. */
  const ended = new Map<ActorPath, number>();

  /** Returns `after` with its equal parts taken from `before`: contexts, for example, are new objects in each state. */
  function shared<Value>(before: Value, after: Value): Value {
    return withChanges(before, changesBetween(before, after, [], isDeepStrictEqual)) as Value;
  }

  return {
    set(path: ActorPath, actor: ActorState): void {
      ended.delete(path);
      const before = state[path];
      const after = before === undefined ? actor : shared(before, actor);
      if (after !== before) state = { ...state, [path]: after };
    },
    change(path: ActorPath, changes: Partial<ActorState>): void {
      const before = state[path];
      if (before !== undefined) this.set(path, { ...before, ...changes });
    },
    remove(path: ActorPath): void {
      ended.delete(path);
      const { [path]: _, ...others } = state;
      state = others;
    },
    /** Records how an actor has ended after this entry. Later states no longer contain the actor. */
    end(path: ActorPath, seq: number, end: NonNullable<ActorState['end']>): void {
      this.change(path, { end });
      ended.set(path, seq);
    },
    after(seq: number): SystemState {
      for (const [path, at] of ended) if (at < seq) this.remove(path);
      return state;
    },
  };
}

/** The charts of a system: one per machine, each with an id of its own. */
export function systemCharts(limit = Number.POSITIVE_INFINITY) {
  const ids = new Map<unknown, string>();
  const charts = new Map<string, Chart>();
  const invoked = new Map<string, string>();
  return {
    /** Returns the id of the chart of a machine; null if there are too many. `chart` is called for a new machine. */
    idOf(machine: unknown, chart: () => Chart): string | null {
      const known = ids.get(machine);
      if (known !== undefined || charts.size >= limit) return known ?? null;
      const made = chart();
      let id = made.id;
      for (let number = 2; charts.has(id); number += 1) id = `${made.id} ${number}`;
      ids.set(machine, id);
      charts.set(id, { ...made, id });
      return id;
    },
    /** Records which chart runs in the states that invoke `src`. */
    link(src: string, id: string): void {
      if (!invoked.has(src)) invoked.set(src, id);
    },
    all: (): RunCharts => ({ charts: [...charts.values()], invoked: Object.fromEntries(invoked) }),
  };
}
