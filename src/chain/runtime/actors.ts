import type { AnyActorRef } from 'xstate';
import * as z from 'zod/mini';
import { createActionMachine } from '../../../machines/action/action.machine.ts';
import type {
  ApprovalRequest,
  ApproveCallsInput,
  DecideContinuationInput,
  ExecuteCapabilityInput,
  ValidateArgumentsInput,
} from '../../../machines/action/actors.ts';
import type { AppendTurnInput, ChainActors, RecallSessionInput } from '../../../machines/chain/actors.ts';
import { type chainMachine, createChainMachine } from '../../../machines/chain/chain.machine.ts';
import type {
  ApprovalAnswer,
  ArgumentsCheck,
  CapabilityCall,
  CapabilityResult,
  CapabilityRunResult,
} from '../../../machines/contracts/capability.ts';
import type {
  CompareAnswersInput,
  Consent,
  ConsentFor,
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
  type SearchOptions,
} from '../../../machines/contracts/passage.ts';
import type { PromptName } from '../../../machines/contracts/phase.ts';
import type { Profile } from '../../../machines/contracts/profile.ts';
import type { RecalledSession, SessionStore } from '../../../machines/contracts/session.ts';
import type { PriceTable } from '../../../machines/contracts/usage.ts';
import { unexpectedFailure } from '../../../machines/policies/failures.ts';
import { readTurns } from '../../../machines/policies/session.ts';
import { queriesIn } from '../../../machines/text/asked-questions.ts';
import { memoize } from '../../../machines/text/memoize.ts';
import type { Clock } from '../../durable/clock.ts';
import { settledWithin } from '../../internal/async.ts';
import { promiseActivity, type ScopeOf } from '../../llm/activities.ts';
import { callNotes } from '../../llm/attempts/call-notes.ts';
import { type CallObserver, createCallAhead, provideAttempt } from '../../llm/attempts/provide-attempt.ts';
import { checkArguments } from '../../tools/check-arguments.ts';
import { clientRegistry } from '../../tools/client-tools.ts';
import { needsApproval } from '../../tools/needs-approval.ts';
import type { CapabilityRegistry } from '../../tools/registry.ts';
import { runCapability } from '../../tools/run-capability.ts';
import type { Prompt } from '../prompts/prompt.ts';
import { createSpecs } from '../prompts/prompt-spec.ts';
import { type Grader, noGrader } from './answer-grader.ts';
import { createAnswerComparer, createContextMeasurer } from './context-measures.ts';
import type { ContinuationOption } from './decider.ts';
import { type ResolvedPolicies, recordedHooks } from './retry-rules.ts';
import type { PartialUpdate } from './run-events.ts';
import { note, oncePerRun, type RunScope, scopeOf } from './run-scope.ts';

export interface ActorParts {
  /** The first model is called; the others are its fallbacks, in order. */
  readonly models: readonly [ChatModel, ...ChatModel[]];
  readonly prompts: Readonly<Record<PromptName, Prompt>>;
  readonly replyForm: ReplyForm;
  readonly policies: ResolvedPolicies;
  readonly scopeOf: ScopeOf<RunScope>;
  readonly passages: PassageSource;
  readonly embeddings: EmbeddingModel | null;
  readonly grader: Grader | null;
  readonly capabilities: CapabilityRegistry;
  readonly continuation: ContinuationOption;
  /** Whether calls of capabilities without an `approval` of their own need approval. */
  readonly approval: 'always' | 'never';
  readonly approve: ApprovingFunction | null;
  readonly sessions: SessionStore;
}

export interface ChainParts extends Omit<ActorParts, 'scopeOf'> {
  readonly clock: Clock;
  readonly limits: Limits;
  readonly thresholds: Thresholds;
  readonly profile: Profile;
  readonly consent: Consent;
  readonly consentFor: ConsentFor;
  readonly prices: PriceTable | null;
  readonly newRunId: () => string;
  readonly instructions: string | null;
  readonly whenJournalFails: WhenJournalFails;
}

/** Whether a run whose journal cannot be written continues, or stops with the answer it has. */
export type WhenJournalFails = 'continue' | 'stop';

/** One machine for all runs with these parts. */
export const provideChain = memoize((parts: ChainParts): typeof chainMachine =>
  createChainMachine(createChainActors({ ...parts, scopeOf })),
);

