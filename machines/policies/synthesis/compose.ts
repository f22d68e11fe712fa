import type { Message } from '../../contracts/message.ts';
import {
  type Budget,
  type Citation,
  type FinalAnswer,
  type SynthesisInput,
  type SynthesisOutcome,
  type SynthesisReply,
  says,
} from '../../contracts/synthesis.ts';
import type { Usage } from '../../contracts/usage.ts';
import { preview } from '../../text/summary.ts';
import { groundedConfidence, groundingIn } from '../evidence.ts';
import { addUsage } from '../usage.ts';
import { isKnown, missingFields, shortfalls, ttlExhausted } from './degradation.ts';
import { bestDraft } from './draft.ts';
import { readOutcome } from './outcome.ts';
import { type ReadSynthesisInput, readSynthesisInput } from './read-input.ts';

/**
 * The final answer [E2, E3]: the written text where there is one, else the best that the run came to. Pure: it reads its input and
 * changes nothing of it [E6]; whatever it is given, there is an answer. Flags and reasons are computed here, after any model had its
 * say [E5].
 */
export function composeAnswer(given: unknown, written: SynthesisOutcome): FinalAnswer {
  return composeFrom(readSynthesisInput(given), readOutcome(written));
}

/** The same, of an input that was read, and perhaps added to. */
export function composeFrom(read: ReadSynthesisInput, outcome: SynthesisOutcome): FinalAnswer {
  const { input } = read;
  const short = shortfalls(read, outcome);
  const [first] = short;
  const explanation = short.map((one) => one.says).join(' ');
  const { run } = input;
  const { text, confidence, usedMessageIds, notes } = textOf(input, outcome, explanation);
  const usage = totalUsage(input, outcome.usage);
  return {
    answerText: text,
    confidence,
    usedStepIds: [...new Set(input.executionResults.map(({ stepId }) => stepId))],
    notes: [notes, whyComposed(outcome), sessionNote(run), explanation].filter((part) => part !== '').join(' '),
    ttlExhausted: ttlExhausted(read),
    status: first?.reason === 'cancelled' ? 'cancelled' : first === undefined ? 'completed' : 'degraded',
    sources: citations(run.messages, usedMessageIds),
    metadata: {
      degraded: first !== undefined,
      reason: first?.reason ?? null,
      explanation,
      missingFields: missingFields(read),
      synthesis: {
        writtenBy: outcome.type === 'written' ? 'model' : 'engine',
        fallback: outcome.type === 'failed' ? outcome.fallback : null,
        error: outcome.type === 'failed' ? outcome.error : null,
      },
      decision: run.decision,
      cycles: input.totalPasses,
      usage,
      budget: budgetOf(read, outcome.usage),
      cost: costOf(input, usage),
      failures: input.semanticValidation?.failures ?? [],
    },
  };
}

interface Text {
  readonly text: string;
  readonly confidence: number;
  readonly usedMessageIds: readonly string[];
  readonly notes: string;
}

function textOf(input: SynthesisInput, outcome: SynthesisOutcome, explanation: string): Text {
  if (outcome.type === 'written') {
    const { answerText, usedMessageIds, notes } = outcome.reply;
    return { text: answerText, confidence: writtenConfidence(input, outcome.reply), usedMessageIds, notes };
  }
  const draft = bestDraft(input);
  if (says(draft.text)) return { ...draft, notes: '' };
  return { ...draft, text: `No answer was reached. ${explanation}`.trim(), confidence: 0, notes: '' };
}

/** What a model wrote is as sure as it says, as far as it stands in what was gathered [Y1]. */
function writtenConfidence({ request, run }: SynthesisInput, { answerText, confidence }: SynthesisReply): number {
  const grounding = groundingIn({ request, hasDocuments: run.hasDocuments }, run.messages, answerText);
  return groundedConfidence(run, confidence, grounding);
}

const whyComposed = (outcome: SynthesisOutcome): string => (outcome.type === 'composed' ? outcome.why : '');

const sessionNote = ({ sessionProblem }: SynthesisInput['run']): string =>
  sessionProblem ? `Not all of the session was recalled: ${sessionProblem.replace(/\.$/, '')}.` : '';

/** The bounds of the run, and what it used of them: `spent` is what synthesis used. */
function budgetOf(read: ReadSynthesisInput, spent: Usage): Budget {
  const { run, totalPasses, ttlRemaining } = read.input;
  const { limits, usage, elapsedMs } = run;
  const left = isKnown(read, 'ttlRemaining') ? ttlRemaining : null;
  const known = left === null || !isKnown(read, 'totalPasses') ? null : held(totalPasses + left);
  return {
    tokens: counted(limits.maxTokens, tokensOf(usage)),
    modelCalls: counted(limits.maxModelCalls, usage.modelCalls),
    totalMs: { limit: limits.totalMs, used: elapsedMs === null ? null : Math.round(elapsedMs) },
    ttl: { limit: limits.maxCycles ?? known, used: totalPasses, left },
    synthesisReserveTokens: { limit: limits.synthesisReserveTokens, used: tokensOf(spent) },
  };
}

/** All that the run and its synthesis used. */
function totalUsage({ run }: SynthesisInput, spent: Usage): Usage {
  const { modelCalls, inputTokens, outputTokens, estimated, cost } = addUsage(run.usage, spent);
  return {
    modelCalls: held(modelCalls),
    inputTokens: held(inputTokens),
    outputTokens: held(outputTokens),
    estimated,
    cost: cost === null ? null : Math.min(cost, Number.MAX_VALUE),
  };
}

/** In the currency of the prices; null where either is not known. */
function costOf({ run: { currency } }: SynthesisInput, { cost }: Usage) {
  return cost === null || currency === null ? null : { amount: Number(cost.toPrecision(12)), currency };
}

function counted(limit: number | null, used: number): Budget['tokens'] {
  return { limit, used, left: limit === null ? null : Math.max(0, limit - used) };
}

const tokensOf = ({ inputTokens, outputTokens }: Usage): number => held(inputTokens + outputTokens);

/** What a sum can be counted to. */
const held = (sum: number): number => Math.min(sum, Number.MAX_SAFE_INTEGER);

/** The sources of the messages used, each once, in the order of use. */
function citations(messages: readonly Message[], used: readonly string[]): readonly Citation[] {
  const byId = new Map(messages.map((message) => [message.id, message]));
  return [...new Set(used)].flatMap((id) => {
    const message = byId.get(id);
    return message?.source ? [{ ...message.source, messageId: id, quote: preview(message.content, 160) }] : [];
  });
}
