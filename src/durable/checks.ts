import type { AnyStateMachine, AnyStateNode } from 'xstate';
import { isMachine } from '../internal/xstate-internals.ts';
import type { Codec } from './codec.ts';
import { PostChainError } from './error.ts';
import type { JournalStore } from './journals/journal-store.ts';
import { storedJournalsOf } from './journals/line-store.ts';
import { machinesOf } from './machine-digest.ts';

/**
 * Throws `not_durable` with a list of the implementations that a machine lacks and of the parts of its initial context that cannot be stored:
 * such a machine would fail later, in the middle of a run.
 */
export function requireDurable(machine: AnyStateMachine, contextCodec: Codec): void {
  const problems = [...machinesOf(machine)].flatMap((one) => [
    ...missingParts(one),
    ...contextProblem(one, contextCodec),
  ]);
  if (problems.length > 0)
    throw new PostChainError('not_durable', `The machine "${machine.id}" cannot be durable: ${problems.join('; ')}.`);
}

function* missingParts(machine: AnyStateMachine): Generator<string> {
  const { actions, actors, guards, delays } = machine.implementations as unknown as Record<string, object>;
  const missing = new Set<string>();
  const expectPart = (kind: string, name: unknown, known: object | undefined): void => {
    if (typeof name === 'string' && !Object.hasOwn(known ?? {}, name)) missing.add(`${kind} "${name}" is not provided`);
  };
  const expectActions = (all: readonly unknown[]): void => {
    for (const action of all) {
      const { type = action } = Object(action) as { type?: unknown };
      // Built-in actions are functions with a type.
      if (typeof action !== 'function') expectPart('action', type, actions);
    }
  };
  for (const node of nodesOf(machine.root)) {
    expectActions([...node.entry, ...node.exit, ...(node.initial?.actions ?? [])]);
    for (const { src } of node.invoke)
      if (!src.toString().startsWith('xstate.invoke.')) expectPart('actor', src, actors);
    for (const { delay } of node.after) if (Number.isNaN(Number(delay))) expectPart('delay', delay, delays);
    for (const { guard, actions: taken } of transitionsOf(node)) {
      expectActions(taken);
      const { type = guard } = Object(guard) as { type?: unknown };
      expectPart('guard', type, guards);
    }
  }
  yield* missing;
}

function* transitionsOf(
  node: AnyStateNode,
): Generator<{ readonly guard?: unknown; readonly actions: readonly unknown[] }> {
  for (const group of [...node.transitions.values(), node.always ?? []]) yield* group;
}

function* nodesOf(node: AnyStateNode): Generator<AnyStateNode> {
  yield node;
  for (const child of Object.values(node.states)) yield* nodesOf(child);
}

function* contextProblem(machine: AnyStateMachine, contextCodec: Codec): Generator<string> {
  const { context } = machine.config as { context?: unknown };
  if (typeof context === 'function') return;
  try {
    contextCodec.check(context ?? {}, 'context', new WeakSet());
  } catch (error) {
    yield (error as Error).message.replace(/\.$/u, '');
  }
}

/** The options of each function: JavaScript does not check names. */
const OPTIONS = {
  createDurableMachine:
    'journals versions codecs timeWithoutProcess parkAfterMs describeCall describeEnd describeWait clock logger',
  start: 'input seed startedAtMs product notes reuse isPaused onEntry mayPark',
  open: 'input mustExist force isPaused onEntry mayPark',
  fork: 'at isBefore event id input product reuse isPaused onEntry mayPark',
} as const;

/** Throws `invalid_option` for an unknown option. */
export function requireKnown(name: keyof typeof OPTIONS, options: unknown): void {
  const known = OPTIONS[name].split(' ');
  const unknown = Object.keys(Object(options)).find((key) => !known.includes(key));
  if (unknown !== undefined) throw invalid(`options of ${name}`, `only ${known.join(', ')}`, unknown);
}

export function requireMachine(machine: unknown): void {
  if (!isMachine(machine)) throw invalid('machine', 'a state machine of XState 5', machine);
}

/** Throws `invalid_option` for options that JavaScript cannot check. */
export function requireOptions(machine: unknown, options: object): void {
  requireMachine(machine);
  requireKnown('createDurableMachine', options);
  const { journals, timeWithoutProcess = 'counts', parkAfterMs = 0 } = Object(options) as Record<string, unknown>;
  const expected = 'a journal store of postchain/durable, for example fileJournals("orders")';
  if (typeof (journals as { create?: unknown } | undefined)?.create !== 'function')
    throw invalid('journals', expected, journals);
  const { noun = 'actor' } = storedJournalsOf(journals as JournalStore<unknown, unknown>) ?? {};
  if (noun !== 'actor') throw invalid('journals', expected, `a store for journals of a ${noun}`);
  if (!['counts', 'pauses'].includes(timeWithoutProcess as string) && typeof timeWithoutProcess !== 'function')
    throw invalid('timeWithoutProcess', '"counts", "pauses" or a function', timeWithoutProcess);
  if (typeof parkAfterMs !== 'number' || !(parkAfterMs >= 0))
    throw invalid('parkAfterMs', 'a number of milliseconds, at least 0', parkAfterMs);
}

const invalid = (what: string, expected: string, received: unknown): PostChainError =>
  new PostChainError('invalid_option', `${what}: expected ${expected}; received ${String(received)}.`);
