import { isDeepStrictEqual } from 'node:util';
import type { SimulatedClock } from 'xstate';
import type { ChatModel, ModelPart, ModelRequest } from '../../machines/contracts/model.ts';
import type { Budget, Degradation, FinalAnswer, SynthesisOutcome } from '../../machines/contracts/synthesis.ts';
import { failureOf } from '../../machines/policies/failures.ts';
import { brokenOutcome, composedOutcome, lateOutcome, outcomeOf } from '../../machines/policies/synthesis/outcome.ts';
import { definePrompt, type Prompt } from '../../src/chain/prompts/prompt.ts';
import { prompts } from '../../src/chain/prompts/registry.ts';
import { type ScriptedReply, scriptedModel } from '../../src/models/scripted.ts';
import { anExecution } from './contract-samples.ts';
import type { Random } from './random.ts';
import { type InputFacts, type RandomInput, TEXTS } from './synthesis-inputs.ts';

/** How the writing went, as the test knows it. */
export interface WritingResult {
  readonly written: { readonly text: string; readonly confidence: number } | null;
  readonly fallback: 'prompt' | 'model' | 'validation' | 'other' | null;
  readonly tokens: number;
}

/** What the requirements want of the answer, worked out from what was drawn: no code of the product is asked. */
export interface ExpectedAnswer {
  readonly reason: Degradation | null;
  readonly reasons: readonly Degradation[];
  readonly ttlExhausted: boolean;
  /** Null: there is nothing to answer from. */
  readonly text: string | null;
  readonly confidence: number;
  readonly budget: Budget;
}

/** [E5] The expected order: how the run was stopped, then its limits, then everything that only adds a note. */
const PRECEDENCE: readonly Degradation[] = [
  'cancelled',
  'interrupted',
  'model_unavailable',
  'incomplete_state',
  'deadline_passed',
  'budget_exhausted',
  'prose_replies',
  'decider_failed',
  'no_evidence',
  'ttl_exhausted',
  'zero_passes',
  'loop_detected',
  'not_converged',
  'source_failed',
  'context_over_limit',
  'synthesis_failed',
];

export function expectedAnswer({ facts, invalidPaths: bad }: RandomInput, writing: WritingResult): ExpectedAnswer {
  const holds = conditions(facts, bad, writing);
  const reasons = PRECEDENCE.filter((reason) => holds[reason]);
  const text = textOf(facts);
  return {
    reasons,
    reason: reasons[0] ?? null,
    ttlExhausted: facts.ttl === 0 || facts.run.decision?.rule === 'cycleLimitReached',
    text: writing.written?.text ?? text,
    confidence: writing.written?.confidence ?? confidenceOf(facts),
    budget: budgetOf(facts, writing),
  };
}

function conditions(
  facts: InputFacts,
  bad: readonly string[],
  writing: WritingResult,
): Readonly<Record<Degradation, boolean>> {
  const { run, ttl, passes, converged } = facts;
  const kind = run.interruption?.kind;
  const rule = run.decision?.rule;
  const done = facts.steps.map(({ phase }) => phase);
  const lost = run.failures.some(({ phase }) => !done.includes(phase));
  const noAnswer = typeof run.answer === 'string' && !visible(run.answer);
  const nothing = passes !== 0 && textOf(facts) === null;
  return {
    cancelled: kind === 'cancelled',
    interrupted: kind === 'interrupted',
    model_unavailable: kind === 'model_unavailable',
    incomplete_state:
      bad.length > 0 || kind === 'phase_failed' || (lost && kind !== 'model_unavailable') || noAnswer || nothing,
    deadline_passed: kind === 'deadline',
    budget_exhausted: kind === 'budget' || rule === 'budgetExhausted',
    prose_replies: run.prosePhases.length > 0,
    decider_failed: run.deciderProblem !== null,
    no_evidence: run.noEvidence && (writing.written?.text ?? textOf(facts)) !== null && !isCited(facts, writing),
    // A limit that is reached with a good answer cut nothing off.
    ttl_exhausted: rule === 'cycleLimitReached' ? converged !== true : ttl === 0,
    zero_passes: passes === 0,
    loop_detected: rule === 'loopDetected',
    not_converged:
      converged === false && run.answer !== null && !(kind === 'finished_by_user' && run.mode === 'manual'),
    source_failed: run.sourceFailure !== null,
    context_over_limit: run.excess.tokens > 0 || run.excess.messages > 0,
    synthesis_failed: writing.fallback !== null,
  };
}

