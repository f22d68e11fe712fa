import { fromPromise } from 'xstate';
import { actionMachine } from '../../machines/action/action.machine.ts';
import { actionVerdicts } from '../../machines/action/setup.ts';
import { attemptMachine } from '../../machines/attempt/attempt.machine.ts';
import { attemptVerdicts } from '../../machines/attempt/setup.ts';
import type { RetrievePassagesInput } from '../../machines/chain/ports.ts';
import type { PassageSource, Retrieval } from '../../machines/contracts/passage.ts';
import { unexpectedFailure } from '../../machines/policies/failures.ts';
import type { CapabilityRegistry } from '../capabilities/registry.ts';
import { listenToGuards } from '../journal/guard-verdicts.ts';
import { createActionActors, type Decider } from './action-actors.ts';
import { createReadReply, type ReadReplyParts } from './read-reply.ts';
import { createValidateReply } from './validate-reply.ts';
import type { Watcher } from './watcher.ts';

export interface ActorParts extends ReadReplyParts {
  readonly passages: PassageSource;
  readonly capabilities: CapabilityRegistry;
  readonly decider: Decider | null;
}

/** The actors that the chain's ports want, joined to a model, documents and capabilities. */
export function joinActors(parts: ActorParts) {
  const { verdicts } = parts.watcher;
  const attempt = attemptMachine.provide({
    actors: { readReply: createReadReply(parts), validateReply: createValidateReply(parts.prompts) },
    guards: listenToGuards(attemptVerdicts, verdicts),
  });
  const action = actionMachine.provide({
    actors: { attempt, ...createActionActors(parts.capabilities, parts.decider, parts.clock) },
    guards: listenToGuards(actionVerdicts, verdicts),
  });
  return { attempt, action, retrievePassages: createRetrievePassages(parts.passages, parts.watcher) };
}

function createRetrievePassages(source: PassageSource, { record }: Watcher) {
  return fromPromise<Retrieval, RetrievePassagesInput>(async ({ input: { query, ...options }, signal }) => {
    try {
      const found = await source.search(query, { ...options, signal });
      const { passages, widened } = found;
      record({ type: 'retrieval', query, passages: passages.length, widened, failure: null });
      return found;
    } catch (error) {
      const failure = unexpectedFailure(error).message;
      record({ type: 'retrieval', query, passages: 0, widened: false, failure });
      throw error;
    }
  });
}

/** A source with nothing in it: a chain without documents. */
export const noPassages: PassageSource = {
  search: async (query) => ({ query, passages: [], widened: false }),
};
