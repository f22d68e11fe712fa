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

/** What the model's attempts came to. */
export function outcomeOf(attempted: AttemptOutcome): SynthesisOutcome {
  const { usage } = attempted.execution;
  if (!attempted.ok) return unwritten(fallbackOf(attempted.failure), attempted.failure.message, usage);
  return readReply(attempted.value, usage);
}

/** The attempts broke, which they never should. */
export function brokenOutcome(error: unknown): SynthesisOutcome {
  return unwritten('other', unexpectedFailure(error).message, NO_USAGE);
}

/** The time for it passed first. */
export function lateOutcome(usage: Usage): SynthesisOutcome {
  return unwritten('model', 'it was not written in time', usage);
}

/** No model was asked, or none that was heard to the end; `why` where that wants to be said. */
export function composedOutcome(why: string, usage: Usage = NO_USAGE): SynthesisOutcome {
  return { type: 'composed', why, usage };
}

export function unwritten(fallback: Fallback, error: string, usage: Usage = NO_USAGE): SynthesisOutcome {
  return { type: 'failed', fallback, error, usage };
}

const PROMPT: ReadonlySet<string> = new Set(['prompt_failed', 'prompt_too_long']);
const MODEL: ReadonlySet<string> = new Set(['model_threw', 'filtered']);

/** Which of the four it was. */
export function fallbackOf({ stage, code }: Failure): Fallback {
  if (PROMPT.has(code)) return 'prompt';
  if (MODEL.has(code) || stage === 'transport' || stage === 'deadline') return 'model';
  return stage === 'unexpected' ? 'other' : 'validation';
}

/** An outcome as it can be composed from, whatever is given: a reply is held against its contract once more [E4]. */
export function readOutcome(given: unknown): SynthesisOutcome {
  try {
    const read = synthesisOutcomeSchema.safeParse(given);
    if (read.success && read.data.type !== 'written') return read.data;
    const { type, reply, usage } = given as Extract<SynthesisOutcome, { type: 'written' }>;
    if (type === 'written') return readReply(reply, usageOf(usage));
  } catch {
    // It cannot be looked into.
  }
  return unwritten('other', 'what came of it cannot be read');
}

function readReply(value: unknown, usage: Usage): SynthesisOutcome {
  const read = synthesisReplySchema.safeParse(value);
  if (!read.success) {
    const [issue] = read.error.issues;
    const where = issue?.path.join('.') || 'the reply';
    return unwritten('validation', `the reply does not fit: ${where}: ${issue?.message ?? 'misfit'}`, usage);
  }
  return { type: 'written', reply: read.data, usage };
}

function usageOf(given: unknown): Usage {
  const read = synthesisOutcomeSchema.safeParse({ type: 'composed', why: '', usage: given });
  return read.success ? read.data.usage : NO_USAGE;
}