/** Whether the written text repeats the search result that it cites. */
const isCited = ({ run }: InputFacts, { written }: WritingResult): boolean =>
  SUPPORTED.includes(written?.text ?? '') && run.messages.some(({ id }) => id === 'p1');

/** The texts that "The bridge was opened in 1932." supports. */
const SUPPORTED: readonly string[] = ['In 1932.', 'It was opened in 1932.'];

const visible = (text: string): boolean => text.replace(/[\s\p{Cc}\p{Cf}]/gu, '') !== '';

/** The best of what there is, the most finished first. */
function textOf({ run, steps }: InputFacts): string | null {
  if (run.draft !== null && visible(run.draft.text)) return run.draft.text;
  if (run.answer && visible(run.answer)) return run.answer;
  const said = steps.filter(({ content }) => visible(content));
  for (const phase of ['yield', 'understanding', 'experience', 'action']) {
    const step = said.findLast((one) => one.phase === phase);
    if (step !== undefined) return step.content;
  }
  return said.findLast(({ phase }) => phase !== 'intention' && phase !== 'observation')?.content ?? null;
}

function confidenceOf(facts: InputFacts): number {
  const { run, confidence } = facts;
  if (run.draft !== null) return visible(run.draft.text) ? run.draft.confidence : 0;
  return textOf(facts) === null ? 0 : confidence;
}

const MAX_COUNT = 2 ** 53 - 1;

function budgetOf({ run, passes, ttl }: InputFacts, writing: WritingResult): Budget {
  const { limits, usage } = run;
  const of = (limit: number | null, used: number) => ({
    limit,
    used,
    left: limit === null ? null : Math.max(0, limit - used),
  });
  const cycles = passes === null || ttl === null ? null : Math.min(MAX_COUNT, passes + ttl);
  return {
    tokens: of(limits.maxTokens, Math.min(MAX_COUNT, usage.inputTokens + usage.outputTokens)),
    modelCalls: of(limits.maxModelCalls, usage.modelCalls),
    totalMs: { limit: limits.totalMs, used: run.elapsedMs === null ? null : Math.round(run.elapsedMs) },
    ttl: { limit: limits.maxCycles ?? cycles, used: passes ?? 0, left: ttl },
    synthesisReserveTokens: { limit: limits.synthesisReserveTokens, used: writing.tokens },
  };
}

/** What of an answer is not as the requirements want it, in words. */
export function answerDifferences(
  answer: FinalAnswer,
  expected: ExpectedAnswer,
  drawn: RandomInput,
  writing: WritingResult,
): string[] {
  const found: string[] = [];
  const same = (what: string, got: unknown, want: unknown): void => {
    if (!isDeepStrictEqual(got, want))
      found.push(`${what}: got ${describeValue(got)}, expected ${describeValue(want)}`);
  };
  const { metadata } = answer;
  const { run, steps } = drawn.facts;
  same('degraded', metadata.degraded, expected.reason !== null);
  same('reason', metadata.reason, expected.reason);
  same('status', answer.status, statusOf(expected));
  same('ttlExhausted', answer.ttlExhausted, expected.ttlExhausted);
  same('explained', metadata.explanation === '', expected.reason === null);
  same('noted', answer.notes.includes(metadata.explanation), true);
  same('session', answer.notes.includes('Part of the session'), run.sessionProblem !== null);
  same('synthesis', [metadata.synthesis.writtenBy, metadata.synthesis.fallback], [writer(writing), writing.fallback]);
  same('error', metadata.synthesis.error === null, writing.fallback === null);
  if (!answer.notes.includes(metadata.synthesis.error ?? '')) found.push('the error is not in the notes');
  const ids = new Set(steps.map(({ stepId }) => stepId));
  same(
    'steps that exist',
    answer.usedStepIds,
    [...ids].filter((id) => answer.usedStepIds.includes(id)),
  );
  const own = steps.filter(({ content }) => content === answer.answerText).map(({ stepId }) => stepId);
  if (writing.written === null && run.draft === null)
    same(
      'step of the text',
      own.every((id) => answer.usedStepIds.includes(id)),
      true,
    );
  same('budget', metadata.budget, expected.budget);
  same('decision', metadata.decision, run.decision);
  same('cycles', metadata.cycles, drawn.facts.passes ?? 0);
  if (answer.answerText.trim() === '') found.push('the text is empty');
  if (expected.text === null) same('no answer', answer.answerText.startsWith('No answer was reached. '), true);
  else same('text', answer.answerText, expected.text);
  found.push(...confidenceDifferences(answer.confidence, expected, drawn, writing));
  for (const { messageId, path } of answer.sources)
    if (!run.messages.some(({ id, source }) => id === messageId && source?.path === path))
      found.push(`cites ${messageId}`);
  for (const path of drawn.invalidPaths)
    if (!metadata.missingFields.some((field) => field === path || field.startsWith(`${path}.`)))
      found.push(`${path} is not named`);
  return found;
}

