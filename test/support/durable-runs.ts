import type { AnyStateMachine } from 'xstate';
import type { Clock } from '../../src/durable/clock.ts';
import type { DurableActor } from '../../src/durable/durable-actor.ts';
import {
  createDurableMachine,
  type DurableMachine,
  type DurableMachineOptions,
} from '../../src/durable/durable-machine.ts';
import type { DurableEntry } from '../../src/durable/entries.ts';
import { idempotencyKey } from '../../src/durable/hosted-call.ts';
import type { ActorSummary } from '../../src/durable/journals/journal-store.ts';
import {
  entriesOf,
  fromKeyframe,
  type JournalStore,
  type JournalWriter,
  type OpenedJournal,
} from '../../src/durable/journals/journal-store.ts';
import { memoryJournals } from '../../src/durable/journals/memory-journals.ts';
import type { Scenario, Step, World } from './durable-machines.ts';
import { TestClock } from './simulated-clock.ts';

/**
 * A store whose process dies after a number of stored entries: it then stores nothing and never answers. With keyframes, it writes one as
 * often as possible.
 */
export class MortalJournals implements JournalStore {
  readonly entries: DurableEntry[];
  isDead = false;
  readonly #life: number;
  readonly #keyframes: boolean;

  constructor(entries: readonly DurableEntry[], keyframes: boolean, life = Number.POSITIVE_INFINITY) {
    this.entries = [...entries];
    this.#life = life;
    this.#keyframes = keyframes;
  }

  create(): JournalWriter {
    if (this.entries.length > 0) throw new Error('the journal exists');
    return this.#writer();
  }

  async *read(): AsyncIterable<DurableEntry> {
    yield* this.entries;
  }

