import type { AnyMachineSnapshot, AnyStateMachine, StateValue } from 'xstate';
import type { ActorView, DurableMachine } from '../durable/durable-machine.ts';
import type { OpenApproval } from '../durable/entries.ts';
import { type DurableEntry, isAnnotation, isExternal } from '../durable/entries.ts';
import { isSameButKeyframes, type ReplayStep, requireSame } from '../durable/replay.ts';
import { nextTurn, pauses } from '../internal/async.ts';
import { plainJson } from '../internal/plain-json.ts';

/** The state of a durable actor, as clients see it. Everything in it is JSON. */
export interface ActorState {
  readonly id: string;
  /** The name under which the server has its machine. */
  readonly machine: string;
  /** `running`: calls are in progress. `waiting`: it only waits for events and delays. */
  readonly status: 'running' | 'waiting' | 'done' | 'error' | 'stopped';
  readonly value: StateValue;
  /** The machine's context, or the result of the option `view`. */
  readonly context: unknown;
  readonly tags: readonly string[];
  /** Null until it is done. */
  readonly output: unknown;
  /** Why it ended with an error: of an `Error`, its `name` and `message`. Null otherwise. */
  readonly error: unknown;
  readonly pending: {
    /** Types of the events that its active states handle. */
    readonly events: readonly string[];
    /** Approvals that wait for the event `approval.given`. */
    readonly approvals: readonly OpenApproval[];
    /** When its next delay ends, in milliseconds since the epoch; null for none. */
    readonly dueAtMs: number | null;
  };
}

/** A state with the number of its journal entry. */
export interface NumberedState {
  readonly seq: number;
  readonly state: ActorState;
}

/** A machine whose actors are shown. */
export interface ShownMachine {
  readonly name: string;
  readonly host: DurableMachine<AnyStateMachine>;
  readonly view?: ((snapshot: AnyMachineSnapshot) => unknown) | undefined;
  /** What clients see instead of the error of an actor; the error itself by default. */
  readonly failureText?: (id: string) => string;
}

/** Returns the state of an actor, as clients see it. */
export function actorStateOf(
  { name, view = ({ context }) => context, failureText }: ShownMachine,
  id: string,
  { snapshot, pending }: ActorView<AnyStateMachine>,
): ActorState {
  const { status, value, output, error } = snapshot as AnyMachineSnapshot & { output?: unknown; error?: unknown };
  const { activities, events, approvals, timers } = pending;
  return {
    id,
    machine: name,
    status: status !== 'active' ? status : activities.length > 0 ? 'running' : 'waiting',
    value,
    context: plainJson(view(snapshot)) ?? null,
    tags: [...snapshot.tags],
    output: plainJson(output) ?? null,
    error: errorOf(error, failureText?.(id)),
    pending: {
      events,
      approvals,
      dueAtMs: timers.length === 0 ? null : Math.min(...timers.map(({ dueAtMs }) => dueAtMs)),
    },
  };
}

function errorOf(error: unknown, shown: string | undefined): unknown {
  if (error === undefined) return null;
  if (shown !== undefined) return { name: 'Error', message: shown };
  return error instanceof Error ? { name: error.name, message: error.message } : (plainJson(error) ?? null);
}

/** Yields the state of an actor, and then the state after each change, as its journal grows. */
export async function* statesOf(
  machine: ShownMachine,
  id: string,
  entries: AsyncIterator<DurableEntry>,
): AsyncGenerator<NumberedState, void> {
  const replay = new GrowingReplay(machine, id);
  for await (const batch of batchesOf(entries)) {
    for await (const _ of replay.take(batch));
    const step = replay.latest as ReplayStep;
    yield { seq: step.seq, state: actorStateOf(machine, id, step) };
  }
}

/** Yields the entries of a growing journal in batches, as they arrive. Batches of annotations are left out, unless one of them withdraws a step or is `noted`. */
export async function* batchesOf(
  entries: AsyncIterator<DurableEntry>,
  noted: (entry: DurableEntry) => boolean = () => false,
): AsyncGenerator<readonly DurableEntry[], void> {
  const unread: DurableEntry[] = [];
  for (let next = entries.next(); ; ) {
    const { done, value } = await next;
    if (!done) {
      unread.push(value);
      next = entries.next();
      // The entries of a step arrive together.
      if (await Promise.race([next.then(() => true), nextTurn().then(() => false)])) continue;
    }
    const taken = unread.splice(0);
    if (taken.some((entry) => !isAnnotation(entry) || entry.type === 'retried' || noted(entry))) yield taken;
    if (done) return;
  }
}

/** Replays a journal that grows. */
export class GrowingReplay {
  readonly #machine: ShownMachine;
  readonly #id: string;
  readonly entries: DurableEntry[] = [];
  /** The first entry of each step so far. */
  readonly #begins: DurableEntry[] = [];
  latest: ReplayStep | null = null;
  #steps: ReturnType<ShownMachine['host']['replaySteps']>;
  #replayed = 0;

  constructor(machine: ShownMachine, id: string) {
    this.#machine = machine;
    this.#id = id;
    this.#steps = this.#begin();
  }

  #begin() {
    return this.#machine.host.replaySteps(this.entries, isSameButKeyframes, this.#id);
  }

  /** Yields the steps that begin with the next entries. If these complete or withdraw a step that was replayed without them, yields all steps again. */
  async *take(
    entries: readonly DurableEntry[],
  ): AsyncGenerator<{ readonly number: number; readonly begin: DurableEntry; readonly step: ReplayStep }, void> {
    const first = entries.find((entry) => !isAnnotation(entry));
    const isWithdrawn = entries.some(({ type }) => type === 'retried');
    // The rest of a step that was replayed without it, or one that was withdrawn since.
    if (this.latest !== null && (isWithdrawn || (first !== undefined && !isExternal(first)))) {
      this.#steps = this.#begin();
      this.#replayed = 0;
    }
    for (const entry of entries) {
      this.entries.push(entry);
      if (entry.type === 'start' || isExternal(entry)) this.#begins.push(entry);
    }
    for (const pause = pauses(); this.#replayed < this.#begins.length; await pause()) {
      const number = this.#replayed;
      const { done, value } = this.#steps.next();
      this.#replayed += 1;
      if (done) requireSame(this.#id, value.divergence);
      else {
        this.latest = value;
        yield { number, begin: this.#begins[number] as DurableEntry, step: value };
      }
    }
  }
}
