import { actionMachine, createActionMachine } from '../../../machines/action/action.machine.ts';
import type {
  DecideContinuationInput,
  ExecuteCapabilityInput,
  ValidateArgumentsInput,
} from '../../../machines/action/actors.ts';
import { actionGuards } from '../../../machines/action/guards.ts';
import { attemptMachine } from '../../../machines/attempt/attempt.machine.ts';
import { attemptGuards } from '../../../machines/attempt/guards.ts';
import type { AppendTurnInput, ChainActors, RecallSessionInput } from '../../../machines/chain/actors.ts';
import { chainMachine, createChainMachine } from '../../../machines/chain/chain.machine.ts';
import { chainGuards } from '../../../machines/chain/guards.ts';
import type { ArgumentsCheck, CapabilityResult, CapabilityRunResult } from '../../../machines/contracts/capability.ts';
import type {
  Approval,
  CompareAnswersInput,
  Consent,
  ContextMeasures,
  MeasureContextInput,
} from '../../../machines/contracts/context.ts';
import type { Grading, GradingInput } from '../../../machines/contracts/grading.ts';
import type { Limits, Thresholds } from '../../../machines/contracts/limits.ts';
import type { ChatModel, EmbeddingModel, ReplyForm } from '../../../machines/contracts/model.ts';
import {
  type PassageSource,
  type Retrieval,
  type RetrievePassagesInput,
  retrievalSchema,
} from '../../../machines/contracts/passage.ts';
import type { PromptName } from '../../../machines/contracts/phase.ts';
import type { Profile } from '../../../machines/contracts/profile.ts';
import type { RecalledSession, SessionStore } from '../../../machines/contracts/session.ts';
import type { PriceTable } from '../../../machines/contracts/usage.ts';
import { unexpectedFailure } from '../../../machines/policies/failures.ts';
import { readTurns } from '../../../machines/policies/session.ts';
import type { Clock } from '../../durable/clock.ts';
import { settledWithin } from '../../internal/async.ts';
import { type ActivityArgs, type ActivityDispatcher, promiseActivity } from '../../llm/activities.ts';
import {
  type CallObserver,
  createCallAhead,
  type EditRequest,
  provideAttempt,
} from '../../llm/attempts/provide-attempt.ts';
import { checkArguments } from '../../tools/check-arguments.ts';
import type { CapabilityRegistry } from '../../tools/registry.ts';
import { runCapability } from '../../tools/run-capability.ts';
import type { Prompt } from '../prompts/prompt.ts';
import { createSpecs } from '../prompts/prompt-spec.ts';
import { requestDigest } from '../prompts/request-digest.ts';
import { type GuardLog, recordGuards } from '../recording/guard-logs.ts';
import { type Grader, noGrader } from './answer-grader.ts';
import { createAnswerComparer, createContextMeasurer } from './context-measures.ts';
import { type Decider, noopDecider } from './decider.ts';
import { type ResolvedPolicies, recordedHooks } from './retry-rules.ts';
import type { PartialUpdate, RunObserver } from './run-events.ts';
import { currentScope, oncePerRun, type ScopeSource, scopedDispatcher } from './run-scope.ts';

export interface ActorParts {
  /** The first model is called; the others are its fallbacks, in order. */
  readonly models: readonly [ChatModel, ...ChatModel[]];
  readonly prompts: Readonly<Record<PromptName, Prompt>>;
  readonly replyForm: ReplyForm;
  readonly editRequest?: EditRequest;
  readonly policies: ResolvedPolicies;
  readonly scope: ScopeSource;
  readonly passages: PassageSource;
  readonly embeddings: EmbeddingModel | null;
  readonly grader: Grader | null;
  readonly capabilities: CapabilityRegistry;
  readonly decider: Decider;
  readonly sessions: SessionStore;
}

