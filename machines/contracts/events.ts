import * as z from 'zod/mini';
import { replyEventSchema } from './attempt.ts';
import {
  approvalDecisionSchema,
  capabilityFailureSchema,
  capabilityResultSchema,
  stopReasonSchema,
} from './capability.ts';
import { consentChoiceSchema, consentGiverSchema, consentRequestSchema, contextOperationSchema } from './context.ts';
import { decisionSchema } from './decision.ts';
import { failureSchema } from './failure.ts';
import { limitsSchema, thresholdsSchema } from './limits.ts';
import { messageSchema } from './message.ts';
import { modelChangeSchema } from './model-status.ts';
import { phaseSchema } from './phase.ts';
import { contextStatisticsSchema, pruningSchema } from './phase-io.ts';
import { repairsSchema } from './repair.ts';
import { finalAnswerSchema } from './synthesis.ts';
import { tokenUsageSchema } from './usage.ts';

/** Returns a schema for an object with any of the values of a shape, each within its range and without its default. */
function partialOf<Shape extends Record<string, z.ZodMiniDefault>>(shape: Shape) {
  const ranges = Object.entries(shape).map(([name, { def }]) => [name, z.optional(def.innerType)]);
  return z.strictObject(
    Object.fromEntries(ranges) as { [Name in keyof Shape]: z.ZodMiniOptional<Shape[Name]['def']['innerType']> },
  );
}

/** As for the arguments of models. */
const MAX_DEPTH = 200;

/** Whether a value is nested at most `MAX_DEPTH` levels deep. Not recursive, and ends for a value that contains itself. */
function isShallow(root: object): boolean {
  let level: ReadonlySet<object> = new Set([root]);
  for (let depth = 1; level.size > 0; depth += 1) {
    if (depth > MAX_DEPTH) return false;
    const members = [...level].flatMap((value): unknown[] => Object.values(value));
    level = new Set(members.filter((member) => typeof member === 'object' && member !== null));
  }
  return true;
}

/** The depth is checked first, because later consumers are recursive, and so is the check of JSON. */
export const shallowObjectSchema = z
  .record(z.string(), z.unknown())
  .check(z.refine(isShallow, `expected at most ${MAX_DEPTH} levels`));
const editedArguments = z.pipe(shallowObjectSchema, z.record(z.string(), z.json()));

/** Whether a decision has an output if it needs one. */
const hasOutput = ({ decision, output }: { readonly decision: string; readonly output?: string | undefined }) =>
  (decision === 'respond') === (output !== undefined);
const OUTPUT = { error: 'expected an output for "respond", and for no other decision', path: ['output'] };

/**
 * The user's decision about one call of a capability. With `arguments`, it is approved with these in place of its own. `respond` gives the
 * output of the call, which then does not run.
 */
export const approvalGivenSchema = z
  .object({
    type: z.literal('approval.given'),
    questionId: z.string(),
    digest: z.string(),
    decision: z.enum(['approve', 'deny', 'respond']),
    arguments: z.optional(editedArguments),
    output: z.optional(z.string()),
    reason: z.optional(z.string()),
    /** Who decided, if it was not the user. */
    by: z.exactOptional(z.literal('program')),
  })
  .check(z.refine(hasOutput, OUTPUT));
export type CallApprovalGiven = z.infer<typeof approvalGivenSchema>;

/**
 * Events that a user or host sends to a running chain. `run.cancelled` comes from the user and `run.interrupted` from
 * the host (a signal or a shutdown); both end the run at once with a degraded answer. `run.directed` names the next
 * phase, as a free string so that the chart can reject an unknown one. `run.finished` ends the run now with an answer.
 * `consent.given` answers the question `questionId`, and so do `run.directed` and `run.finished` with a `questionId`. An
 * answer to any question but the pending one changes nothing (`answer-refused`). `approval.given` decides about one call of a capability:
 * it names the question and the digest of the call. `run.adjusted` changes limits and
 * thresholds for the rest of the run. `context.overruled` is the user's decision about one message, whatever was planned
 * for it or done to it; `context.undone` reverts one operation.
 */
