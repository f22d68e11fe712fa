import type { ContentFilter } from './content-filter.ts';
import type { EntryOf } from './entries.ts';
import { POSTCHAIN } from './model-name.ts';
import { BROKEN_OFF, type SpanBook } from './span-book.ts';
import type { Facts, OpenSpan, SpanError } from './spans.ts';

/** The phase under way. */
interface Phase {
  readonly span: OpenSpan;
  readonly step: number;
  /** How it ended, once it has: Yield then still has to decide. */
  ended: { readonly mishap: SpanError | null } | null;
  /** When the chart left it without its end, in milliseconds since the epoch. */
  leftAtMs: number | null;
}

/** The phases of a run as `invoke_agent` spans; there is one at a time. */
export function createPhases(book: SpanBook, run: OpenSpan, told: ContentFilter, conversation: Facts) {
  let phase: Phase | null = null;
  let over = false;

  function close(): void {
    if (phase === null) return;
    const { span, ended, leftAtMs } = phase;
    phase = null;
    book.end(span, ended === null ? BROKEN_OFF : ended.mishap, {}, leftAtMs ?? book.nowMs());
  }

  return {
    close,
    start({ phase: name, cycle, step }: EntryOf<'phase-start'>): void {
      close();
      const span = book.begin({
        operation: 'invoke_agent',
        subject: name,
        parent: run,
        shared: { ...POSTCHAIN, 'gen_ai.agent.name': name },
        facts: { ...conversation, 'postchain.phase': name, 'postchain.cycle': cycle, 'postchain.step': step },
      });
      phase = { span, step, ended: null, leftAtMs: over ? book.nowMs() : null };
    },
    end({ phase: name, failure }: EntryOf<'phase-end'>): void {
      if (phase === null) return;
      phase.ended = { mishap: failure && told.mishap(failure) };
      // Yield is left by its decision, which may have to wait for the user.
      if (name !== 'yield' || failure !== null) close();
    },
    decide({ decision }: EntryOf<'decision'>): void {
      const { rule, complete, nextPhase, cycle, rationale, inputs } = decision;
      book.note(phase?.span ?? run, 'postchain.decision', {
        'postchain.rule': rule,
        'postchain.complete': complete,
        'postchain.next_phase': nextPhase ?? undefined,
        'postchain.cycle': cycle,
        'postchain.rationale': told.content(rationale),
        ...told.inputs(inputs),
      });
      close();
    },
    /**
     * The chart goes elsewhere from wherever it is, to the answer where this is the `last` time. What it did until then comes after
     * this in the journal: the end of the phase that it leaves, even the start of one that it is through with.
     */
    leave(last: boolean): void {
      over ||= last;
      if (phase !== null) phase.leftAtMs ??= book.nowMs();
    },
    /** Whatever the chart had to say of the phase that it left, it has said. */
    settle(): void {
      if (phase !== null && phase.leftAtMs !== null) close();
    },
    /** Where something belongs that has no phase of its own. */
    span: (): OpenSpan => phase?.span ?? run,
    isAt: (step: number): boolean => phase?.step === step,
  };
}

export type Phases = ReturnType<typeof createPhases>;