export interface ChainParts extends Omit<ActorParts, 'scope'> {
  readonly clock: Clock;
  readonly limits: Limits;
  readonly thresholds: Thresholds;
  readonly profile: Profile;
  readonly consent: Consent;
  readonly approval: Approval;
  readonly prices: PriceTable | null;
  readonly newRunId: () => string;
  readonly instructions: string | null;
  readonly whenJournalFails: WhenJournalFails;
}

/** Whether a run whose journal cannot be written continues, or stops with the answer it has. */
export type WhenJournalFails = 'continue' | 'stop';

const provided = new WeakMap<ChainParts, typeof chainMachine>();

/** One machine for all runs with these parts. */
export function provideChain(parts: ChainParts): typeof chainMachine {
  const machine = provided.get(parts) ?? createProvidedChain(parts);
  provided.set(parts, machine);
  return machine;
}

function createProvidedChain(parts: ChainParts): typeof chainMachine {
  return createChainMachine(createChainActors({ ...parts, scope: currentScope })).provide({
    guards: recordGuards(chainGuards, guardLogOf(chainMachine.id, currentScope)),
  });
}

function guardLogOf(machineId: string, scope: ScopeSource): () => GuardLog {
  return () => scope().observer.guardLogs.of(machineId);
}

export function createChainActors(parts: ActorParts): ChainActors {
  const { scope } = parts;
  const dispatcher = scopedDispatcher(scope);
  const calls = {
    models: parts.models,
    specFor: createSpecs(parts.prompts),
    replyForm: parts.replyForm,
    editRequest: parts.editRequest,
    dispatcher,
    callScope: () => {
      const { clock, observer, fileOf } = scope();
      return { clock, observer: callObserver(observer), ...(fileOf && { fileOf }) };
    },
  };
  const attempt = provideAttempt({
    ...calls,
    hooks: recordedHooks(parts.policies.rules, scope),
    guards: recordGuards(attemptGuards, guardLogOf(attemptMachine.id, scope)),
  });
  const action = createActionMachine({ attempt, ...createActionActors(parts) }).provide({
    guards: recordGuards(actionGuards, guardLogOf(actionMachine.id, scope)),
  });
  const measurer = oncePerRun(scope, () => createContextMeasurer(parts.models[0], parts.embeddings));
  const comparer = oncePerRun(scope, () => createAnswerComparer(parts.embeddings));
  return {
    attempt,
    action,
    callAhead: createCallAhead(calls),
    retrievePassages: createRetrievePassages(parts),
    measureContext: promiseActivity<ContextMeasures, MeasureContextInput>(
      'measureContext',
      ({ input, signal }) => measurer()(input, signal),
      dispatcher,
    ),
    compareAnswers: promiseActivity<number | null, CompareAnswersInput>(
      'compareAnswers',
      ({ input, signal }) => comparer()(input, signal),
      dispatcher,
    ),
    gradeAnswer: promiseActivity<Grading, GradingInput>(
      'gradeAnswer',
      ({ input, signal }) => (parts.grader ?? noGrader)(input, { signal, clock: scope().clock }),
      dispatcher,
    ),
    ...createSessionActors(parts.sessions, dispatcher),
  };
}

/** Records prompt digests and text deltas in the journal, and passes partial values to the run's readers. */
function callObserver({ record, partial, hasReaders }: RunObserver): CallObserver {
  return {
    onRequest: ({ attemptId }, request) => record({ type: 'prompt', attemptId, digest: requestDigest(request) }),
    onText: ({ attemptId }, text) => record({ type: 'text-delta', attemptId, text }),
    onPartial: ({ attemptId, task, attempt }, value) =>
      partial({ type: 'partial', attemptId, task, attempt, value } as PartialUpdate),
    isWatched: hasReaders,
  };
}

