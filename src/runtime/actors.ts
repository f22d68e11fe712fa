import { fromPromise } from 'xstate';
import { actionMachine } from '../../machines/action/action.machine.ts';
import { actionVerdicts } from '../../machines/action/setup.ts';
import { attemptMachine } from '../../machines/attempt/attempt.machine.ts';
import { attemptVerdicts } from '../../machines/attempt/setup.ts';
import type { RetrievePassagesInput } from '../../machines/chain/ports.ts';
import { type PassageSource, type Retrieval, retrievalSchema } from '../../machines/contracts/passage.ts';
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
    const tell = (found: Retrieval | null, failure: string | null): void => {
      if (signal.aborted) return;
      const passages = found?.passages.length ?? 0;
      record({ type: 'retrieval', query, passages, widened: found?.widened ?? false, failure });
    };
    try {
      const found = readRetrieval(await source.search(query, { ...options, signal }));
      tell(found, null);
      return found;
    } catch (error) {
      tell(null, unexpectedFailure(error).message);
      throw error;
    }
  });
}

/** Sources are the user's code: what is no retrieval is a dead source. */
function readRetrieval(given: unknown): Retrieval {
  const read = retrievalSchema.safeParse(given);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  throw new TypeError(`the source gave no passages (${issue?.path.join('.') || 'it'}: ${issue?.message ?? 'misfit'})`);
}

/** A source with nothing in it: a chain without documents. */
export const noPassages: PassageSource = {
  search: async (query) => ({ query, passages: [], widened: false }),
};