export function createChainActors(parts: ActorParts): ChainActors {
  const { scopeOf } = parts;
  const calls = {
    models: parts.models,
    specFor: createSpecs(parts.prompts, (self) => scopeOf(self).valueSchema),
    replyForm: parts.replyForm,
    callScope: (self: AnyActorRef) => {
      const scope = scopeOf(self);
      const { clock, fileOf, editRequest, prompts } = scope;
      const notes = callNotes({ note: (given) => note(self, scope, given), clock, prompts });
      return { clock, editRequest, observer: { ...notes, ...readersOf(scope) }, ...(fileOf && { fileOf }) };
    },
  };
  const attempt = provideAttempt({ ...calls, hooks: recordedHooks(parts.policies.rules) });
  const action = createActionMachine({ attempt, ...createActionActors(parts) });
  const measurer = oncePerRun(() => createContextMeasurer(parts.models[0], parts.embeddings));
  const comparer = oncePerRun(() => createAnswerComparer(parts.embeddings));
  return {
    attempt,
    action,
    callAhead: createCallAhead(calls),
    retrievePassages: createRetrievePassages(parts),
    measureContext: promiseActivity<ContextMeasures, MeasureContextInput>(({ input, signal, self }) =>
      measurer(self)(input, signal),
    ),
    compareAnswers: promiseActivity<number | null, CompareAnswersInput>(({ input, signal, self }) =>
      comparer(self)(input, signal),
    ),
    gradeAnswer: promiseActivity<Grading, GradingInput>(({ input, signal, self }) =>
      (parts.grader ?? noGrader)(input, { signal, clock: scopeOf(self).clock }),
    ),
    ...createSessionActors(parts.sessions),
  };
}

const readersOf = ({ partial, hasReaders }: Pick<RunScope, 'partial' | 'hasReaders'>) =>
  ({
    onPartial: ({ attemptId, task, attempt, phases }, value) =>
      partial({ type: 'partial', attemptId, task, attempt, ...(phases && { phases }), value } as PartialUpdate),
    isWatched: hasReaders,
  }) satisfies Partial<CallObserver>;

function createRetrievePassages({ passages, scopeOf }: ActorParts) {
  return promiseActivity<Retrieval, RetrievePassagesInput>(async ({ input: { query, ...options }, signal, self }) => {
    const recordSearch = (found: Retrieval | null, failure: string | null): void => {
      if (signal.aborted) return;
      const count = found?.passages.length ?? 0;
      note(self, scopeOf(self), {
        type: 'retrieval',
        query,
        passages: count,
        widened: found?.widened ?? false,
        failure,
      });
    };
    try {
      const found = await searchForEach(passages, query, { ...options, signal });
      recordSearch(found, null);
      return found;
    } catch (error) {
      recordSearch(null, unexpectedFailure(error).message);
      throw error;
    }
  });
}

/**
 * Searches for the query, and for each question in it: passages that answer only one of them would be too far down in one search. The best
 * passages of each search come first.
 */