export const chainEventSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('run.cancelled'), reason: z.optional(z.string()) }),
  z.object({ type: z.literal('run.interrupted'), reason: z.optional(z.string()) }),
  z.object({
    type: z.literal('run.directed'),
    phase: z.string(),
    prompt: z.optional(z.string()),
    questionId: z.exactOptional(z.string()),
  }),
  z.object({ type: z.literal('run.finished'), questionId: z.exactOptional(z.string()) }),
  z.object({
    type: z.literal('run.adjusted'),
    limits: z.optional(partialOf(limitsSchema.shape)),
    thresholds: z.optional(partialOf(thresholdsSchema.shape)),
  }),
  z.object({ type: z.literal('context.overruled'), messageId: z.string(), choice: z.string() }),
  z.object({ type: z.literal('context.undone'), operationId: z.string() }),
  z.object({
    type: z.literal('consent.given'),
    /** Empty: the answer names no question, so it is refused. */
    questionId: z._default(z.string(), ''),
    choice: z.string(),
    items: z.optional(z.record(z.string(), z.string())),
    /** Who decided, if it was not the user: for example, an option set in advance. */
    by: z.optional(z.enum(['user', 'option', 'default'])),
  }),
  approvalGivenSchema,
]);
export type ChainEvent = z.infer<typeof chainEventSchema>;

/** The journal keeps every event of a run, so those of a client have a maximum size. */
const clientText = z.string().check(z.maxLength(20_000));
const clientId = z.string().check(z.minLength(1), z.maxLength(1_000));
/** How many messages one answer may name, and the length of their ids together. */
const MAX_ITEMS = 1_000;
const MAX_ITEMS_CHARS = 50_000;

/**
 * The events that a client (a caller who is not the operator) may send to its own run: to answer a consent question, to
 * overrule or undo an operation on the context, and to direct, finish or cancel the run. Strict and of bounded size, because these
 * events come from outside the program. They include approvals: pass one on only if the caller may approve.
 */
export const clientEventSchema = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('run.cancelled'), reason: z.optional(clientText) }),
  z.strictObject({
    type: z.literal('run.directed'),
    phase: phaseSchema,
    prompt: z.optional(clientText),
    questionId: z.exactOptional(clientId),
  }),
  z.strictObject({ type: z.literal('run.finished'), questionId: z.exactOptional(clientId) }),
  z.strictObject({ type: z.literal('context.overruled'), messageId: clientId, choice: consentChoiceSchema }),
  z.strictObject({ type: z.literal('context.undone'), operationId: clientId }),
  z.strictObject({
    type: z.literal('consent.given'),
    questionId: clientId,
    choice: consentChoiceSchema,
    items: z.optional(
      z.record(clientId, consentChoiceSchema).check(
        z.refine((items) => {
          const ids = Object.keys(items);
          return ids.length <= MAX_ITEMS && ids.join('').length <= MAX_ITEMS_CHARS;
        }, `expected at most ${MAX_ITEMS} messages, with ids of at most ${MAX_ITEMS_CHARS} characters together`),
      ),
    ),
  }),
  z
    .strictObject({
      type: z.literal('approval.given'),
      questionId: clientId,
      digest: clientId,
      decision: z.enum(['approve', 'deny', 'respond']),
      output: z.optional(z.string().check(z.maxLength(1_000_000))),
      arguments: z.optional(
        editedArguments.check(
          z.refine(
            (edited) => JSON.stringify(edited).length <= MAX_ITEMS_CHARS,
            `expected arguments of at most ${MAX_ITEMS_CHARS} characters as JSON`,
          ),
        ),
      ),
      reason: z.optional(clientText),
    })
    .check(z.refine(hasOutput, OUTPUT)),
]);
export type ClientEvent = z.infer<typeof clientEventSchema>;

/**
 * Why an answer has no effect: no question is pending; another one is; the answer names none; the question needs another kind of answer; it
 * is about none of the messages that the answer names, or about a call with another digest; it was answered before; it approves a call that
 * only the client can run. Or a command came after the phases.
 */
const answerRefusalSchema = z.enum([
  'no_question',
  'other_question',
  'unnamed_question',
  'other_kind',
  'unknown_message',
  'other_digest',
  'already_answered',
  'client_tool',
  'too_late',
]);
export type AnswerRefusal = z.infer<typeof answerRefusalSchema>;

/** An error from an activity, reduced to what the charts use. `message` is one line. */
export const callErrorSchema = z.object({
  name: z.string(),
  message: z.string(),
  code: z.optional(z.string()),
  status: z.optional(z.number()),
  retryAfterMs: z.optional(z.number()),
});
export type CallError = Readonly<z.infer<typeof callErrorSchema>>;

