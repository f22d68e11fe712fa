import { vi } from 'vitest';
import {
  type ActorOptions,
  type AnyActorLogic,
  type AnyActorRef,
  type AnyEventObject,
  type AnyStateMachine,
  createActor,
  SimulatedClock,
} from 'xstate';
import type { DurableActor } from '../../src/durable/durable-actor.ts';
import { createDurableMachine } from '../../src/durable/durable-machine.ts';
import { memoryJournals } from '../../src/durable/journals/memory-journals.ts';

/** A root machine that a test has created, and the events that it and its children received from outside. */
export interface Scenario {
  readonly test: string;
  readonly machine: AnyStateMachine;
  readonly options: ActorOptions<AnyActorLogic>;
  /** `afterMs`: the simulated time since the previous event. */
  readonly events: { readonly afterMs: number; readonly path: readonly string[]; readonly event: AnyEventObject }[];
}

/** What a run shows: the snapshots after the start, after each event and at the end; emitted events; and what went wrong. */
interface Run {
  readonly steps: readonly unknown[];
  readonly emitted: readonly unknown[];
  readonly problems: readonly string[];
  /** Whether the first step has failed: `open` rejects with its error. */
  readonly hasNoActor?: true;
}

type Mode = 'whole' | 'closed' | 'killed';

const immediate = setImmediate;

/** Simulated time advances by these steps after the last event. */
const AFTER_MS = [1, 4, 10, 35, 100, 350, 1_000, 5_000];

/** How much of the fake time of the test's own promises and callbacks passes after each event. */
let pauseMs = 0;

/** Calls that start again need their time again. */
const PAUSES_MS = [10, 500];

async function settle(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await new Promise(immediate);
  await vi.advanceTimersByTimeAsync(pauseMs);
  for (let turn = 0; turn < 5; turn += 1) await new Promise(immediate);
}

/**
 * Returns `equal`; `impure` if plain runs differ, for example because the test counts in a variable; `refused` and the message of
 * `not_durable`; or the first difference, if there also is one after a longer pause.
 */
export async function verdictOn(scenario: Scenario): Promise<string> {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] });
  try {
    let verdict = '';
    for (pauseMs of PAUSES_MS) {
      verdict = await verdictNow(scenario);
      if (!verdict.includes('differs')) break;
    }
    return verdict;
  } finally {
    vi.useRealTimers();
  }
}

async function verdictNow(scenario: Scenario): Promise<string> {
  const plain = await plainRun(scenario);
  for (const mode of ['whole', 'closed', 'killed'] as const) {
    const run = await durableRun(scenario, mode);
    const refusal = /[^"]*expected JSON, or a value of a codec[^"]*|[^"]*cannot be durable[^"]*/u.exec(textOf(run));
    if (refusal !== null) return `refused: ${refusal[0]}`;
    const difference = firstDifference(plain, run);
    if (difference === null) continue;
    return firstDifference(plain, await plainRun(scenario)) === null ? `${mode} differs: ${difference}` : 'impure';
  }
  return 'equal';
}

function firstDifference(plain: Run, run: Run): string | null {
  const errorOf = ([first]: Run['steps']): string => textOf((first as { readonly error: unknown }).error);
  if (textOf(run) === textOf(plain) || (run.hasNoActor && errorOf(run.steps) === errorOf(plain.steps))) return null;
  const at = run.steps.findIndex((step, index) => textOf(step) !== textOf(plain.steps[index]));
  const [one, other] =
    at < 0
      ? [
          { ...plain, steps: [] },
          { ...run, steps: [] },
        ]
      : [plain.steps[at], run.steps[at]];
  return `step ${at}: ${textOf(one)} became ${textOf(other)}`;
}

async function plainRun({ machine, options, events }: Scenario): Promise<Run> {
  const clock = new SimulatedClock();
  const { input } = options;
  const actor = createActor(machine, { input, id: 'a', clock, logger: () => {} });
  const emitted: unknown[] = [];
  actor.on('*', (event) => void emitted.push(plainOf(event)));
  actor.subscribe({ error: () => {} });
  actor.start();
  const steps = [await stepOf(actor, clock)];
  for (const { afterMs, path, event } of events) {
    await advance(clock, afterMs);
    childOf(actor, path)?.send(structuredClone(event));
    steps.push(await stepOf(actor, clock));
  }
  for (const ms of AFTER_MS) await advance(clock, ms);
  const run = { steps: [...steps, snapshotOf(actor)], emitted, problems: [] };
  actor.stop();
  return run;
}

