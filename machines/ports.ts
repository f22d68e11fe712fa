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

/** Throws `port_missing` where a machine, or one that it runs, is started with a port unprovided. Called from a chart's `context`. */
export function requirePorts(self: AnyActorRef): void {
  requireFilled((self as { logic?: Logic }).logic);
}

interface Logic {
  readonly [MISSING]?: string;
  readonly implementations?: { readonly actors?: Readonly<Record<string, Logic>> };
}

function requireFilled(logic: Logic | undefined): void {
  const name = logic?.[MISSING];
  if (name !== undefined) throw missing(name);
  for (const below of Object.values(logic?.implementations?.actors ?? {})) requireFilled(below);
}

function missing(name: string): PostChainError {
  return new PostChainError(
    'port_missing',
    `The port "${name}" is not provided: a machine needs all of its actors; give it with machine.provide({ actors: { ${name} } }).`,
  );
}
