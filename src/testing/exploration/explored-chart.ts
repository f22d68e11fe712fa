import type { AnyStateMachine } from 'xstate';
import type { ExploreOptions } from './explore.ts';

/** A machine with all that is needed to explore it. */
export interface ExploredChart<Machine extends AnyStateMachine> extends ExploreOptions<Machine> {
  readonly machine: Machine;
}
