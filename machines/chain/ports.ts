import type { PromiseActorLogic } from 'xstate';
import type { actionMachine } from '../action/action.machine.ts';
import type { attemptMachine } from '../attempt/attempt.machine.ts';
import type { Retrieval } from '../contracts/passage.ts';
import { port } from '../ports.ts';

export interface RetrievePassagesInput {
  readonly query: string;
  readonly limit: number;
  readonly minRelevance: number;
}

/** Searches what is known. It may reject: a dead source degrades Experience, it does not fail it [C5]. */
export type RetrievePassages = PromiseActorLogic<Retrieval, RetrievePassagesInput>;

/** What the chain asks of the world: two machines with their own ports filled, and a search. */
export const chainPorts = {
  attempt: port<typeof attemptMachine>('attempt'),
  action: port<typeof actionMachine>('action'),
  retrievePassages: port<RetrievePassages>('retrievePassages'),
};
