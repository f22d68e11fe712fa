import { actionMachine } from '../../../machines/action/action.machine.ts';
import { actionGuards } from '../../../machines/action/guards.ts';
import type { DecideContinuationInput, ExecuteCapabilityInput } from '../../../machines/action/ports.ts';
import { attemptMachine } from '../../../machines/attempt/attempt.machine.ts';
import { attemptGuards } from '../../../machines/attempt/guards.ts';
import { chainMachine } from '../../../machines/chain/chain.machine.ts';
import { chainGuards } from '../../../machines/chain/guards.ts';
import type { AppendTurnInput, RecallSessionInput, RetrievePassagesInput } from '../../../machines/chain/ports.ts';
import type { ArgumentsCheck, CapabilityCall, CapabilityResult } from '../../../machines/contracts/capability.ts';
import type { CompareAnswersInput, ContextMeasures, MeasureContextInput } from '../../../machines/contracts/context.ts';
import type { Limits, Thresholds } from '../../../machines/contracts/limits.ts';
import type { ChatModel, EmbeddingModel, ReplyForm } from '../../../machines/contracts/model.ts';
import { type PassageSource, type Retrieval, retrievalSchema } from '../../../machines/contracts/passage.ts';
import type { Task } from '../../../machines/contracts/phase.ts';
import type { RecalledSession, SessionStore } from '../../../machines/contracts/session.ts';
import type { PriceTable } from '../../../machines/contracts/usage.ts';

import { unexpectedFailure } from '../../../machines/policies/failures.ts';
import { readTurns } from '../../../machines/policies/session.ts';
import { checkArguments } from '../../tools/check-arguments.ts';
import type { CapabilityRegistry } from '../../tools/registry.ts';
import { runCapability } from '../../tools/run-capability.ts';
import { type ActivityArgs, type ActivityDispatcher, promiseActivity } from '../activities.ts';
import { type CallObserver, provideAttempt } from '../attempts/provide-attempt.ts';
import type { Clock } from '../clock.ts';
import { askOf, type Prompt } from '../prompts/prompt.ts';
import { recordGuards } from '../recording/guard-logs.ts';
import { createAnswerComparer, createContextMeasurer } from './context-measures.ts';
import { type Decider, noopDecider } from './decider.ts';
import type { PartialUpdate, RunObserver } from './run-events.ts';

export interface ActorParts {
  /** The first is asked; the others are its fallbacks, in order [C4]. */
  readonly models: readonly [ChatModel, ...ChatModel[]];
  readonly prompts: Readonly<Record<Task, Prompt>>;
  readonly replyForm: ReplyForm;
  readonly clock: Clock;
  readonly observer: RunObserver;
  readonly dispatcher: ActivityDispatcher;
  readonly passages: PassageSource;
  readonly embeddings: EmbeddingModel | null;
  readonly capabilities: CapabilityRegistry;
  readonly decider: Decider;
  readonly sessions: SessionStore;
}

/** What a chain is made of, and what its runs go by; a run adds what watches and conducts it. */
export interface ChainParts extends Omit<ActorParts, 'observer' | 'dispatcher'> {
  readonly limits: Limits;
  readonly thresholds: Thresholds;
  readonly prices: PriceTable | null;
  readonly newRunId: () => string;
}

/** The actors that the chain's ports want, joined to a model, documents and capabilities. */
export function createChainActors(parts: ActorParts) {
  const { dispatcher } = parts;
  const { guardLogs: verdicts } = parts.observer;
  const attempt = provideAttempt({
    models: parts.models,
    askFor: (task) => askOf(parts.prompts[task as Task]),
    replyForm: parts.replyForm,
    clock: parts.clock,
    dispatcher,
    observer: callObserver(parts.observer),
    guards: recordGuards(attemptGuards, verdicts.of(attemptMachine.id)),
  });
  const action = actionMachine.provide({
    actors: { attempt, ...createActionActors(parts) },
    guards: recordGuards(actionGuards, verdicts.of(actionMachine.id)),
  });
  const measure = createContextMeasurer(parts.models[0], parts.embeddings);
  const compare = createAnswerComparer(parts.embeddings);
  return {
    attempt,
    action,
    retrievePassages: createRetrievePassages(parts),
    measureContext: promiseActivity<ContextMeasures, MeasureContextInput>(
      'measureContext',
      ({ input, signal }) => measure(input, signal),
      dispatcher,
    ),
    compareAnswers: promiseActivity<number | null, CompareAnswersInput>(
      'compareAnswers',
      ({ input, signal }) => compare(input, signal),
      dispatcher,
    ),
    ...createSessionActors(parts.sessions, dispatcher),
  };
}

