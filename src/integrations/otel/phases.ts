import type { ContentFilter } from './content-filter.ts';
import {
  ABORTED,
  type EntryOf,
  type OpenSpan,
  POSTCHAIN,
  type SpanAttributes,
  type SpanError,
  type SpanLog,
} from './spans.ts';

interface Phase {
  readonly span: OpenSpan;
  readonly step: number;
  /** The result of the phase. Yield stays open until its decision. */
  ended: { readonly error: SpanError | null } | null;
  /** When the chart left the phase before its end entry, in milliseconds since the epoch. */
  leftAtMs: number | null;
}

/** Records the phases of a run as `invoke_agent` spans, one at a time. */
export function createPhases(spans: SpanLog, run: OpenSpan, filter: ContentFilter, conversation: SpanAttributes) {
  let phase: Phase | null = null;
  let over = false;

  function close(): void {
    if (phase === null) return;
    const { span, ended, leftAtMs } = phase;
    phase = null;
    spans.end(span, ended === null ? ABORTED : ended.error, {}, leftAtMs ?? spans.nowMs);
  }

  return {
    close,
    start({ phase: name, cycle, step }: EntryOf<'phase-start'>): void {
      close();
      const span = spans.begin({
        operation: 'invoke_agent',
        subject: name,
        parent: run,
        shared: { ...POSTCHAIN, 'gen_ai.agent.name': name },
        attributes: { ...conversation, 'postchain.phase': name, 'postchain.cycle': cycle, 'postchain.step': step },
      });
      phase = { span, step, ended: null, leftAtMs: over ? spans.nowMs : null };
    },
    end({ phase: name, failure }: EntryOf<'phase-end'>): void {
      if (phase === null) return;
      phase.ended = { error: failure && filter.errorOf(failure) };
      // Yield ends with its decision, which may wait for the user.
      if (name !== 'yield' || failure !== null) close();
    },
    decide({ decision }: EntryOf<'decision'>): void {
      const { rule, complete, nextPhase, cycle, rationale, inputs } = decision;
      spans.addEvent(phase?.span ?? run, 'postchain.decision', {
        'postchain.rule': rule,
        'postchain.complete': complete,
        'postchain.next_phase': nextPhase ?? undefined,
        'postchain.cycle': cycle,
        'postchain.rationale': filter.content(rationale),
        ...filter.inputs(inputs),
      });
      close();
    },
    /**
     * Marks the phase as left; `last` means that the chart goes to its answer. In the journal, entries about the phase (its end, even its
     * start) may follow this transition.
     */
    leave(last: boolean): void {
      over ||= last;
      if (phase !== null) phase.leftAtMs ??= spans.nowMs;
    },
    /** Closes a phase that was left. Call it when all entries of the step have been seen. */
    settle(): void {
      if (phase !== null && phase.leftAtMs !== null) close();
    },
    span: (): OpenSpan => phase?.span ?? run,
    isAt: (step: number): boolean => phase?.step === step,
    /** Whether a phase before this step is in progress. */
    isBefore: (step: number): boolean => phase !== null && phase.leftAtMs === null && phase.step < step,
  };
}

export type Phases = ReturnType<typeof createPhases>;
