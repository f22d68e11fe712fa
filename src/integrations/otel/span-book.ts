import type { Facts, OpenSpan, Operation, Signal, SpanError } from './spans.ts';

export interface Beginning {
  readonly operation: Operation;
  /** What the span's name says behind the operation. */
  readonly subject: string | null;
  readonly parent: OpenSpan | null;
  /** Attributes of the span and of its measurements. */
  readonly shared: Facts;
  /** Attributes of the span alone. */
  readonly facts?: Facts;
}

/** The code of what somebody stopped before it was done, or what its phase went on without. */
export const BROKEN_OFF: SpanError = { code: 'broken_off', message: null };

/**
 * The spans that are open, and the signals that they give. Time never runs backwards in it, whatever a clock does; a span that ends
 * takes those under it with it.
 */
export function createSpanBook(startedAtMs: number) {
  const open = new Set<OpenSpan>();
  let nowMs = startedAtMs;
  let nextId = 0;
  let signals: Signal[] = [];

  const book = {
    /** It is now so many milliseconds after the start of the run. */
    moveTo(atMs: number): void {
      nowMs = Math.max(nowMs, startedAtMs + atMs);
    },
    begin({ operation, subject, parent, shared, facts }: Beginning): OpenSpan {
      const named = { 'gen_ai.operation.name': operation, ...shared };
      const span: OpenSpan = { id: nextId, parent, operation, startMs: nowMs, shared: named };
      nextId += 1;
      open.add(span);
      const name = subject === null ? operation : `${operation} ${subject}`;
      signals.push({ type: 'start', span, name, facts: { ...named, ...facts } });
      return span;
    },
    note(span: OpenSpan, name: string, facts: Facts = {}): void {
      signals.push({ type: 'event', span, name, atMs: nowMs, facts });
    },
    /** With `endedAtMs`, milliseconds since the epoch, it ended before this was known. */
    end(span: OpenSpan, mishap: SpanError | null, facts: Facts = {}, endedAtMs = nowMs): void {
      if (!open.delete(span)) return;
      for (const other of [...open]) if (other.parent === span) book.end(other, BROKEN_OFF, {}, endedAtMs);
      const ended: Facts = mishap === null ? facts : { ...facts, 'error.type': mishap.code };
      signals.push({ type: 'end', span, atMs: endedAtMs, facts: ended, mishap });
      const { 'error.type': code } = ended;
      const seconds = (endedAtMs - span.startMs) / 1000;
      book.measure('duration', span, seconds, code === undefined ? {} : { 'error.type': code });
    },
    measure(of: 'duration' | 'tokens', span: OpenSpan, value: number, facts: Facts): void {
      signals.push({ type: 'measurement', of, span, value, facts: { ...span.shared, ...facts } });
    },
    isOpen: (span: OpenSpan): boolean => open.has(span),
    /** Ends all that are open, those within others first. */
    endAll(mishap: SpanError): void {
      for (const span of [...open].reverse()) book.end(span, mishap);
    },
    nowMs: (): number => nowMs,
    /** What was said since it was last asked. */
    take(): readonly Signal[] {
      const taken = signals;
      signals = [];
      return taken;
    },
  };
  return book;
}

export type SpanBook = ReturnType<typeof createSpanBook>;
