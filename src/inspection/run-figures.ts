import * as z from 'zod/mini';
import type { JournalEntry, RunStart } from '../../machines/contracts/journal.ts';
import { phaseSchema } from '../../machines/contracts/phase.ts';
import { tokenUsageSchema, usageSchema } from '../../machines/contracts/usage.ts';
import { wasDenied } from '../../machines/policies/failures.ts';
import { firstChars } from '../../machines/text/clip.ts';
import { runStartOf } from '../chain/journal/journal-format.ts';
import type { RunFigures } from './wire.ts';

export interface FiguresFold {
  /** Takes the next entry, verified or not. */
  take(entry: unknown): void;
  /** Whether the last entries of the run were among them, which contain all totals. */
  readonly hasAnswer: boolean;
  readonly isWhole: boolean;
  figures(resumable: boolean): RunFigures;
}

const answerSchema = z.object({
  type: z.literal('answer'),
  answer: z.object({
    answerText: z.string(),
    confidence: z.number(),
    reasons: z.array(z.object({ code: z.string(), message: z.string() })),
    grounding: z.nullable(z.object({ score: z.number(), threshold: z.number(), unsupported: z.array(z.unknown()) })),
    metadata: z.object({
      decision: z.nullable(z.object({ rule: z.string(), complete: z.boolean() })),
      cycles: z.number(),
      usage: usageSchema,
      cost: z.nullable(z.object({ amount: z.number(), currency: z.string() })),
      failures: z.array(z.object({ failure: z.object({ code: z.string() }) })),
    }),
  }),
});
const capabilitySchema = z.object({ success: z.boolean(), code: z.optional(z.nullable(z.string())) });
const entrySchema = z.discriminatedUnion('type', [
  answerSchema,
  z.object({ type: z.literal('phase-start'), cycle: z.number(), phase: phaseSchema }),
  z.object({ type: z.literal('phase-end'), failure: z.nullable(z.object({ stage: z.string() })) }),
  z.object({ type: z.literal('attempt-start') }),
  z.object({ type: z.literal('attempt-end'), usage: tokenUsageSchema }),
  z.object({ type: z.literal('capability-end'), result: capabilitySchema }),
  z.object({ type: z.enum(['consent-asked', 'approval-asked', 'direction-asked']), questionId: z.string() }),
  z.object({ type: z.literal('approval-resolved'), questionId: z.string() }),
  z.object({ type: z.enum(['consent-resolved', 'resumed']) }),
  z.object({ type: z.literal('decision'), decision: z.object({ cycle: z.number() }) }),
  z.object({ type: z.literal('closed'), summary: z.optional(z.object({ for: z.string() })) }),
]);

/** How many marks a strip of phases has at most: the first and the last phases, with one mark for the others. */
const MAX_MARKS = 24;

/** A letter for each phase, in upper case if it or one of its tools failed; `.` or `!` (some failed) for those left out. */
function compressed(strip: string): string {
  if (strip.length <= MAX_MARKS) return strip;
  const half = MAX_MARKS / 2;
  const leftOut = strip.slice(half - 1, -half);
  return `${strip.slice(0, half - 1)}${leftOut === leftOut.toLowerCase() ? '.' : '!'}${strip.slice(-half)}`;
}

/** Enough for the first line of an answer. */
const ANSWER_CHARS = 240;

interface FoldedStart extends Pick<RunStart, 'startedAt'> {
  readonly input: Pick<RunStart['input'], 'sessionId'>;
  readonly product: Pick<RunStart['product'], 'modelId' | 'fallbackModelIds'>;
  readonly forkedFrom: Pick<NonNullable<RunStart['forkedFrom']>, 'clockStartMs'> | null;
}

/**
 * Returns a fold over the entries of a run. Without the answer, the totals are counted from all entries, as on the page of the run and in the
 * answer: the cycles that were completed, and the model calls that were started. If not all entries are given (`isWhole` is false), the totals are unknown.
 */