/** What a model says counts as far as it stands in what was gathered; what the engine took over counts as it was. */
function confidenceDifferences(
  got: number,
  expected: ExpectedAnswer,
  { facts }: RandomInput,
  writing: WritingResult,
): string[] {
  const most = expected.confidence;
  const gathered = facts.run.hasDocuments || facts.run.messages.some(({ role }) => role === 'search');
  const mayBeCapped = writing.written !== null && (gathered || facts.run.noEvidence);
  const isRight = mayBeCapped ? got === most || got === Math.min(most, 0.5) : got === most;
  return isRight ? [] : [`confidence: got ${got}, expected ${most}`];
}

function statusOf({ reason }: ExpectedAnswer): FinalAnswer['status'] {
  if (reason === null) return 'completed';
  return reason === 'cancelled' ? 'cancelled' : 'degraded';
}

const writer = (writing: WritingResult): string => (writing.written === null ? 'engine' : 'model');

const describeValue = (value: unknown): string => JSON.stringify(value)?.slice(0, 200) ?? 'nothing';

export interface RandomOutcome {
  readonly outcome: SynthesisOutcome;
  readonly writing: WritingResult;
}

const USAGE = { modelCalls: 1, inputTokens: 300, outputTokens: 40, estimated: false, cost: 0.5 };
const SPENT_TOKENS = 340;

/** What a model may say beside what it was asked for: none of it is its to say [E5]. */
export const FORGED_FIELDS = {
  status: 'completed',
  ttlExhausted: false,
  degraded: false,
  metadata: { degraded: false, reason: null, synthesis: { writtenBy: 'engine' } },
  usedStepIds: ['forged'],
  sources: [{ path: 'forged.md' }],
};

const VALID_REPLY = {
  answerText: 'It was opened in 1932.',
  confidence: 0.9,
  usedMessageIds: ['p1', 'nobody'],
  usedStepIds: [] as string[],
  notes: '',
};

/** Replies that fit no contract, each in its own way. */
export const INVALID_REPLIES: readonly unknown[] = [
  { ...VALID_REPLY, answerText: '' },
  { ...VALID_REPLY, answerText: ' \n' },
  { ...VALID_REPLY, answerText: '\u200b\u202e' },
  { ...VALID_REPLY, answerText: 5 },
  { ...VALID_REPLY, confidence: '0.9' },
  { ...VALID_REPLY, confidence: Number.NaN },
  { ...VALID_REPLY, confidence: Number.POSITIVE_INFINITY },
  { ...VALID_REPLY, confidence: -0.1 },
  { ...VALID_REPLY, confidence: 1.1 },
  { ...VALID_REPLY, usedMessageIds: 'p1' },
  { ...VALID_REPLY, usedMessageIds: [1] },
  { answerText: 'In 1932.', confidence: 0.9 },
  null,
  'In 1932.',
  [],
];

