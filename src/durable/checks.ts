import type { AnyStateMachine } from 'xstate';
import { PostChainError } from '../../machines/contracts/error.ts';
import { describeValue } from '../internal/describe-value.ts';
import { requireHostable } from '../xstate/ports.ts';
import { isMachine } from '../xstate/states.ts';
import { missingImplementations } from './charts/chart-nodes.ts';
import type { Codec } from './codec.ts';
import type { Attributes } from './entries.ts';
import type { JournalStore } from './journals/journal-store.ts';
import type { QueueOptions } from './journals/queue.ts';
import { requireKnown } from './known-options.ts';
import { machinesOf } from './machine-digest.ts';

/**
 * Throws `not_durable` with a list of the implementations that a machine lacks and of the parts of its initial context that cannot be stored:
 * such a machine would fail later, in the middle of a run.
 */
export function requireDurable(machine: AnyStateMachine, codec: Codec): void {
  const problems = [...machinesOf(machine)].flatMap((one) => [
    ...missingImplementations(one).map(({ kind, name }) => `${kind} "${name}" is not provided`),
    ...contextProblem(one, codec),
  ]);
  if (problems.length > 0)
    throw new PostChainError('not_durable', `The machine "${machine.id}" cannot be durable: ${problems.join('; ')}.`);
}

function* contextProblem(machine: AnyStateMachine, codec: Codec): Generator<string> {
  const { context } = machine.config as { context?: unknown };
  if (typeof context === 'function') return;
  try {
    codec.check(context ?? {}, 'context', new WeakSet());
  } catch (error) {
    yield (error as Error).message.replace(/\.$/u, '');
  }
}

const MAX_ATTRIBUTES_CHARS = 2_000;

/** Throws for a result of `describeAttributes` that is not flat, or too large. */
export function requireFlat(attributes: Attributes | undefined): Attributes | undefined {
  if (attributes === undefined) return attributes;
  const isObject = Object(attributes) === attributes && !Array.isArray(attributes);
  if (!isObject || Object.values(attributes).some((value) => Object(value) === value))
    throw invalid('attributes', 'an object of strings, numbers, booleans and nulls', describeValue(attributes));
  const { length } = JSON.stringify(attributes);
  if (length <= MAX_ATTRIBUTES_CHARS) return attributes;
  throw invalid('attributes', `at most ${MAX_ATTRIBUTES_CHARS} characters as JSON`, String(length));
}

export function requireMachine(machine: unknown): void {
  if (!isMachine(machine)) throw invalid('machine', 'a state machine of XState 5', describeValue(machine));
  requireHostable(machine);
}

/** Throws `invalid_option` for options that JavaScript cannot check. */
export function requireOptions(machine: unknown, given: object): void {
  requireMachine(machine);
  requireKnown('createDurableMachine', given);
  const { journals, versions = {}, timeWithoutProcess = 'counts', parkAfterMs = 0 } = given as Record<string, unknown>;
  const expected = 'a journal store, for example fileJournals("orders")';
  if (typeof (journals as { create?: unknown } | undefined)?.create !== 'function')
    throw invalid('journals', expected, describeValue(journals));
  if (Array.isArray(versions) || !Object.values(Object(versions)).every(isMachine))
    throw invalid('versions', 'an object of state machines by version', describeValue(versions));
  requireMigrations(machine as AnyStateMachine, given as Parameters<typeof requireMigrations>[1]);
  if (!['counts', 'pauses'].includes(timeWithoutProcess as string) && typeof timeWithoutProcess !== 'function')
    throw invalid('timeWithoutProcess', '"counts", "pauses" or a function', describeValue(timeWithoutProcess));
  if (typeof parkAfterMs !== 'number' || !(parkAfterMs >= 0))
    throw invalid('parkAfterMs', 'a number of milliseconds, at least 0', describeValue(parkAfterMs));
  if ('queue' in given && given.queue !== undefined)
    requireQueue(given.queue as QueueOptions, journals as JournalStore);
}

function requireQueue(queue: QueueOptions, journals: JournalStore): void {
  requireKnown('queue', queue);
  const { perKey = {}, key } = queue;
  requireKnown('perKey of queue', perKey);
  if (key !== undefined && typeof key !== 'function') throw invalid('key of queue', 'a function', describeValue(key));
  for (const [owner, { concurrency, rate }] of Object.entries({ queue, perKey })) {
    if (rate !== undefined) requireKnown('rate', rate);
    const { starts, everyMs } = rate ?? { starts: 1, everyMs: 1 };
    for (const [name, value] of Object.entries({ concurrency: concurrency ?? 1, starts, everyMs }))
      if (!Number.isInteger(value) || Number(value) < 1)
        throw invalid(`${name} of ${owner}`, 'a whole number of at least 1', describeValue(value));
  }
  if (journals.claim === undefined)
    throw invalid('queue', 'a store with a queue (memoryJournals, sqliteJournals or postgresJournals)', 'one without');
}

/** Each migration needs the earlier version of the machine, which replays what came before it. */
function requireMigrations(
  { version }: AnyStateMachine & { readonly version?: string },
  { versions = {}, migrate = {} }: { readonly versions?: object; readonly migrate?: Readonly<Record<string, object>> },
): void {
  for (const [from, rule] of Object.entries(migrate)) {
    if (from === version || !Object.hasOwn(versions, from))
      throw invalid('migrate', 'keys of "versions", without the version of the machine itself', JSON.stringify(from));
    requireKnown('migrate', rule);
  }
}

/** XState would end the actor with an error. A route event is the only one of its own that it takes from outside. */
export function requireEvent(event: unknown, id: string): void {
  const { type } = Object(event) as { type?: unknown };
  if (typeof type === 'string' && (!type.startsWith('xstate.') || type === 'xstate.route') && type !== '*') return;
  throw new PostChainError(
    'invalid_option',
    `event for ${id}: expected an object with a "type" that is not "*" and does not begin with "xstate."; received ${type === undefined ? describeValue(event) : `the type ${describeValue(type)}`}.`,
  );
}

const invalid = (what: string, expected: string, received: string): PostChainError =>
  new PostChainError('invalid_option', `${what}: expected ${expected}; received ${received}.`);
