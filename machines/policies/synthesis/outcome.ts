import type { AttemptOutcome } from '../../contracts/attempt.ts';
import type { Failure } from '../../contracts/failure.ts';
import {
  type Fallback,
  type SynthesisOutcome,
  synthesisOutcomeSchema,
  synthesisReplySchema,
} from '../../contracts/synthesis.ts';
import type { Usage } from '../../contracts/usage.ts';
import { unexpectedFailure } from '../failures.ts';
import { NO_USAGE } from '../usage.ts';

/** Returns the synthesis outcome of the model's attempts. */
export function outcomeOf(attempted: AttemptOutcome): SynthesisOutcome {
  const { usage } = attempted.execution;
  if (!attempted.ok) return failedOutcome(fallbackOf(attempted.failure), attempted.failure.message, usage);
  return readReply(attempted.value, usage, attempted.prose);
}

/** Returns the outcome if the attempt actor itself threw. */
export function brokenOutcome(error: unknown, usage: Usage = NO_USAGE): SynthesisOutcome {
  return failedOutcome('other', unexpectedFailure(error).message, usage);
}

/** Returns the outcome if the time for writing ran out. */
export function lateOutcome(usage: Usage): SynthesisOutcome {
  return failedOutcome('model', 'it timed out', usage);
}

/** Returns the outcome if Yield's answer is the final one. */
export const draftedOutcome: SynthesisOutcome = { type: 'drafted', usage: NO_USAGE };

/** Returns the outcome without a finished model call. `why` is shown to the user unless it is empty. */
export function composedOutcome(why: string, usage: Usage = NO_USAGE): SynthesisOutcome {
  return { type: 'composed', why, usage };
}

export function failedOutcome(fallback: Fallback, error: string, usage: Usage = NO_USAGE): SynthesisOutcome {
  return { type: 'failed', fallback, error, usage };
}

const PROMPT: ReadonlySet<string> = new Set(['prompt_failed', 'prompt_too_long']);
const MODEL: ReadonlySet<string> = new Set(['model_threw', 'filtered']);

/** Classifies a failure as one of the four fallbacks. */
export function fallbackOf({ stage, code }: Failure): Fallback {
  if (PROMPT.has(code)) return 'prompt';
  if (MODEL.has(code) || stage === 'transport' || stage === 'deadline') return 'model';
  return stage === 'unexpected' ? 'other' : 'validation';
}

/** Reads any value as an outcome. A reply is validated against its contract again. */
export function readOutcome(given: unknown): SynthesisOutcome {
  try {
    const read = synthesisOutcomeSchema.safeParse(given);
    if (read.success && read.data.type !== 'written') return read.data;
    const { type, reply, usage, prose } = given as Extract<SynthesisOutcome, { type: 'written' }>;
    if (type === 'written') return readReply(reply, usageOf(usage), prose === true);
  } catch {
    // A getter or proxy threw.
  }
  return failedOutcome('other', 'the outcome of the model call cannot be read');
}

function readReply(value: unknown, usage: Usage, prose: boolean): SynthesisOutcome {
  const read = synthesisReplySchema.safeParse(value);
  if (!read.success) {
    const [issue] = read.error.issues;
    const field = issue?.path.join('.') || 'the reply';
    return failedOutcome('validation', `${field}: ${issue?.message ?? 'unknown problem'}`, usage);
  }
  return { type: 'written', reply: read.data, usage, prose };
}

function usageOf(given: unknown): Usage {
  const read = synthesisOutcomeSchema.safeParse({ type: 'composed', why: '', usage: given });
  return read.success ? read.data.usage : NO_USAGE;
}
