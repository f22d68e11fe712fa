import * as z from 'zod/mini';
import type { JournalEntry, RunStart } from '../../machines/contracts/journal.ts';
import { phaseSchema } from '../../machines/contracts/phase.ts';
import { tokenUsageSchema, usageSchema } from '../../machines/contracts/usage.ts';
import { firstChars } from '../../machines/text/clip.ts';
import { runStartOf } from '../chain/journal/run-start.ts';
import type { ActorWait, RunFigures } from './wire.ts';

const answerSchema = z.object({
  type: z.literal('answer'),
  answer: z.object({
    answerText: z.string(),
    confidence: z.number(),
    reasons: z.array(z.object({ code: z.string(), message: z.string() })),
    grounding: z.nullable(z.object({ score: z.number(), threshold: z.number(), unsupported: z.array(z.unknown()) })),
    metadata: z.object({
      decision: z.nullable(z.object({ rule: z.string(), complete: z.boolean() })),
      usage: usageSchema,
      cost: z.nullable(z.object({ amount: z.number(), currency: z.string() })),
      failures: z.array(z.object({ phase: z.string(), failure: z.object({ message: z.string() }) })),
    }),
  }),
});
const askedSchema = z.object({
  type: z.enum(['consent-asked', 'approval-asked', 'direction-asked']),
  questionId: z.string(),
  atMs: z.number(),
  capability: z.optional(z.string()),
  arguments: z.optional(z.json()),
});
const entrySchema = z.discriminatedUnion('type', [
  answerSchema,
  z.object({ type: z.literal('phase-start'), phase: phaseSchema }),
  z.object({ type: z.literal('phase-end') }),
  z.object({ type: z.literal('attempt-start'), attemptId: z.string() }),
  z.object({ type: z.literal('attempt-end'), attemptId: z.string(), usage: tokenUsageSchema }),
  askedSchema,
  z.object({ type: z.literal('approval-resolved'), questionId: z.string() }),
  z.object({ type: z.enum(['consent-resolved', 'decision']) }),
  z.object({ type: z.literal('resumed'), resumedAt: z.iso.datetime(), atMs: z.number() }),
  z.object({ type: z.literal('closed'), summary: z.optional(z.object({ for: z.string() })) }),
]);

const NO_TOKENS = { input: 0, output: 0, estimated: false };

/** Enough for the first line of an answer. */
const ANSWER_CHARS = 240;

interface FoldedStart extends Pick<RunStart, 'startedAt'> {
  readonly input: Pick<RunStart['input'], 'sessionId'>;
  readonly product: Pick<RunStart['product'], 'modelId' | 'fallbackModelIds'>;
  readonly forkedFrom: { readonly clockStartMs: number; readonly forkedAt?: string | undefined } | null;
}

/**
 * A fold over the entries of a run. Without the answer, the totals are counted from all entries, as on the page of the run. If not all
 * entries are given (`isWhole` is false), the totals are unknown.
 */
export class FiguresFold {
  readonly isWhole: boolean;
  readonly #start: FoldedStart;
  #answer: z.infer<typeof answerSchema>['answer'] | null = null;
  #tokens: RunFigures['tokens'] = null;
  #durationMs: number | null = null;
  #clockStartMs: number;
  /** When the fork was made; null once it has continued. */
  #forkedAt: string | null;
  /** The ids of the calls that a fork has started itself; null if it is not a fork. */
  readonly #own: Set<string> | null;
  /** How long the clock of the run has stood still because no process held it. */
  #stoodStillMs = 0;
  #phase: string | null = null;
  /** The pending questions by id. */
  readonly #asked = new Map<string, z.infer<typeof askedSchema>>();
  #parkedFor: string | null = null;

  constructor(start: FoldedStart, isWhole: boolean) {
    this.#start = start;
    this.isWhole = isWhole;
    this.#clockStartMs = start.forkedFrom?.clockStartMs ?? Date.parse(start.startedAt);
    this.#forkedAt = start.forkedFrom?.forkedAt ?? null;
    this.#own = this.#forkedAt === null ? null : new Set();
  }

  /** Whether the last entries of the run were among them, which contain all totals. */
  get hasAnswer(): boolean {
    return this.#answer !== null;
  }

  /** Takes the next entry, verified or not. */
  take(given: unknown): void {
    const { atMs } = Object(given) as { readonly atMs?: unknown };
    const read = entrySchema.safeParse(given);
    if (read.success) this.#takeEntry(read.data);
    if (typeof atMs === 'number') this.#durationMs = atMs + this.#stoodStillMs;
  }