/** The validation of a complete reply, unless the schema is asynchronous. */
const validated = { validation: z.optional(z.unknown()) };

/**
 * Progress and result of an activity. `done` and `failed` end a promise activity; `reply.ended` and `reply.lost` end
 * the reading of a model's reply.
 */
export const callEventSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('done'), output: z.optional(z.unknown()) }),
  z.object({ type: z.literal('failed'), error: callErrorSchema }),
  ...replyEventSchema.def.options.map((option) => z.extend(option, validated)),
]);
export type CallEvent = Readonly<z.infer<typeof callEventSchema>>;

/** The events that end an activity. */
export const LAST_EVENTS: ReadonlySet<CallEvent['type']> = new Set(['done', 'failed', 'reply.ended', 'reply.lost']);

/** Events that the charts emit. XState users receive them with `actor.on('decision', …)`. */
export const emittedEventSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('phase-start'), phase: phaseSchema, cycle: z.int(), step: z.int() }),
  z.object({
    type: z.literal('phase-end'),
    phase: phaseSchema,
    cycle: z.int(),
    step: z.int(),
    summary: z.string(),
    failure: z.nullable(failureSchema),
    /** The attempt that the reply is from; null without a model call. Absent if the phase failed. */
    attemptId: z.exactOptional(z.nullable(z.string())),
  }),
  z.object({
    type: z.literal('operations'),
    phase: phaseSchema,
    step: z.int(),
    applied: z.array(contextOperationSchema),
  }),
  z.object({
    type: z.literal('recovery'),
    phase: phaseSchema,
    action: z.enum(['repeat', 'skip', 'finish']),
    failure: failureSchema,
  }),
  z.object({
    type: z.literal('context-evaluated'),
    step: z.int(),
    statistics: contextStatisticsSchema,
    pruningLog: z.array(pruningSchema),
    problem: z.nullable(z.string()),
  }),
  z.object({ type: z.literal('consent-asked'), questionId: z.string(), request: consentRequestSchema }),
  z.object({
    type: z.literal('consent-resolved'),
    kept: z.int(),
    summarized: z.int(),
    removed: z.int(),
    by: consentGiverSchema,
  }),
  /** The user overruled what was planned for a message or done to it (`choice`), or undid an operation (null). */
  z.object({
    type: z.literal('context-overruled'),
    messageId: z.string(),
    choice: z.nullable(consentChoiceSchema),
    /** Ids of applied operations that no longer count. */
    undone: z.array(z.string()),
    /** Why nothing changed; null if the event took effect. */
    problem: z.nullable(z.string()),
  }),
  /** A call waits for approval. `index` is the number of its result; `problem` is why the edited arguments of the last answer are invalid. */
  z.object({
    type: z.literal('approval-asked'),
    questionId: z.string(),
    digest: z.string(),
    capability: z.string(),
    arguments: z.record(z.string(), z.json()),
    index: z.int(),
    problem: z.nullable(z.string()),
    /** Only the client can run the call, so `approve` is refused. */
    isClientTool: z.exactOptional(z.literal(true)),
  }),
  /** `digest` and `arguments` are those of the call as decided: the edited ones if it was edited. */
  z.object({
    type: z.literal('approval-resolved'),
    questionId: z.string(),
    digest: z.string(),
    capability: z.string(),
    arguments: z.record(z.string(), z.unknown()),
    /** The arguments before they were edited; null if they were not. */
    original: z.nullable(z.record(z.string(), z.unknown())),
    index: z.int(),
    decision: approvalDecisionSchema,
    by: z.enum(['user', 'program', 'limit']),
    reason: z.string(),
  }),
  z.object({
    type: z.literal('direction-asked'),
    questionId: z.string(),
    cycle: z.int(),
    proposal: z.string(),
    answer: z.string(),
    confidence: z.number(),
    /** The decision to complete the run that a rule recommends; null if none does. */
    recommendation: z._default(z.nullable(decisionSchema), null),
  }),
  /** An answer without effect. `questionId` is the question that it names, and `question` the pending one; null if there is none. */
  z.object({
    type: z.literal('answer-refused'),
    event: z.enum(['consent.given', 'approval.given', 'run.directed', 'run.finished']),
    questionId: z.nullable(z.string()),
    question: z.nullable(z.string()),
    reason: answerRefusalSchema,
  }),
  z.object({
    type: z.literal('direction-refused'),
    received: z.string(),
    /** `cycle_limit`: the direction would begin a cycle beyond `maxCycles`. */
    reason: z._default(z.enum(['unknown_phase', 'cycle_limit']), 'unknown_phase'),
  }),
  z.object({
    type: z.literal('decision'),
    decision: decisionSchema,
    /** The prompt of the next cycle; null if the run is complete. */
    continuationPrompt: z._default(z.nullable(z.string()), null),
  }),
  z.object({ type: z.literal('answer'), answer: finalAnswerSchema }),
  z.object({
    type: z.literal('session-recalled'),
    sessionId: z.string(),
    turns: z.int(),
    /** Inserted before the run's initial messages. */
    messages: z.array(messageSchema),
    problem: z.nullable(z.string()),
  }),
  z.object({ type: z.literal('session-stored'), sessionId: z.string(), problem: z.nullable(z.string()) }),
  z.object({
    type: z.literal('attempt-start'),
    attemptId: z.string(),
    task: z.string(),
    attempt: z.int(),
    /** Index of the model: 0 is the first, 1 its first fallback. */
    model: z.int().check(z.gte(0)),
    /** The phases that a brief reply is for; absent if the reply has all fields of the task. */
    phases: z.exactOptional(z.array(phaseSchema)),
  }),
  z.object({
    type: z.literal('model-status'),
    attemptId: z.string(),
    task: z.string(),
    model: z.int().check(z.gte(0)),
    change: modelChangeSchema,
  }),
  z.object({
    type: z.literal('attempt-end'),
    attemptId: z.string(),
    task: z.string(),
    attempt: z.int(),
    failure: z.nullable(failureSchema),
    usage: tokenUsageSchema,
    /** In the currency of the prices; absent if the model has no known price. */
    cost: z.exactOptional(z.number()),
    repaired: repairsSchema,
  }),
  z.object({
    type: z.literal('attempt-retry'),
    attemptId: z.string(),
    attempt: z.int(),
    model: z.int(),
    delayMs: z.number(),
  }),
  z.object({
    type: z.literal('capability-start'),
    id: z._default(z.nullable(z.string()), null),
    capability: z.string(),
    index: z.int(),
  }),
  z.object({
    type: z.literal('continuation'),
    index: z.int(),
    decidedBy: z.enum(['function', 'model']),
    /** Null if the reply is not a valid continuation. */
    done: z.nullable(z.boolean()),
    /** What the decider returns in place of the last result's output; null unless it is done. */
    finalOutput: z.nullable(z.string()),
    /** The capabilities of the next step. */
    next: z.readonly(z.array(z.string())),
    limitReached: z.boolean(),
  }),
  z.object({
    type: z.literal('capability-stop'),
    reason: stopReasonSchema,
    runs: z.int(),
    failed: z.int(),
    /** Total duration of the runs. */
    capabilityMs: z.number(),
    code: z.nullable(capabilityFailureSchema),
    problem: z.nullable(z.string()),
  }),
  z.object({ type: z.literal('capability-end'), index: z.int(), result: capabilityResultSchema }),
]);
export type EmittedEvent = z.infer<typeof emittedEventSchema>;
export type RefusedAnswer = Extract<EmittedEvent, { type: 'answer-refused' }>;
export type RefusedDirection = Extract<EmittedEvent, { type: 'direction-refused' }>;

/** Describes why an answer or a direction was refused. */
export function refusalText(refused: Omit<RefusedAnswer, 'event'> | RefusedDirection): string {
  if (refused.type === 'direction-refused') {
    const { received, reason } = refused;
    return reason === 'cycle_limit'
      ? `the cycle limit leaves no cycle for ${received}`
      : `"${received}" is not a phase`;
  }
  const { questionId: named, question, reason } = refused;
  const pending = question === null ? 'no question is pending' : `the pending question is ${question}`;
  switch (reason) {
    case 'too_late':
      return 'it came too late: the answer is being written';
    case 'unnamed_question':
      return `the answer names no question; ${pending}`;
    case 'other_kind':
      return `the question ${named} needs another kind of answer`;
    case 'unknown_message':
      return `the question ${named} is about other messages`;
    case 'other_digest':
      return `the question ${named} is about a call with other arguments`;
    case 'already_answered':
      return `the question ${named} is already answered`;
    case 'client_tool':
      return `only the client can run the call of the question ${named}: respond with its result, or deny it`;
    default:
      return named === null ? pending : `the answer is to ${named}; ${pending}`;
  }
}
