import type { AnyStateMachine, InputFrom, OutputFrom, PromiseActorLogic, Snapshot } from 'xstate';
import { PostChainError } from '../../machines/contracts/error.ts';
import type { HostedLogic } from '../xstate/port.ts';
import { CHILD_LOGIC, type ChildHost, type ChildParts, childIdOf } from './child-process.ts';
import type { ChildEnded } from './entries.ts';
import type { JournalStore } from './journals/journal-store.ts';
import { startChild, stopChild } from './run-child.ts';

type ChildSnapshot = Snapshot<unknown> & { readonly input: unknown };

/**
 * Returns the logic of an actor that starts an actor of another durable machine as a child process: with its own journal, in the same store. The actor
 * ends with the child's output or error; an actor that waits for children can be parked. A child is started once, even after a crash; if
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
    [CHILD_LOGIC]: (parts: ChildParts) => childLogic(host as object as ChildHost, parts),
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
        'fromDurable: expected a durable parent; open its machine with createDurableMachine.',
      );
    },
    transition: (snapshot: ChildSnapshot) => snapshot,
    getPersistedSnapshot: (snapshot: ChildSnapshot) => snapshot,
    restoreSnapshot: (snapshot: ChildSnapshot) => snapshot,
  };
  return logic as object as PromiseActorLogic<OutputFrom<Machine>, InputFrom<Machine>>;
}

/** A child process has its own journal: to start, stop and send to it are effects, and its result is a message. */
function childLogic(host: ChildHost, parts: ChildParts): Pick<HostedLogic, 'start' | 'transition'> {
  const { parent, sourceName } = parts;
  let id = parts.child ?? '';
  let starting: Promise<void> = Promise.resolve();
  return {
    start({ input }) {
      if (parts.child !== undefined) return;
      id = childIdOf(parent, parts.identity, parts.nextEffect());
      const [stored, problem] = parts.encodeInput(input);
      const start = async (): Promise<void> => {
        if (!parts.isRunning()) return;
        if (problem !== null) throw problem;
        const options = { input: parts.codec.decode(stored), product: { parent: parent.actorId }, parent };
        await startChild(host, id, options, parts.journals);
      };
      const run = (): Promise<void> => {
        starting = start();
        return starting;
      };
      parts.record(`start ${sourceName}`, run, id);
    },
    transition(snapshot, event) {
      const isStarted = (): Promise<void> => starting.catch(() => {});
      if (event.type === 'child.ended') return afterEnd(snapshot, event, id);
      if (!event.type.startsWith('xstate.')) parts.post(id, event, isStarted);
      if (event.type !== 'xstate.stop') return snapshot;
      const stop = async (): Promise<void> => {
        await isStarted();
        await stopChild(host, id);
      };
      if (snapshot.status === 'active') parts.record(`stop ${sourceName}`, stop, id);
      return { ...snapshot, status: 'stopped', error: undefined };
    },
  };
}

/** Returns the snapshot after an event: with the result of the child, if the event has it. */
function afterEnd<Current extends object>(snapshot: Current, event: { readonly type: string }, id: string): Current {
  const { type, child, status, output, error } = event as ChildEnded;
  if (type !== 'child.ended' || child !== id) return snapshot;
  if (status === 'done') return { ...snapshot, status, output };
  const stopped = new PostChainError('cancelled', `actor ${id} was stopped, so it has no output.`);
  return { ...snapshot, status: 'error', error: status === 'error' ? error : stopped };
}
