import type { AnyStateMachine } from 'xstate';
import { actionMachine } from '../../machines/action/action.machine.ts';
import { attemptMachine } from '../../machines/attempt/attempt.machine.ts';
import { chainMachine } from '../../machines/chain/chain.machine.ts';

/** The three machines, by the names that the CLI accepts. */
export const machinesByName: Readonly<Record<string, AnyStateMachine>> = {
  chain: chainMachine,
  attempt: attemptMachine,
  action: actionMachine,
};
