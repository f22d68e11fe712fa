import type { FinalAnswer, SynthesisOutcome, SynthesisReply } from '../../contracts/synthesis.ts';
import type { SynthesisInput } from '../../contracts/synthesis-input.ts';
import { says } from '../../contracts/visible-text.ts';
import { missingFields, shortfalls, ttlExhausted } from '../degradation.ts';
import { groundedConfidence, groundingIn } from '../evidence.ts';
import { budgetOf, costOf, totalUsage } from './budget.ts';
import { citations } from './citations.ts';
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