const FAILURES = [
  [failureOf('unexpected', 'prompt_failed', 'the template threw'), 'prompt'],
  [failureOf('transport', 'prompt_too_long', 'too long'), 'prompt'],
  [failureOf('transport', 'rate_limited', 'busy'), 'model'],
  [failureOf('deadline', 'total_deadline', 'late'), 'model'],
  [failureOf('unexpected', 'model_threw', 'it threw'), 'model'],
  [failureOf('extraction', 'no_json', 'no JSON'), 'validation'],
  [failureOf('schema', 'invalid_reply', 'does not fit'), 'validation'],
  [failureOf('transformation', 'transformation_failed', 'cannot be transformed'), 'validation'],
  [failureOf('unexpected', 'policy_failed', 'a rule broke'), 'other'],
] as const;

const GARBAGE: readonly unknown[] = [
  null,
  undefined,
  5,
  {},
  { type: 'lost' },
  { type: 'failed', fallback: 'luck', error: 'x', usage: USAGE },
  new Proxy(
    {},
    {
      get: () => {
        throw new Error('do not look');
      },
    },
  ),
];

const failedOutcome = (
  outcome: SynthesisOutcome,
  fallback: WritingResult['fallback'],
  tokens: number,
): RandomOutcome => ({
  outcome,
  writing: { written: null, fallback, tokens },
});

/** Any end that writing can come to. */
export function randomOutcome(draw: Random): RandomOutcome {
  const execution = anExecution({ usage: USAGE });
  switch (draw.pick(['written', 'written', 'misfit', 'failure', 'late', 'broken', 'composed', 'garbage'] as const)) {
    case 'written':
      return writtenOutcome(draw);
    case 'misfit': {
      const reply = draw.pick(INVALID_REPLIES) as never;
      const outcome = draw.chance(0.5)
        ? outcomeOf({ ok: true, prose: false, value: reply, execution })
        : ({ type: 'written', prose: false, reply, usage: USAGE } as const);
      return failedOutcome(outcome, 'validation', SPENT_TOKENS);
    }
    case 'failure': {
      const [failure, fallback] = draw.pick(FAILURES);
      return failedOutcome(outcomeOf({ ok: false, failure, execution }), fallback, SPENT_TOKENS);
    }
    case 'late':
      return failedOutcome(lateOutcome(USAGE), 'model', SPENT_TOKENS);
    case 'broken':
      return failedOutcome(brokenOutcome(draw.pick([new Error('it broke'), 'x', null])), 'other', 0);
    case 'composed':
      return failedOutcome(composedOutcome(draw.pick(['', 'Why not.'])), null, 0);
    default:
      return failedOutcome(draw.pick(GARBAGE) as SynthesisOutcome, 'other', 0);
  }
}

function writtenOutcome(draw: Random): RandomOutcome {
  const answerText = draw.pick(TEXTS.slice(0, 6));
  const confidence = draw.pick([0, 0.3, 0.9, 1]);
  const reply = { ...VALID_REPLY, answerText, confidence, ...(draw.chance(0.3) && FORGED_FIELDS) };
  return {
    outcome: { type: 'written', prose: false, reply, usage: USAGE },
    writing: { written: { text: answerText.trim(), confidence }, fallback: null, tokens: SPENT_TOKENS },
  };
}

/** A model, and what the requirements make of it where it is asked. */
export interface RandomModel {
  readonly behavior: Behavior;
  readonly model: ChatModel & { readonly calls: readonly ModelRequest[] };
  readonly prompt: Prompt;
  /** When the signal aborts: never, before the start, or once the model is silent. */
  readonly abort: 'never' | 'before' | 'under way';
  readonly writing: Pick<WritingResult, 'written' | 'fallback'>;
}

const BEHAVIORS = [
  'valid',
  'corrected',
  'misfit',
  'empty',
  'prose',
  'refused',
  'busy then valid',
  'throws',
  'throws at once',
  'silent',
  'stalls',
  'prompt throws',
  'aborted before',
  'aborted under way',
] as const;
type Behavior = (typeof BEHAVIORS)[number];

