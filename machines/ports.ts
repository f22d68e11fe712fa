import type { AnyActorLogic, AnyActorRef } from 'xstate';
import { PostChainError } from './contracts/error.ts';

const MISSING = Symbol.for('postchain.port.missing');

/**
 * The place of a port in a chart until somebody provides it. It carries the port's type and nothing to run: a machine that is
 * started with one left in it refuses to start and names it (`requirePorts`).
 */
export function port<Logic extends AnyActorLogic>(name: string): Logic {
  const refuse = (): never => {
    throw missing(name);
  };
  return { [MISSING]: name, transition: refuse, getInitialSnapshot: refuse, getPersistedSnapshot: refuse } as never;
}

/** Throws `port_missing` where a machine is started with a port unprovided. Called from a chart's `context`. */
export function requirePorts(self: AnyActorRef): void {
  const { actors = {} } =
    (self as { logic?: { implementations?: { actors?: Record<string, unknown> } } }).logic?.implementations ?? {};
  for (const logic of Object.values(actors)) {
    const name = (logic as { [MISSING]?: string } | undefined)?.[MISSING];
    if (name !== undefined) throw missing(name);
  }
}

function missing(name: string): PostChainError {
  return new PostChainError(
    'port_missing',
    `The port "${name}" is not provided: a machine needs all of its actors; give it with machine.provide({ actors: { ${name} } }).`,
  );
}
