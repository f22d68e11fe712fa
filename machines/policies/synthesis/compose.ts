import type { Message } from '../../contracts/message.ts';
import {
  type Budget,
  type Citation,
  type FinalAnswer,
  hasVisibleText,
  type SynthesisInput,
  type SynthesisOutcome,
  type SynthesisReply,
} from '../../contracts/synthesis.ts';
import type { Usage } from '../../contracts/usage.ts';
import { preview } from '../../text/summary.ts';
import { groundedConfidence, groundingIn } from '../evidence.ts';
import { addUsage } from '../usage.ts';
import { isKnown, missingFields, shortfallsOf, ttlExhausted } from './degradation.ts';
import { bestDraft } from './draft.ts';
import { readOutcome } from './outcome.ts';
import { type ReadSynthesisInput, readSynthesisInput } from './read-input.ts';

/**
 * Composes the final answer: the text that the model wrote, or else the best text of the run. Pure; returns an answer
 * for any input. Flags and reasons are computed here, so no model can set them.
 */
export function composeAnswer(given: unknown, written: SynthesisOutcome): FinalAnswer {
  return composeFrom(readSynthesisInput(given), readOutcome(written));
}

/** The same for an input that is already read. */
export function composeFrom(read: ReadSynthesisInput, outcome: SynthesisOutcome): FinalAnswer {
  const { input } = read;
  const short = shortfallsOf(read, outcome);
  const [first] = short;
  const explanation = short.map((one) => one.text).join(' ');
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
  if (hasVisibleText(draft.text)) return { ...draft, notes: '' };
  return { ...draft, text: `No answer was reached. ${explanation}`.trim(), confidence: 0, notes: '' };
}

/** The model's confidence in the text it wrote, capped if the evidence does not support the text. */
function writtenConfidence({ request, run }: SynthesisInput, { answerText, confidence }: SynthesisReply): number {
  const grounding = groundingIn({ request, hasDocuments: run.hasDocuments }, run.messages, answerText);
  return groundedConfidence(run, confidence, grounding);
}

const whyComposed = (outcome: SynthesisOutcome): string => (outcome.type === 'composed' ? outcome.why : '');

const sessionNote = ({ sessionProblem }: SynthesisInput['run']): string =>
  sessionProblem ? `Part of the session was not recalled: ${sessionProblem.replace(/\.$/, '')}.` : '';

/** The limits of the run and their usage; `spent` is the usage of synthesis. */
function budgetOf(read: ReadSynthesisInput, spent: Usage): Budget {
  const { run, totalPasses, ttlRemaining } = read.input;
  const { limits, usage, elapsedMs } = run;
  const left = isKnown(read, 'ttlRemaining') ? ttlRemaining : null;
  const known = left === null || !isKnown(read, 'totalPasses') ? null : capped(totalPasses + left);
  return {
    tokens: counted(limits.maxTokens, tokensOf(usage)),
    modelCalls: counted(limits.maxModelCalls, usage.modelCalls),
    totalMs: { limit: limits.totalMs, used: elapsedMs === null ? null : Math.round(elapsedMs) },
    ttl: { limit: limits.maxCycles ?? known, used: totalPasses, left },
    synthesisReserveTokens: { limit: limits.synthesisReserveTokens, used: tokensOf(spent) },
  };
}

/** Usage of the run and its synthesis. */
function totalUsage({ run }: SynthesisInput, spent: Usage): Usage {
  const { modelCalls, inputTokens, outputTokens, estimated, cost } = addUsage(run.usage, spent);
  return {
    modelCalls: capped(modelCalls),
    inputTokens: capped(inputTokens),
    outputTokens: capped(outputTokens),
    estimated,
    cost: cost === null ? null : Math.min(cost, Number.MAX_VALUE),
  };
}

/** The cost in the currency of the prices; null if either is unknown. */
function costOf({ run: { currency } }: SynthesisInput, { cost }: Usage) {
  return cost === null || currency === null ? null : { amount: Number(cost.toPrecision(12)), currency };
}

function counted(limit: number | null, used: number): Budget['tokens'] {
  return { limit, used, left: limit === null ? null : Math.max(0, limit - used) };
}

const tokensOf = ({ inputTokens, outputTokens }: Usage): number => capped(inputTokens + outputTokens);

/** Keeps a sum within the safe integers. */
const capped = (sum: number): number => Math.min(sum, Number.MAX_SAFE_INTEGER);

/** The sources of the used messages, each once, in the order of use. */
function citations(messages: readonly Message[], used: readonly string[]): readonly Citation[] {
  const byId = new Map(messages.map((message) => [message.id, message]));
  return [...new Set(used)].flatMap((id) => {
    const message = byId.get(id);
    return message?.source ? [{ ...message.source, messageId: id, quote: preview(message.content, 160) }] : [];
  });
}
