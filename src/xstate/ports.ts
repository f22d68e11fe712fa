import type { AnyMachineSnapshot, AnyStateMachine, AnyStateNode } from 'xstate';
import { PostChainError } from '../../machines/contracts/error.ts';
import { five } from './five.ts';
import type { XStatePort } from './port.ts';

let six: XStatePort | null = null;

/** Sets the port for machines of XState 6; null for none. */
export function setXState6Port(port: XStatePort | null): void {
  six = port;
}

/** Whether a machine is one of XState 6. */
export const isXState6 = (machine: AnyStateMachine): boolean => 'sources' in machine;

/** Throws `invalid_option` for a machine of XState 6 that this process cannot host. */
export function requireHostable(machine: AnyStateMachine): void {
  if (six === null && isXState6(machine))
    throw new PostChainError(
      'invalid_option',
      `machine "${machine.id}": expected an XState 5 machine; received an XState 6 machine. Call hostXState6() of postchain/xstate6 first.`,
    );
}

/** The port of the version of XState that has made a machine. */
export const portOf = (machine: AnyStateMachine): XStatePort => (six !== null && isXState6(machine) ? six : five);

/** The states that are active in a snapshot. */
export const activeNodes = (snapshot: AnyMachineSnapshot): readonly AnyStateNode[] =>
  portOf(snapshot.machine).activeNodes(snapshot);

/** Returns a machine as version 5 describes one. */
export const described = (machine: AnyStateMachine): AnyStateMachine => portOf(machine).described(machine);