function createRetrievePassages({ passages, scope }: ActorParts) {
  const search = async ({ input: { query, ...options }, signal }: ActivityArgs<RetrievePassagesInput>) => {
    const { record } = scope().observer;
    const recordSearch = (found: Retrieval | null, failure: string | null): void => {
      if (signal.aborted) return;
      const count = found?.passages.length ?? 0;
      record({ type: 'retrieval', query, passages: count, widened: found?.widened ?? false, failure });
    };
    try {
      const found = parseRetrieval(await passages.search(query, { ...options, signal }));
      recordSearch(found, null);
      return found;
    } catch (error) {
      recordSearch(null, unexpectedFailure(error).message);
      throw error;
    }
  };
  return promiseActivity('retrievePassages', search, scopedDispatcher(scope));
}

/** Passage sources are user code: an invalid retrieval counts as a failed source. */
function parseRetrieval(given: unknown): Retrieval {
  const read = retrievalSchema.safeParse(given);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  const where = issue?.path.join('.') || 'the result';
  throw new TypeError(`the passage source returned an invalid retrieval (${where}: ${issue?.message ?? 'invalid'})`);
}

export const noPassages: PassageSource = {
  search: async (query) => ({ query, passages: [], widened: false }),
};

type ActionActorParts = Pick<ActorParts, 'capabilities' | 'decider' | 'scope'>;

export function createActionActors({ capabilities, decider, scope }: ActionActorParts) {
  const dispatcher = scopedDispatcher(scope);
  const decide = typeof decider === 'function' ? decider : noopDecider;
  return {
    validateArguments: promiseActivity<readonly ArgumentsCheck[], ValidateArgumentsInput>(
      'validateArguments',
      ({ input: { calls, timeoutMs }, signal }) => {
        const checks = calls.map((call) => checkArguments(capabilities, call));
        return settledWithin(checks, lateSchema(timeoutMs), { timeoutMs, timers: scope().clock, signal });
      },
      dispatcher,
    ),
    executeCapability: promiseActivity<CapabilityRunResult, ExecuteCapabilityInput>(
      'executeCapability',
      ({ input, signal }) => {
        const { clock } = scope();
        return runCapability(capabilities, {
          ...input,
          idempotencyKey: `${input.runId}.${input.id}`,
          signal,
          now: () => clock.now(),
        });
      },
      dispatcher,
    ),
    decideContinuation: promiseActivity<unknown, DecideContinuationInput>(
      'decideContinuation',
      async ({ input, signal }) => toJson(await decide(copyOf(input), { signal })),
      dispatcher,
    ),
  };
}

function lateSchema(timeoutMs: number): ArgumentsCheck {
  const problem = `the schema did not validate the arguments within ${timeoutMs} ms`;
  return { ok: false, code: 'arguments_misfit', problem };
}

/** A decider is user code: its reply is reduced to the JSON that the journal keeps. Throws if it has no JSON form. */
function toJson(reply: unknown): unknown {
  const text = JSON.stringify(reply);
  return text === undefined ? null : JSON.parse(text);
}

const resultCopies = new WeakMap<CapabilityResult, CapabilityResult>();

/** A decider is user code and may change its input: it gets copies, and each result is copied once. */
function copyOf({ request, reply, results, runsLeft }: DecideContinuationInput): DecideContinuationInput {
  return { request, reply: structuredClone(reply), results: results.map(copyOfResult), runsLeft };
}

function copyOfResult(result: CapabilityResult): CapabilityResult {
  const copy = resultCopies.get(result) ?? { ...result, arguments: structuredClone(result.arguments) };
  resultCopies.set(result, copy);
  return copy;
}

/** Session stores are user code: what they return is validated. */
function createSessionActors(store: SessionStore, dispatcher: ActivityDispatcher) {
  return {
    recallSession: promiseActivity<RecalledSession, RecallSessionInput>(
      'recallSession',
      async ({ input: { sessionId, turns }, signal }) => {
        let firstProblem: string | null = null;
        const onProblem = (problem: string): void => {
          firstProblem ??= String(problem);
        };
        return readTurns(await store.recall(sessionId, { turns, signal, onProblem }), turns, firstProblem);
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