  #takeEntry(entry: z.infer<typeof entrySchema>): void {
    switch (entry.type) {
      case 'answer':
        this.#answer = entry.answer;
        this.#asked.clear();
        break;
      case 'phase-start':
        this.#phase = entry.phase;
        break;
      case 'phase-end':
        this.#phase = null;
        break;
      case 'attempt-start':
        if (this.#forkedAt === null) this.#own?.add(entry.attemptId);
        break;
      case 'attempt-end': {
        // The entry of the end of a copied call may follow the start of the fork.
        if (this.#own?.has(entry.attemptId) === false) break;
        const { inputTokens, outputTokens, estimated } = entry.usage;
        const { input, output, estimated: before } = this.#tokens ?? NO_TOKENS;
        this.#tokens = { input: input + inputTokens, output: output + outputTokens, estimated: before || estimated };
        break;
      }
      case 'consent-asked':
      case 'approval-asked':
      case 'direction-asked':
        this.#asked.set(entry.questionId, { ...entry, atMs: entry.atMs + this.#stoodStillMs });
        break;
      case 'approval-resolved':
        this.#asked.delete(entry.questionId);
        break;
      case 'closed':
        this.#parkedFor = entry.summary?.for ?? null;
        break;
      case 'resumed': {
        this.#parkedFor = null;
        const clockStartMs = Date.parse(entry.resumedAt) - entry.atMs;
        // The time and tokens of a fork count from when it continues, after the entries that it has copied.
        if (this.#forkedAt !== null && entry.resumedAt >= this.#forkedAt)
          [this.#forkedAt, this.#clockStartMs, this.#tokens] = [null, clockStartMs, NO_TOKENS];
        this.#stoodStillMs = Math.max(this.#stoodStillMs, clockStartMs - this.#clockStartMs) || 0;
        break;
      }
      default:
        this.#asked.clear();
    }
  }

  /** What the run asks its user for; undefined if it asks nothing, or if the time of the question is unknown. */
  wait(): ActorWait | undefined {
    const clockStartMs = this.#clockStartMs;
    const asked = [...this.#asked.values()].map((entry) => ({ ...entry, askedAtMs: clockStartMs + entry.atMs }));
    const [first] = asked;
    if (first === undefined || !Number.isFinite(first.askedAtMs)) return undefined;
    const approvals = asked.flatMap(({ questionId, capability, arguments: input = null, askedAtMs }) =>
      capability === undefined ? [] : [{ id: questionId, digest: '', question: { [capability]: input }, askedAtMs }],
    );
    return { sinceMs: first.askedAtMs, dueAtMs: null, events: [], approvals };
  }

  figures(): RunFigures {
    const { product } = this.#start;
    const whole = <Value>(value: Value): Value | null => (this.isWhole ? value : null);
    const counted: RunFigures = {
      models: [product.modelId, ...product.fallbackModelIds],
      sessionId: this.#start.input.sessionId,
      clockStartMs: Number.isFinite(this.#clockStartMs) ? this.#clockStartMs : null,
      waitingFor: [...this.#asked.values()].at(-1)?.type.replace('-asked', '') ?? this.#parkedFor,
      rule: null,
      explanation: '',
      reason: null,
      answer: '',
      unsupported: null,
      tokens: whole(this.#tokens),
      cost: null,
      durationMs: whole(this.#durationMs),
      confidence: null,
      phase: this.#phase,
    };
    if (this.#answer === null) return counted;
    const { answerText, confidence, reasons, grounding, metadata } = this.#answer;
    const { inputTokens: input, outputTokens: output, estimated } = metadata.usage;
    const tokens = { input, output, estimated };
    const last = metadata.failures.at(-1);
    return {
      ...counted,
      rule: metadata.decision?.complete ? metadata.decision.rule : null,
      explanation: reasons.map(({ message }) => message).join(' '),
      reason: reasons[0]?.code ?? null,
      ...(last && { failedPhase: { phase: last.phase, message: last.failure.message } }),
      answer: firstChars(answerText.trim(), ANSWER_CHARS),
      unsupported: grounding?.unsupported.length ?? null,
      // The answer of a fork includes the calls that it has copied.
      ...(this.#own === null && { tokens, cost: metadata.cost }),
      durationMs: this.#durationMs,
      confidence,
      phase: null,
    };
  }
}

export function figuresIn(entries: readonly JournalEntry[]): RunFigures {
  const fold = new FiguresFold(runStartOf(entries), true);
  for (const entry of entries) fold.take(entry);
  return fold.figures();
}

/** Whether a run waits for its user after these entries. */
export const isWaiting = (entries: readonly JournalEntry[]): boolean => figuresIn(entries).waitingFor !== null;
