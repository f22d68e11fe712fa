import type { AttributeValue } from '@opentelemetry/api';
import type { JournalEntry } from '../../../machines/contracts/journal.ts';

export type EntryOf<Type extends JournalEntry['type']> = Extract<JournalEntry, { type: Type }>;

export type SpanAttributes = Readonly<Record<string, AttributeValue | undefined>>;

/** The provider of the run itself, its phases and capabilities, and of models whose id names no other. */
export const POSTCHAIN: SpanAttributes = { 'gen_ai.provider.name': 'postchain' };

/** The operations of the GenAI semantic conventions that a run consists of. */
type Operation = 'invoke_workflow' | 'invoke_agent' | 'chat' | 'execute_tool';

/** Why a span failed: a stable code, and a message that is recorded only with content. */
export interface SpanError {
  readonly code: string;
  readonly message: string | null;
}

/** An open span. `shared` are the attributes that its measurements have too. */
export interface OpenSpan {
  readonly id: number;
  readonly parent: OpenSpan | null;
  readonly operation: Operation;
  readonly startMs: number;
  readonly shared: SpanAttributes;
}

/** An instruction to OpenTelemetry. Times are in milliseconds since the epoch. */
export type Signal =
  | { readonly type: 'start'; readonly span: OpenSpan; readonly name: string; readonly attributes: SpanAttributes }
  | {
      readonly type: 'event';
      readonly span: OpenSpan;
      readonly name: string;
      readonly atMs: number;
      readonly attributes: SpanAttributes;
    }
  | {
      readonly type: 'end';
      readonly span: OpenSpan;
      readonly atMs: number;
      readonly attributes: SpanAttributes;
      readonly error: SpanError | null;
    }
  /** The duration of a span in seconds, or the tokens of a model call. */
  | {
      readonly type: 'measurement';
      readonly of: 'duration' | 'tokens';
      readonly span: OpenSpan;
      readonly value: number;
      readonly attributes: SpanAttributes;
    };

export interface SpanStart {
  readonly operation: Operation;
  /** The second part of the span's name, after the operation. */
  readonly subject: string | null;
  readonly parent: OpenSpan | null;
  /** Attributes of the span and of its measurements. */
  readonly shared: SpanAttributes;
  /** Attributes of the span only. */
  readonly attributes?: SpanAttributes;
}

/** The error of a span that was stopped before it finished. */
export const ABORTED: SpanError = { code: 'broken_off', message: null };

/**
 * Tracks open spans and collects the signals they cause. Its time never goes back, whatever the clock does. Ending a span ends its
 * children.
 */
export function createSpanLog(startedAtMs: number) {
  const open = new Set<OpenSpan>();
  let nowMs = startedAtMs;
  let nextId = 0;
  let signals: Signal[] = [];

  const log = {
    /** Sets the current time, in milliseconds since the start of the run. */
    moveTo(atMs: number): void {
      nowMs = Math.max(nowMs, startedAtMs + atMs);
    },
    begin({ operation, subject, parent, shared, attributes }: SpanStart): OpenSpan {
      const common = { 'gen_ai.operation.name': operation, ...shared };
      const span: OpenSpan = { id: nextId, parent, operation, startMs: nowMs, shared: common };
      nextId += 1;
      open.add(span);
      const name = subject === null ? operation : `${operation} ${subject}`;
      signals.push({ type: 'start', span, name, attributes: { ...common, ...attributes } });
      return span;
    },
    addEvent(span: OpenSpan, name: string, attributes: SpanAttributes = {}): void {
      signals.push({ type: 'event', span, name, atMs: nowMs, attributes });
    },
    /** Ends a span. `endedAtMs`, in milliseconds since the epoch, may be earlier than the current time. */
    end(span: OpenSpan, error: SpanError | null, attributes: SpanAttributes = {}, endedAtMs = nowMs): void {
      if (!open.delete(span)) return;
      for (const other of [...open]) if (other.parent === span) log.end(other, ABORTED, {}, endedAtMs);
      const ended: SpanAttributes = error === null ? attributes : { ...attributes, 'error.type': error.code };
      signals.push({ type: 'end', span, atMs: endedAtMs, attributes: ended, error });
      const { 'error.type': code } = ended;
      const seconds = (endedAtMs - span.startMs) / 1000;
      log.measure('duration', span, seconds, code === undefined ? {} : { 'error.type': code });
    },
    measure(of: 'duration' | 'tokens', span: OpenSpan, value: number, attributes: SpanAttributes): void {
      signals.push({ type: 'measurement', of, span, value, attributes: { ...span.shared, ...attributes } });
    },
    isOpen: (span: OpenSpan): boolean => open.has(span),
    /** Ends all open spans, children first. */
    endAll(error: SpanError): void {
      for (const span of [...open].reverse()) log.end(span, error);
    },
    nowMs: (): number => nowMs,
    /** Returns the signals since the last call. */
    take(): readonly Signal[] {
      const taken = signals;
      signals = [];
      return taken;
    },
  };
  return log;
}

export type SpanLog = ReturnType<typeof createSpanLog>;
