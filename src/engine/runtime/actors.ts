import { actionMachine } from '../../../machines/action/action.machine.ts';
import { actionVerdicts } from '../../../machines/action/verdicts.ts';
import { attemptMachine } from '../../../machines/attempt/attempt.machine.ts';
import { attemptVerdicts } from '../../../machines/attempt/verdicts.ts';
import { chainMachine } from '../../../machines/chain/chain.machine.ts';
import type { RetrievePassagesInput } from '../../../machines/chain/ports.ts';
import { chainVerdicts } from '../../../machines/chain/verdicts.ts';
import type { Limits } from '../../../machines/contracts/budget.ts';
import type {
  CompareAnswersInput,
  ContextMeasures,
  MeasureContextInput,
} from '../../../machines/contracts/context-measures.ts';
import type { EmbeddingModel } from '../../../machines/contracts/embedding.ts';
import type { ChatModel, ReplyForm } from '../../../machines/contracts/model.ts';
import { type PassageSource, type Retrieval, retrievalSchema } from '../../../machines/contracts/passage.ts';
import type { Task } from '../../../machines/contracts/phase.ts';
import type { PriceTable } from '../../../machines/contracts/price.ts';
import type { SessionStore } from '../../../machines/contracts/session.ts';
import type { Thresholds } from '../../../machines/contracts/thresholds.ts';
import { unexpectedFailure } from '../../../machines/policies/failures.ts';
import type { CapabilityRegistry } from '../../tools/registry.ts';
import type { Conductor } from '../activities/call.ts';
import { type Question, question } from '../activities/question.ts';
import type { Clock } from '../attempts/clock.ts';
import { joinAttempt } from '../attempts/join-attempt.ts';
import type { CallWatcher } from '../attempts/read-reply.ts';
import { askOf, type Prompt } from '../prompts/prompt.ts';
import { listenToGuards } from '../recording/guard-verdicts.ts';
import { createActionActors } from './action-actors.ts';
import { createAnswerComparer, createContextMeasurer } from './context-measures.ts';
import type { Decider } from './decider.ts';
import { createSessionActors } from './session-actors.ts';
import type { PartialUpdate, Watcher } from './watcher.ts';

export interface ActorParts {
  /** The first is asked; the others are its fallbacks, in order [C4]. */
  readonly models: readonly [ChatModel, ...ChatModel[]];
  readonly prompts: Readonly<Record<Task, Prompt>>;
  readonly replyForm: ReplyForm;
  readonly clock: Clock;
  readonly watcher: Watcher;
  readonly conductor: Conductor;
  readonly passages: PassageSource;
  readonly embeddings: EmbeddingModel | null;
  readonly capabilities: CapabilityRegistry;
  readonly decider: Decider;
  readonly sessions: SessionStore;
}

/** What a chain is made of, and what its runs go by; a run adds what watches and conducts it. */
export interface ChainParts extends Omit<ActorParts, 'watcher' | 'conductor'> {
  readonly limits: Limits;
  readonly thresholds: Thresholds;
  readonly prices: PriceTable | null;
  readonly newRunId: () => string;
}

/** The actors that the chain's ports want, joined to a model, documents and capabilities. */
export function joinActors(parts: ActorParts) {
  const { conductor } = parts;
  const { verdicts } = parts.watcher;
  const attempt = joinAttempt({
    models: parts.models,
    askFor: (task) => askOf(parts.prompts[task as Task]),
    replyForm: parts.replyForm,
    clock: parts.clock,
    conductor,
    watcher: callWatcher(parts.watcher),
    guards: listenToGuards(attemptVerdicts, verdicts.of(attemptMachine.id)),
  });
  const action = actionMachine.provide({
    actors: { attempt, ...createActionActors(parts) },
    guards: listenToGuards(actionVerdicts, verdicts.of(actionMachine.id)),
  });
  const measure = createContextMeasurer(parts.models[0], parts.embeddings);
  const compare = createAnswerComparer(parts.embeddings);
  return {
    attempt,
    action,
    retrievePassages: createRetrievePassages(parts),
    measureContext: question<ContextMeasures, MeasureContextInput>(
      'measureContext',
      ({ input, signal }) => measure(input, signal),
      conductor,
    ),
    compareAnswers: question<number | null, CompareAnswersInput>(
      'compareAnswers',
      ({ input, signal }) => compare(input, signal),
      conductor,
    ),
    ...createSessionActors(parts.sessions, conductor),
  };
}

/** The chain's machine joined to all that, with its guards listened to. */
export function joinChain(parts: ActorParts): typeof chainMachine {
  return chainMachine.provide({
    actors: joinActors(parts),
    guards: listenToGuards(chainVerdicts, parts.watcher.verdicts.of(chainMachine.id)),
  });
}

/** What a run tells of its calls: text for the journal, partial values for who watches. */
function callWatcher({ record, partial }: Watcher): CallWatcher {
  return {
    onText: ({ attemptId }, text) => record({ type: 'text-delta', attemptId, text }),
    onPartial: ({ attemptId, task, attempt }, value) =>
      partial({ type: 'partial', attemptId, task, attempt, value } as PartialUpdate),
  };
}

function createRetrievePassages({ passages, watcher: { record }, conductor }: ActorParts) {
  const search = async ({ input: { query, ...options }, signal }: Question<RetrievePassagesInput>) => {
    const tell = (found: Retrieval | null, failure: string | null): void => {
      if (signal.aborted) return;
      const count = found?.passages.length ?? 0;
      record({ type: 'retrieval', query, passages: count, widened: found?.widened ?? false, failure });
    };
    try {
      const found = readRetrieval(await passages.search(query, { ...options, signal }));
      tell(found, null);
      return found;
    } catch (error) {
      tell(null, unexpectedFailure(error).message);
      throw error;
    }
  };
  return question('retrievePassages', search, conductor);
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
