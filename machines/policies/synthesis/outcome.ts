import type { AttemptOutcome } from '../../contracts/attempt.ts';
import type { Failure } from '../../contracts/failure.ts';
import { type Fallback, type SynthesisOutcome, synthesisReplySchema } from '../../contracts/synthesis.ts';
import type { Usage } from '../../contracts/usage.ts';
import { unexpectedFailure } from '../failures.ts';
import { NO_USAGE } from '../usage.ts';

export function outcomeOf(attempted: AttemptOutcome): SynthesisOutcome {
  const { usage } = attempted.execution;
  if (!attempted.ok) return failedOutcome(fallbackOf(attempted.failure), attempted.failure.message, usage);
  const read = synthesisReplySchema.safeParse(attempted.value);
  if (read.success) return { type: 'written', reply: read.data, usage, prose: attempted.prose };
  const [issue] = read.error.issues;
  return failedOutcome('validation', `${issue?.path.join('.') || 'the reply'}: ${issue?.message}`, usage);
}

export function failedSynthesis(error: unknown, usage: Usage = NO_USAGE): SynthesisOutcome {
  return failedOutcome('other', unexpectedFailure(error).message, usage);
}

export function lateOutcome(usage: Usage): SynthesisOutcome {
  return failedOutcome('model', 'it timed out', usage);
}

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