const FORGED_REPLY = {
  answerText: 'It was opened in 1932.',
  confidence: 0.9,
  usedMessageIds: ['p1'],
  notes: 'Sure.',
  ...FORGED_FIELDS,
};
const WRITTEN = { written: { text: FORGED_REPLY.answerText, confidence: FORGED_REPLY.confidence }, fallback: null };
const failedWriting = (fallback: WritingResult['fallback']) => ({ written: null, fallback });
const SILENT: ScriptedReply = { hang: true };

export function randomModel(draw: Random): RandomModel {
  const behavior = draw.pick(BEHAVIORS);
  const misfit: ScriptedReply = { text: JSON.stringify(draw.pick(INVALID_REPLIES)) };
  const parts = { behavior, prompt: prompts.synthesis, abort: 'never' as const };
  const always = (reply: ScriptedReply) => scriptedModel(() => reply);
  switch (behavior) {
    case 'valid':
      return { ...parts, model: always({ reply: FORGED_REPLY }), writing: WRITTEN };
    case 'corrected':
      return {
        ...parts,
        model: scriptedModel((_, call) => (call === 1 ? misfit : { reply: FORGED_REPLY })),
        writing: WRITTEN,
      };
    case 'misfit':
      return { ...parts, model: always(misfit), writing: failedWriting('validation') };
    case 'empty':
      return { ...parts, model: always({ text: '' }), writing: failedWriting('validation') };
    case 'prose':
      return {
        ...parts,
        model: always({ text: 'It was {opened} in 1932, I dare say.' }),
        writing: failedWriting('validation'),
      };
    case 'refused':
      return {
        ...parts,
        model: always({ failure: { code: 'unauthorized', retryable: false } }),
        writing: failedWriting('model'),
      };
    case 'busy then valid':
      return {
        ...parts,
        model: scriptedModel((_, call) =>
          call === 1 ? { failure: { code: 'rate_limited' } } : { reply: FORGED_REPLY },
        ),
        writing: WRITTEN,
      };
    case 'throws':
      return { ...parts, model: always(null as never), writing: failedWriting('model') };
    case 'throws at once':
      return { ...parts, model: throwingModel(), writing: failedWriting('model') };
    case 'silent':
      return { ...parts, model: always(SILENT), writing: failedWriting('model') };
    case 'stalls':
      return { ...parts, model: always({ ...SILENT, text: '{"answerText": "It w' }), writing: failedWriting('model') };
    case 'prompt throws':
      return {
        ...parts,
        model: always({ reply: FORGED_REPLY }),
        prompt: throwingPrompt,
        writing: failedWriting('prompt'),
      };
    case 'aborted before':
      return { ...parts, model: always({ reply: FORGED_REPLY }), abort: 'before', writing: failedWriting(null) };
    case 'aborted under way':
      return { ...parts, model: always(SILENT), abort: 'under way', writing: failedWriting(null) };
    default: {
      const never: never = behavior;
      return never;
    }
  }
}

const throwingPrompt = definePrompt({
  ...prompts.synthesis,
  user: () => {
    throw new Error('the template is broken');
  },
}) as Prompt;

/** A model that breaks its contract before its stream begins. */
function throwingModel(): RandomModel['model'] {
  const calls: ModelRequest[] = [];
  return {
    id: 'throwing',
    contextWindowTokens: 128_000,
    calls,
    stream(request): AsyncIterable<ModelPart> {
      calls.push(request);
      throw new Error('no stream');
    },
  };
}

/** Lets everything happen that needs no time; then time passes, and so on until it is done. */
export async function runToCompletion<T>(
  promise: Promise<T>,
  clock: SimulatedClock,
  whenStill: () => void = () => {},
): Promise<T> {
  let done = false;
  const over = promise.finally(() => {
    done = true;
  });
  for (let turn = 1; !done; turn += 1) {
    await new Promise((resolve) => setImmediate(resolve));
    if (done || turn % IDLE_TURNS !== 0) continue;
    whenStill();
    clock.increment(20_000);
  }
  return over;
}

/** Turns of the event loop in which something happens, if anything does without time. */
const IDLE_TURNS = 25;
