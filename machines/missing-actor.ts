import type { AnyActorLogic } from 'xstate';
import { PostChainError } from './contracts/error.ts';

/** Returns the logic of an actor that nobody provided: invoking it fails with the code `port_missing`. */
export function missingActor<Logic extends AnyActorLogic>(name: string): Logic {
  const fail = (): never => {
    throw new PostChainError(
      'port_missing',
      `The actor "${name}" is missing. Pass all actors to the machine's factory, or use machine.provide({ actors: { ${name} } }).`,
    );
  };
  return { transition: fail, getInitialSnapshot: fail, getPersistedSnapshot: fail } as never;
}