async function durableRun({ machine, options, events }: Scenario, mode: Mode): Promise<Run> {
  const clock = new SimulatedClock();
  const emitted: unknown[] = [];
  const problems: string[] = [];
  let store = memoryJournals();
  const open = async (): Promise<DurableActor<AnyStateMachine>> => {
    const host = createDurableMachine(machine, { journals: store, clock, logger: () => {} });
    const opened = await host.open('a', { input: options.input as never });
    opened.ref.on('*', (event: unknown) => void emitted.push(plainOf(event)));
    return opened;
  };
  let actor: DurableActor<AnyStateMachine>;
  try {
    actor = await open();
  } catch (error) {
    return { steps: [{ error: plainOf(error) }], emitted: [], problems: [messageOf(error)], hasNoActor: true };
  }
  const nextLife = async (): Promise<void> => {
    const before = textOf(snapshotOf(actor.ref));
    const killed = mode === 'killed' ? actor : null;
    if (mode === 'closed') await actor.close();
    if (killed !== null) store = await copyOf(killed);
    if (mode !== 'whole') actor = await open();
    if (textOf(snapshotOf(actor.ref)) !== before) problems.push('opening it again has changed it');
    await killed?.close();
    await settle();
  };
  const steps = [await stepOf(actor.ref, clock)];
  await nextLife();
  for (const { afterMs, path, event } of events) {
    await advance(clock, afterMs);
    const sent = structuredClone(event);
    try {
      if (path.length === 0) await actor.send(sent);
      else childOf(actor.ref, path)?.send(sent);
    } catch (error) {
      problems.push(messageOf(error));
    }
    steps.push(await stepOf(actor.ref, clock));
    await nextLife();
  }
  for (const ms of AFTER_MS) await advance(clock, ms);
  steps.push(snapshotOf(actor.ref));
  await actor.close();
  const replayed = await createDurableMachine(machine, { journals: store, clock, logger: () => {} }).replay('a');
  if (replayed.divergence !== null) problems.push(`diverged: ${textOf(replayed.divergence)}`);
  return { steps, emitted, problems };
}

/** Returns a store with what the process of an actor had stored when it was killed. */
async function copyOf({ entries }: DurableActor<AnyStateMachine>): Promise<ReturnType<typeof memoryJournals>> {
  const store = memoryJournals();
  const writer = store.create('a');
  await writer.write(JSON.parse(JSON.stringify(entries)));
  await writer.close();
  return store;
}

async function advance(clock: SimulatedClock, ms: number): Promise<void> {
  clock.increment(ms);
  await settle();
}

async function stepOf(actor: AnyActorRef, clock: SimulatedClock): Promise<unknown> {
  await settle();
  await advance(clock, 1);
  return snapshotOf(actor);
}

function childOf(root: AnyActorRef, path: readonly string[]): AnyActorRef | undefined {
  return path.reduce((ref: AnyActorRef | undefined, id) => ref?.getSnapshot().children?.[id], root);
}

const messageOf = (error: unknown): string => {
  const { code, message } = Object(error) as { readonly code?: string; readonly message?: string };
  return `${code ?? 'thrown'}: ${message ?? String(error)}`;
};

const textOf = (value: unknown): string => JSON.stringify(value) ?? 'undefined';

/** Returns status, value, context, output, error, tags and history of an actor, and those of its children. */
function snapshotOf(actor: AnyActorRef): unknown {
  const { status, output, error, value, context, tags, historyValue, children } = actor.getSnapshot();
  const history = Object.entries<readonly { readonly id: string }[]>(historyValue ?? {});
  return {
    ...(plainOf({ status, output, error, value, context }) as object),
    tags: [...(tags ?? [])].sort(),
    history: history.map(([id, nodes]) => [id, nodes.map((node) => node.id)]),
    // Ids that XState makes up count all actors of a process.
    children: Object.entries<AnyActorRef | undefined>(children ?? {}).map(([id, child]) => [
      id.replace(/^x:\d+$/u, 'x'),
      child && snapshotOf(child),
    ]),
  };
}

/** Returns a value as JSON that shows what JSON does not have. */
function plainOf(value: unknown, above: readonly unknown[] = []): unknown {
  if (typeof value !== 'object' || value === null)
    return typeof value === 'string' || value === null
      ? value
      : `<${typeof value} ${Object.is(value, -0) ? '-0' : typeof value === 'function' ? '' : String(value)}>`;
  if (above.includes(value)) return '<circular>';
  if ('sessionId' in value && '_send' in value) return `<actor ${String(Object(value).id).replace(/^x:\d+$/u, 'x')}>`;
  const inside = (member: unknown): unknown => plainOf(member, [...above, value]);
  if (value instanceof Date) return '<Date>';
  if (value instanceof Error) return [Object.getPrototypeOf(value).constructor.name, value.name, value.message];
  if (value instanceof Map || value instanceof Set) return [value.constructor.name, ...[...value].map(inside)];
  if (Array.isArray(value)) return value.map(inside);
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, inside(value[key as never])]),
  );
}
