import type { AnyStateMachine, InputFrom, OutputFrom, PromiseActorLogic, Snapshot } from 'xstate';
import { PostChainError } from '../../machines/contracts/error.ts';
import type { Json } from './codec.ts';
import type { StartEntry } from './entries.ts';
import type { JournalStore } from './journals/journal-store.ts';
import { digestOf } from './machine-digest.ts';

/** A durable machine that starts and stops the children of others. */
export interface ChildHost {
  readonly journals: JournalStore;
  start(id: string, options: ChildOptions & { readonly isPaused: true }): { close(): Promise<void> };
  /** With it, children are enqueued. */
  readonly queue?: object | undefined;
  enqueue?(id: string, options: ChildOptions): Promise<boolean>;
  stop(id: string): Promise<boolean>;
}

export interface ChildOptions {
  readonly input: unknown;
  readonly product: Json;
  readonly parent: ChildParent;
}

export type ChildParent = NonNullable<StartEntry['parent']>;

/** What a child sends its parent when it has ended. */
export interface ChildEnded {
  readonly type: 'child.ended';
  /** The id of the child. */
  readonly child: string;
  readonly status: 'done' | 'error' | 'stopped';
  readonly output?: unknown;
  readonly error?: unknown;
}

type ChildSnapshot = Snapshot<unknown> & { readonly input: unknown };

/** A mark, also of another copy of the package. */
const HOST = Symbol.for('postchain.child-host');

/**
 * Returns the logic of an actor that starts an actor of another durable machine as a child process: with its own journal, in the same store. The actor
 * ends with the child's output or error; an actor that waits for children can be parked. A child is started once, also after a crash; if
 * its parent leaves the state or ends, it is stopped.
 *
 * @example
 * const orders = createDurableMachine(order.provide({ actors: { ship: fromDurable(shipments) } }), { journals });
 */
export function fromDurable<Machine extends AnyStateMachine>(host: {
  readonly machine: Machine;
  readonly journals: JournalStore;
}): PromiseActorLogic<OutputFrom<Machine>, InputFrom<Machine>> {
  const logic = {
    [HOST]: host,
    getInitialSnapshot: (_: unknown, input: unknown): ChildSnapshot => ({
      status: 'active',
      output: undefined,
      error: undefined,
      input,
    }),
    // A durable actor replaces this.
    start() {
      throw new PostChainError(
        'invalid_option',
        'fromDurable: expected a parent that is durable; open its machine with createDurableMachine.',
      );
    },
    transition: (snapshot: ChildSnapshot) => snapshot,
    getPersistedSnapshot: (snapshot: ChildSnapshot) => snapshot,
    restoreSnapshot: (snapshot: ChildSnapshot) => snapshot,
  };
  return logic as object as PromiseActorLogic<OutputFrom<Machine>, InputFrom<Machine>>;
}

/** Returns the host of the children that a logic starts; undefined for any other logic. */
export const childHostOf = (logic: object): ChildHost | undefined => (logic as { readonly [HOST]?: ChildHost })[HOST];

/** Returns the id of the child that an effect starts. `identity` is that of its parent. */
export const childIdOf = ({ actorId, actor }: ChildParent, identity: string, effect: number): string =>
  `${actorId}${actor}:${digestOf(`${identity} ${effect}`)}`;

/** Returns the snapshot after an event: with the result of the child, if the event has it. */
export function afterEnd<Current extends object>(
  snapshot: Current,
  event: { readonly type: string },
  id: string,
): Current {
  const { type, child, status, output, error } = event as ChildEnded;
  if (type !== 'child.ended' || child !== id) return snapshot;
  if (status === 'done') return { ...snapshot, status, output };
  const stopped = new PostChainError('cancelled', `actor ${id} was stopped, so it has no output.`);
  return { ...snapshot, status: 'error', error: status === 'error' ? error : stopped };
}
