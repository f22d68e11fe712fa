import * as z from 'zod/mini';
import type { RunStart } from '../../machines/contracts/journal.ts';
import { tokenUsageSchema, usageSchema } from '../../machines/contracts/usage.ts';
import type { RunFigures } from './wire.ts';

export interface FiguresFold {
  /** Takes the next entry, verified or not. */
  take(entry: unknown): void;
  /** Whether the last entries of the run were among them, which contain all totals. */
  readonly hasAnswer: boolean;
  figures(resumable: boolean): RunFigures;
}

const answerSchema = z.object({
  type: z.literal('answer'),
  answer: z.object({
    confidence: z.number(),
    reasons: z.array(z.object({ message: z.string() })),
    metadata: z.object({
      decision: z.nullable(z.object({ rule: z.string(), complete: z.boolean() })),
      cycles: z.number(),
      usage: usageSchema,
      cost: z.nullable(z.object({ amount: z.number(), currency: z.string() })),
    }),
  }),
});
const phaseSchema = z.object({ type: z.literal('phase-start'), cycle: z.number() });
const attemptSchema = z.object({ type: z.literal('attempt-end'), usage: tokenUsageSchema });
const entrySchema = z.union([answerSchema, phaseSchema, attemptSchema]);

const FOLDED: ReadonlySet<unknown> = new Set(['answer', 'phase-start', 'attempt-end']);

/**
 * Returns a fold over the entries of a run. Without the answer, the totals are counted from all entries, as on the page of the run: the
 * cycles that began, and the model calls that ended. If not all entries are given (`isWhole` is false), the totals are unknown.
 */
export function figuresFold(
  { modelId, fallbackModelIds, sessionId }: Pick<RunStart, 'modelId' | 'fallbackModelIds' | 'sessionId'>,
  isWhole: boolean,
): FiguresFold {
  const models = [modelId, ...fallbackModelIds];
  let answer: z.infer<typeof answerSchema>['answer'] | null = null;
  let cycles = 0;
  let modelCalls = 0;
  let tokens = { input: 0, output: 0, estimated: false };
  let durationMs: number | null = null;

  return {
    take(given) {
      const { type, atMs } = Object(given) as { readonly type?: unknown; readonly atMs?: unknown };
      if (typeof atMs === 'number') durationMs = atMs;
      const read = FOLDED.has(type) ? entrySchema.safeParse(given) : null;
      if (!read?.success) return;
      const entry = read.data;
      if (entry.type === 'answer') answer = entry.answer;
      else if (entry.type === 'phase-start') cycles = Math.max(cycles, entry.cycle);
      else {
        const { inputTokens, outputTokens, estimated } = entry.usage;
        modelCalls += 1;
        tokens = {
          input: tokens.input + inputTokens,
          output: tokens.output + outputTokens,
          estimated: tokens.estimated || estimated,
        };
      }
    },
    get hasAnswer() {
      return answer !== null;
    },
    figures(resumable) {
      const shared = { models, sessionId, resumable, durationMs: answer !== null || isWhole ? durationMs : null };
      if (answer === null)
        return {
          ...shared,
          rule: null,
          explanation: '',
          cycles: isWhole ? cycles : null,
          modelCalls: isWhole ? modelCalls : null,
          tokens: isWhole ? tokens : null,
          cost: null,
          confidence: null,
        };
      const { confidence, reasons, metadata } = answer;
      const { inputTokens, outputTokens, estimated, modelCalls: calls } = metadata.usage;
      return {
        ...shared,
        rule: metadata.decision?.complete ? metadata.decision.rule : null,
        explanation: reasons.map(({ message }) => message).join(' '),
        cycles: metadata.cycles,
        modelCalls: calls,
        tokens: { input: inputTokens, output: outputTokens, estimated },
        cost: metadata.cost,
        confidence,
      };
    },
  };
}