/** The chain's machine joined to all that, with its guards listened to. */
export function provideChain(parts: ActorParts): typeof chainMachine {
  return chainMachine.provide({
    actors: createChainActors(parts),
    guards: recordGuards(chainGuards, parts.observer.guardLogs.of(chainMachine.id)),
  });
}

/** What a run tells of its calls: text for the journal, partial values for who watches. */
function callObserver({ record, partial }: RunObserver): CallObserver {
  return {
    onText: ({ attemptId }, text) => record({ type: 'text-delta', attemptId, text }),
    onPartial: ({ attemptId, task, attempt }, value) =>
      partial({ type: 'partial', attemptId, task, attempt, value } as PartialUpdate),
  };
}

function createRetrievePassages({ passages, observer: { record }, dispatcher }: ActorParts) {
  const search = async ({ input: { query, ...options }, signal }: ActivityArgs<RetrievePassagesInput>) => {
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
  return promiseActivity('retrievePassages', search, dispatcher);
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

interface Parts {
  readonly capabilities: CapabilityRegistry;
  readonly decider: Decider;
  readonly clock: Clock;
  readonly dispatcher: ActivityDispatcher;
}

/** The ports of the action machine but its attempt. */
export function createActionActors({ capabilities, decider, clock, dispatcher }: Parts) {
  const decide = typeof decider === 'function' ? decider : noopDecider;
  return {
    validateArguments: promiseActivity<ArgumentsCheck, CapabilityCall>(
      'validateArguments',
      ({ input }) => checkArguments(capabilities, input),
      dispatcher,
    ),
    executeCapability: promiseActivity<CapabilityResult, ExecuteCapabilityInput>(
      'executeCapability',
      ({ input, signal }) =>
        runCapability(capabilities, {
          ...input,
          idempotencyKey: `${input.runId}.${input.step}`,
          signal,
          now: () => clock.now(),
        }),
      dispatcher,
    ),
    decideContinuation: promiseActivity<unknown, DecideContinuationInput>(
      'decideContinuation',
      async ({ input, signal }) => asJson(await decide(copyOf(input), { signal })),
      dispatcher,
    ),
  };
}

/** A decider is the user's code: what it says is written down, and read from there too. Throws for what is no JSON. */
function asJson(said: unknown): unknown {
  const text = JSON.stringify(said);
  return text === undefined ? null : JSON.parse(text);
}

const copies = new WeakMap<CapabilityResult, CapabilityResult>();

/** A decider is the user's code: what it does to what it is shown is done to copies, each made once. */
function copyOf({ request, reply, results, runsLeft }: DecideContinuationInput): DecideContinuationInput {
  return { request, reply: structuredClone(reply), results: results.map(copyOfResult), runsLeft };
}

function copyOfResult(result: CapabilityResult): CapabilityResult {
  const known = copies.get(result) ?? { ...result, arguments: structuredClone(result.arguments) };
  copies.set(result, known);
  return known;
}

/** The chain's ports to a session store. A store is the user's code: what it gives is checked, what it throws rejects. */
function createSessionActors(store: SessionStore, dispatcher: ActivityDispatcher) {
  return {
    recallSession: promiseActivity<RecalledSession, RecallSessionInput>(
      'recallSession',
      async ({ input: { sessionId, turns }, signal }) => {
        let told: string | null = null;
        const onProblem = (problem: string): void => {
          told ??= String(problem);
        };
        return readTurns(await store.recall(sessionId, { turns, signal, onProblem }), turns, told);
      },
      dispatcher,
    ),
    appendTurn: promiseActivity<void, AppendTurnInput>(
      'appendTurn',
      async ({ input: { sessionId, turn }, signal }) => {
        await store.append(sessionId, turn, { signal });
      },
      dispatcher,
    ),
  };
}