  async open(): Promise<OpenedJournal> {
    return { entries: this.#keyframes ? fromKeyframe(this.entries) : this.entries, writer: this.#writer() };
  }

  async list(): Promise<readonly ActorSummary[]> {
    return [];
  }

  #writer(): JournalWriter {
    return {
      failure: null,
      keyframeEvery: this.#keyframes ? 1 : undefined,
      write: (entries) => {
        for (const entry of entries) {
          if (this.entries.length >= this.#life) this.isDead = true;
          if (!this.isDead) this.entries.push(JSON.parse(JSON.stringify(entry)));
        }
        return this.isDead ? new Promise<void>(() => {}) : undefined;
      },
      close: () => {},
    };
  }
}

/** Counts the calls that reach the outside world, by name and idempotency key. Actors are numbered: their digests differ from run to run. */
function createWorld(): World & { readonly calls: readonly string[] } {
  const calls: string[] = [];
  const actors = new Set<string>();
  return {
    calls,
    called(name, args) {
      const [id, digest = '', ...call] = idempotencyKey(args).split(':');
      actors.add(digest);
      calls.push(`${name} ${[id, [...actors].indexOf(digest), ...call].join(':')}`);
    },
  };
}

export interface Finished {
  readonly snapshot: { readonly value: unknown; readonly context: unknown };
  readonly entries: readonly DurableEntry[];
  readonly calls: readonly string[];
  readonly machine: DurableMachine<AnyStateMachine>;
}

/** More than the longest delay of the scenarios. */
const FAR_MS = 1e11;
const START_MS = Date.parse('2026-01-01T00:00:00Z');

/** Whether an entry is part of a step, and not only of the life of a process. */
export const isStepped = ({ type }: DurableEntry): boolean =>
  !['start', 'keyframe', 'closed', 'resumed', 'migrated'].includes(type);

export const withoutSeq = ({ seq: _, ...entry }: DurableEntry): object => entry;

interface RunOptions {
  /** The process dies after this many stored entries, and another one continues. */
  readonly life?: number;
  /** Whether processes continue from keyframes. */
  readonly keyframes?: boolean;
  /** Whether the actor was enqueued an hour before. */
  readonly isQueued?: boolean;
  /** The actor is closed after this step, and continues: on the same version, or on another one with the same states. */
  readonly reopen?: { readonly after: number; readonly isMigrated: boolean };
}

/** Runs a scenario in simulated time. */
export async function runScenario(
  scenario: Scenario,
  { life, keyframes = true, isQueued = false, reopen }: RunOptions = {},
): Promise<Finished> {
  const world = createWorld();
  const machine = Object.assign(scenario.machine(world), reopen && { version: '1' });
  const clock = new TestClock();
  clock.set(START_MS);
  const before = isQueued ? await enqueued(machine, scenario, clock) : [];
  let journals = new MortalJournals(before, keyframes, life);
  let durable = durableOn(machine, journals, clock);
  const openActor = () => durable.open('a', { input: scenario.input as never });

  let opening = openActor();
  let actor = await settledActor(opening, journals);
  const revive = async (): Promise<void> => {
    // The dead process neither stores nor sends anything more.
    // It waits for its last write for ever.
    void actor?.close();
    void opening.catch(() => {});
    journals = new MortalJournals(journals.entries, keyframes);
    durable = durableOn(machine, journals, clock);
    opening = openActor();
    actor = await settledActor(opening, journals);
  };
  if (journals.isDead) await revive();
  for (const [index, step] of scenario.steps.entries()) {
    await take(actor as DurableActor<AnyStateMachine>, step, index, clock);
    if (reopen?.after === index) {
      await actor?.close();
      const later = Object.assign(machine.provide({}), { version: '2' });
      const { isMigrated } = reopen;
      durable = isMigrated
        ? durableOn(later, journals, clock, { versions: { '1': machine }, migrate: { '1': {} } })
        : durableOn(machine, journals, clock);
      actor = await settledActor(openActor(), journals);
    }
    if (!journals.isDead) continue;
    await revive();
    await take(actor as DurableActor<AnyStateMachine>, step, index, null);
  }
  const snapshot = (actor as DurableActor<AnyStateMachine>).getSnapshot();
  // The process may die while it closes the actor: then closing never ends.
  void actor?.close();
  await quiet(() => journals.entries.length);
  return { snapshot, entries: journals.entries, calls: world.calls, machine: durable };
}

/** Returns the journal of an actor that was enqueued an hour ago. */
async function enqueued(machine: AnyStateMachine, { input }: Scenario, clock: TestClock) {
  const journals = memoryJournals();
  const host = createDurableMachine(machine, { journals, clock, queue: {}, logger: () => {} });
  await host.enqueue('a', { input: input as never });
  clock.increment(3_600_000);
  return entriesOf(journals.read('a'));
}

/** Stops an actor that was killed after a number of entries, when all its timers are due, and returns what that adds. */
export async function stopScenario(scenario: Scenario, { entries }: Finished, life: number) {
  const world = createWorld();
  const clock = new TestClock();
  clock.set(START_MS + FAR_MS);
  const journals = new MortalJournals(entries.slice(0, life), false);
  const machine = durableOn(scenario.machine(world), journals, clock);
  const isStopped = await machine.stop('a');
  await quiet(() => journals.entries.length);
  const { divergence } = await machine.replay('a');
  return { isStopped, divergence, added: journals.entries.slice(life), calls: world.calls };
}

/** Retries, or skips, what an actor failed in, after a kill that followed its end. Returns the problem, if it cannot be, and what that adds. */
export async function repairScenario(scenario: Scenario, { entries }: Finished, action: 'retry' | 'skip') {
  const world = createWorld();
  const clock = new TestClock();
  clock.set(START_MS + FAR_MS);
  const journals = new MortalJournals(entries, false);
  const machine = durableOn(scenario.machine(world), journals, clock);
  let problem: string | null = null;
  // Calls may never end.
  machine[action]('a').catch((error: { readonly code: string }) => {
    problem = error.code;
  });
  while (problem === null && journals.entries.length === entries.length)
    await new Promise((resolve) => setImmediate(resolve));
  await quiet(() => journals.entries.length);
  const { divergence } = await machine.replay('a');
  return { problem, divergence, entries: journals.entries, calls: world.calls };
}

function durableOn(
  machine: AnyStateMachine,
  journals: MortalJournals,
  clock: Clock,
  versions: Pick<DurableMachineOptions, 'versions' | 'migrate'> = {},
) {
  return createDurableMachine(machine, { journals, clock, logger: () => {}, ...versions });
}

/** Waits until nothing happens by itself. An actor whose process died while it was opened never opens. */
async function settledActor(
  opening: Promise<DurableActor<AnyStateMachine>>,
  journals: MortalJournals,
): Promise<DurableActor<AnyStateMachine> | null> {
  let actor: DurableActor<AnyStateMachine> | null = null;
  opening.then(
    (opened) => {
      actor = opened;
    },
    () => {},
  );
  await quiet(() => journals.entries.length);
  if (actor === null && !journals.isDead) await opening;
  return actor;
}

async function take(
  actor: DurableActor<AnyStateMachine>,
  step: Step,
  index: number,
  clock: TestClock | null,
): Promise<void> {
  if (typeof step === 'number') clock?.increment(step);
  else if ('child' in step) actor.getSnapshot().children[step.child as string]?.send(step.event as never);
  // A sender that got no answer sends the event again, with the same id.
  else void actor.send(step, { id: String(index) }).catch(() => {});
  await quiet(() => actor.entries.length);
}

/** Resolves when several turns of the event loop have changed nothing. */
export async function quiet(count: () => number): Promise<void> {
  for (let still = 0, before = -1; still < 5; ) {
    await new Promise((resolve) => setImmediate(resolve));
    still = count() === before ? still + 1 : 0;
    before = count();
  }
}

/** Continues from each keyframe of a journal to its end, and returns where each leads: the divergence, and the context as text. */
export function fromEachKeyframe({ machine, entries }: Finished): readonly (readonly [unknown, string])[] {
  return entries.flatMap((entry, at) => {
    if (entry.type !== 'keyframe' || at < 2) return [];
    const steps = machine.replaySteps([entries[0] as DurableEntry, ...entries.slice(at)]);
    let last = steps.next();
    while (!last.done) last = steps.next();
    return [[last.value.divergence, asText(last.value.snapshot.context)]];
  });
}

/** A context as text: references to actors of two systems are different objects. */
export function asText(context: unknown): string {
  return JSON.stringify(context, (_, value) => (value instanceof Map || value instanceof Set ? [...value] : value));
}

/** The calls that were made more than once although their end was stored before the kill. */
export function repeatedAfterEnd(
  calls: readonly string[],
  stored: readonly { readonly type: string }[],
): readonly string[] {
  const ended = new Set(
    stored.flatMap((entry) => {
      const { activity, effects = [] } = entry as { activity?: number; effects?: readonly number[] };
      if (entry.type === 'activity-event') return [`activity:${activity}`];
      return entry.type === 'effect-end' ? effects.map((effect) => `effect:${effect}`) : [];
    }),
  );
  const counts = new Map<string, number>();
  for (const call of calls) counts.set(call, (counts.get(call) ?? 0) + 1);
  return [...counts].flatMap(([call, count]) =>
    count > 1 && ended.has(call.match(/(?:activity|effect):\d+$/u)?.[0] ?? '') ? [call] : [],
  );
}