export function figuresFold(
  { input: { sessionId }, product: { modelId, fallbackModelIds }, startedAt, forkedFrom }: FoldedStart,
  isWhole: boolean,
): FiguresFold {
  const models = [modelId, ...fallbackModelIds];
  const clockStartMs = forkedFrom?.clockStartMs ?? Date.parse(startedAt);
  let answer: z.infer<typeof answerSchema>['answer'] | null = null;
  let cycle = 0;
  let cycles = 0;
  let modelCalls = 0;
  let tokens = { input: 0, output: 0, estimated: false };
  let durationMs: number | null = null;
  let strip = '';
  let phase: string | null = null;
  let failures = 0;
  /** The pending questions by id. */
  const asked = new Map<string, string>();
  let parkedFor: string | null = null;

  function fail(): void {
    failures += 1;
    strip = `${strip.slice(0, -1)}${strip.slice(-1).toUpperCase()}`;
  }

  function takeEntry(entry: z.infer<typeof entrySchema>): void {
    switch (entry.type) {
      case 'answer':
        ({ answer } = entry);
        asked.clear();
        break;
      case 'phase-start':
        ({ phase, cycle } = entry);
        strip += phase.charAt(0);
        break;
      case 'phase-end':
        if (phase === 'yield' && entry.failure === null) cycles = Math.max(cycles, cycle);
        phase = null;
        if (entry.failure !== null && entry.failure.stage !== 'aborted') fail();
        break;
      case 'capability-end':
        if (!entry.result.success && !wasDenied(entry.result.code)) fail();
        break;
      case 'attempt-start':
        modelCalls += 1;
        break;
      case 'attempt-end': {
        const { inputTokens, outputTokens, estimated } = entry.usage;
        tokens = {
          input: tokens.input + inputTokens,
          output: tokens.output + outputTokens,
          estimated: tokens.estimated || estimated,
        };
        break;
      }
      case 'consent-asked':
      case 'approval-asked':
      case 'direction-asked':
        asked.set(entry.questionId, entry.type.replace('-asked', ''));
        break;
      case 'decision':
        // A user's direction completes a cycle without Yield.
        cycles = Math.max(cycles, entry.decision.cycle);
        asked.clear();
        break;
      case 'approval-resolved':
        asked.delete(entry.questionId);
        break;
      case 'closed':
        parkedFor = entry.summary?.for ?? null;
        break;
      case 'resumed':
        parkedFor = null;
        break;
      default:
        asked.clear();
    }
  }

  return {
    isWhole,
    take(given) {
      const { atMs } = Object(given) as { readonly atMs?: unknown };
      if (typeof atMs === 'number') durationMs = atMs;
      const read = entrySchema.safeParse(given);
      if (read.success) takeEntry(read.data);
    },
    get hasAnswer() {
      return answer !== null;
    },
    figures(resumable) {
      const whole = <Value>(value: Value): Value | null => (isWhole ? value : null);
      const shared = {
        models,
        sessionId,
        resumable,
        clockStartMs: Number.isFinite(clockStartMs) ? clockStartMs : null,
        strip: whole(compressed(strip)),
        waitingFor: [...asked.values()].at(-1) ?? parkedFor,
      };
      if (answer === null)
        return {
          ...shared,
          rule: null,
          explanation: '',
          reason: null,
          answer: '',
          unsupported: null,
          cycles: whole(cycles),
          modelCalls: whole(modelCalls),
          tokens: whole(tokens),
          cost: null,
          durationMs: whole(durationMs),
          confidence: null,
          failures: whole(failures),
          phase,
        };
      const { answerText, confidence, reasons, grounding, metadata } = answer;
      const { inputTokens, outputTokens, estimated, modelCalls: calls } = metadata.usage;
      return {
        ...shared,
        rule: metadata.decision?.complete ? metadata.decision.rule : null,
        explanation: reasons.map(({ message }) => message).join(' '),
        reason: reasons[0]?.code ?? null,
        answer: firstChars(answerText.trim(), ANSWER_CHARS),
        unsupported: grounding?.unsupported.length ?? null,
        cycles: metadata.cycles,
        modelCalls: calls,
        tokens: { input: inputTokens, output: outputTokens, estimated },
        cost: metadata.cost,
        durationMs,
        confidence,
        failures: metadata.failures.filter(({ failure }) => !wasDenied(failure.code)).length,
        phase: null,
      };
    },
  };
}

/** Whether a run waits for its user after these entries. */
export function isWaiting(entries: readonly JournalEntry[]): boolean {
  const fold = figuresFold(runStartOf(entries), true);
  for (const entry of entries) fold.take(entry);
  return fold.figures(false).waitingFor !== null;
}
