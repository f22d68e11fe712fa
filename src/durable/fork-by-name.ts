import type { AnyStateMachine } from 'xstate';
import type { DurableActor } from './durable-actor.ts';
import type { DurableMachine, ForkActorOptions } from './durable-machine.ts';
import { hasCode } from './error.ts';

/** Forks an actor. The id of the fork is that of its first original with `-fork-1`, or the next number that is free. */
export async function forkByName(
  host: DurableMachine<AnyStateMachine>,
  id: string,
  options: ForkActorOptions<AnyStateMachine>,
): Promise<DurableActor<AnyStateMachine>> {
  const original = id.replace(/-fork-\d+$/u, '');
  for (let number = 1; ; number += 1) {
    try {
      return await host.fork(id, { ...options, id: `${original}-fork-${number}` });
    } catch (error) {
      if (!hasCode(error, 'journal_exists')) throw error;
    }
  }
}