async function searchForEach(source: PassageSource, query: string, options: SearchOptions): Promise<Retrieval> {
  const search = async (one: string) => parseRetrieval(await source.search(one, options));
  const [first, ...others] = await Promise.all(queriesIn(query).map(search));
  if (first === undefined || others.length === 0) return first ?? { query, passages: [], widened: false };
  const exact = [first, ...others].filter(({ widened }) => !widened);
  const lists = (exact.length > 0 ? exact : [first, ...others]).map(({ passages }) => passages);
  const ranks = Array.from({ length: Math.max(...lists.map(({ length }) => length)) }, (_, rank) => rank);
  const inTurn = ranks.flatMap((rank) => lists.flatMap((passages) => passages[rank] ?? []));
  const best = new Map(inTurn.map((passage) => [passage.id, passage]));
  for (const passage of inTurn)
    if (passage.relevance > (best.get(passage.id)?.relevance ?? 0)) best.set(passage.id, passage);
  return { ...first, passages: [...best.values()].slice(0, options.limit), widened: exact.length === 0 };
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

type ActionActorParts = Pick<ActorParts, 'capabilities' | 'continuation' | 'approval' | 'approve' | 'scopeOf'>;

function createActionActors({ capabilities, continuation, approval, approve, scopeOf }: ActionActorParts) {
  const decide = typeof continuation === 'function' ? continuation : () => ({ done: true as const });
  return {
    validateArguments: promiseActivity<readonly ArgumentsCheck[], ValidateArgumentsInput>(
      async ({ input: { calls, clientTools = [], sessionId, timeoutMs }, signal, self }) => {
        const { clock } = scopeOf(self);
        const ofClient = clientRegistry(clientTools);
        const valid = new Map<CapabilityCall, ArgumentsCheck>();
        const checks = calls.map(async (call): Promise<ArgumentsCheck> => {
          const isOfClient = ofClient.get(call.capability) !== undefined;
          const parsed = await checkArguments(isOfClient ? ofClient : capabilities, call);
          if (!parsed.ok) return parsed;
          const asked = { ...parsed, needsApproval: true };
          valid.set(call, asked);
          if (isOfClient) return asked;
          const checked = { capability: call.capability, arguments: parsed.arguments };
          const context = { signal, sessionId, now: () => clock.now() };
          return { ...parsed, needsApproval: await needsApproval(capabilities, checked, approval, context) };
        });
        const settled = await settledWithin(checks, null, { timeoutMs, timers: clock, signal });
        return settled.map((check, at) => check ?? valid.get(calls[at] as CapabilityCall) ?? lateSchema(timeoutMs));
      },
    ),
    approveCalls: promiseActivity<readonly ApprovalAnswer[], ApproveCallsInput>(
      async ({ input: { calls, timeoutMs }, signal, self }) => {
        const answers = calls.map((call) => decisionOf(call, approve, signal));
        const settled = await settledWithin(answers, null, { timeoutMs, timers: scopeOf(self).clock, signal });
        const late = `approve() did not decide within ${timeoutMs} ms`;
        return settled.map((answer, at) => answer ?? denial(calls[at] as ApprovalRequest, late));
      },
    ),
    executeCapability: promiseActivity<CapabilityRunResult, ExecuteCapabilityInput>(({ input, signal, self }) => {
      const { clock } = scopeOf(self);
      return runCapability(capabilities, {
        ...input,
        idempotencyKey: `${input.runId}.${input.id}`,
        signal,
        now: () => clock.now(),
      });
    }),
    decideContinuation: promiseActivity<unknown, DecideContinuationInput>(async ({ input, signal }) =>
      toJson(await decide(copyOf(input), { signal })),
    ),
  };
}

/** Approves a call, with its own or other arguments, responds to it with an output in place of a run, or denies it. */
export type ApprovingFunction = (
  call: ApprovalRequest,
  options: { readonly signal: AbortSignal },
) => ApprovalReply | Promise<ApprovalReply>;

export type ApprovalReply = Pick<ApprovalAnswer, 'decision' | 'arguments' | 'output' | 'reason'>;

const replySchema = z
  .object({
    decision: z.enum(['approve', 'deny', 'respond']),
    arguments: z.optional(z.record(z.string(), z.json())),
    output: z.optional(z.string()),
    reason: z.optional(z.string()),
  })
  .check(z.refine(({ decision, output }) => (decision === 'respond') === (output !== undefined)));

const denial = ({ questionId, digest }: ApprovalRequest, reason: string): ApprovalAnswer => ({
  questionId,
  digest,
  decision: 'deny',
  reason,
});

/** The function is user code: a call is denied if it throws, or returns anything but a decision. Never rejects. */
async function decisionOf(
  call: ApprovalRequest,
  approve: ApprovingFunction | null,
  signal: AbortSignal,
): Promise<ApprovalAnswer> {
  // A run that was started with the function may be resumed without it.
  if (approve === null) return denial(call, 'this chain has no function approve()');
  try {
    const reply = replySchema.safeParse(await approve(structuredClone(call), { signal }));
    if (!reply.success) return denial(call, 'approve() returned no decision');
    return { ...reply.data, questionId: call.questionId, digest: call.digest };
  } catch (error) {
    return denial(call, `approve() threw: ${unexpectedFailure(error).message}`);
  }
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

/** A decider is user code and may change its input: it gets copies, and each result is copied once. */
function copyOf({ request, reply, results, runsLeft }: DecideContinuationInput): DecideContinuationInput {
  return { request, reply: structuredClone(reply), results: results.map(copyOfResult), runsLeft };
}

const copyOfResult = memoize(
  (result: CapabilityResult): CapabilityResult => ({ ...result, arguments: structuredClone(result.arguments) }),
);

/** Session stores are user code: what they return is validated. */
function createSessionActors(sessions: SessionStore) {
  return {
    recallSession: promiseActivity<RecalledSession, RecallSessionInput>(
      async ({ input: { sessionId, turns }, signal }) => {
        let firstProblem: string | null = null;
        const onProblem = (problem: string): void => {
          firstProblem ??= String(problem);
        };
        return readTurns(await sessions.recall(sessionId, { turns, signal, onProblem }), turns, firstProblem);
      },
    ),
    appendTurn: promiseActivity<void, AppendTurnInput>(async ({ input: { sessionId, turn }, signal }) => {
      await sessions.append(sessionId, turn, { signal });
    }),
  };
}
