import { isDeepStrictEqual } from 'node:util';
import type { Chart } from '../../durable/charts/chart.ts';
import type { ActorPath } from '../../durable/entries.ts';
import { wholeFrames } from '../source.ts';
import { changesBetween, type StateChange, withChanges } from '../state-changes.ts';
import type { ActorState, RunCharts, StateFrame } from '../wire.ts';

/** The states of the actors of a system, and a frame of each change. The work for a change does not depend on the number of actors. */
export class SystemStates {
  readonly #actors = new Map<ActorPath, ActorState>();
  /** The entries after which actors have ended. */
  readonly #ended = new Map<ActorPath, number>();
  readonly #wholeIfDue = wholeFrames();
  #changes: StateChange[] = [];

  get(path: ActorPath): ActorState | undefined {
    return this.#actors.get(path);
  }

  /** Keeps the parts of the earlier state that are equal, so that a frame contains only what differs. */
  set(path: ActorPath, actor: ActorState): void {
    this.#ended.delete(path);
    const before = this.#actors.get(path);
    const changes = before && changesBetween(before, actor, [], isDeepStrictEqual);
    if (changes?.length === 0) return;
    this.#actors.set(path, changes === undefined ? actor : (withChanges(before, changes) as ActorState));
    const whole: StateChange = { path: [path], value: actor };
    this.#changes.push(...(changes?.map((one) => ({ ...one, path: [path, ...one.path] })) ?? [whole]));
  }

  change(path: ActorPath, changes: Partial<ActorState>): void {
    const before = this.#actors.get(path);
    if (before !== undefined) this.set(path, { ...before, ...changes });
  }

  remove(path: ActorPath): void {
    this.#ended.delete(path);
    if (this.#actors.delete(path)) this.#changes.push({ path: [path], gone: true });
  }

  /** Shows how an actor has ended, after this entry. States after later entries are without it. */
  end(path: ActorPath, seq: number, end: NonNullable<ActorState['end']>): void {
    this.change(path, { end });
    this.#ended.set(path, seq);
  }

  /** Returns a frame of what has changed since the last one; null if nothing has. */
  frame(seq: number): StateFrame | null {
    for (const [path, at] of this.#ended) if (at < seq) this.remove(path);
    const changes = this.#changes;
    if (changes.length === 0) return null;
    this.#changes = [];
    const state = this.#wholeIfDue(() => Object.fromEntries(this.#actors));
    return state === null ? { seq, changes } : { seq, state };
  }
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
