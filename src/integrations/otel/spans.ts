import type { AttributeValue } from '@opentelemetry/api';

export type Facts = Readonly<Record<string, AttributeValue | undefined>>;

/** The operations of the GenAI conventions that a run is made of. */
export type Operation = 'invoke_workflow' | 'invoke_agent' | 'chat' | 'execute_tool';

/** Why something did not come off: a stable code, and what may only be told with content. */
export interface SpanError {
  readonly code: string;
  readonly message: string | null;
}

/** A span while it is open. `shared` are those of its attributes that its measurements have too. */
export interface OpenSpan {
  readonly id: number;
  readonly parent: OpenSpan | null;
  readonly operation: Operation;
  readonly startMs: number;
  readonly shared: Facts;
}

/** What a journal says to OpenTelemetry, in order. Times are milliseconds since the epoch. */
export type Signal =
  | { readonly type: 'start'; readonly span: OpenSpan; readonly name: string; readonly facts: Facts }
  | {
      readonly type: 'event';
      readonly span: OpenSpan;
      readonly name: string;
      readonly atMs: number;
      readonly facts: Facts;
    }
  | {
      readonly type: 'end';
      readonly span: OpenSpan;
      readonly atMs: number;
      readonly facts: Facts;
      readonly mishap: SpanError | null;
    }
  /** Seconds of a span, or tokens of a model call. */
  | {
      readonly type: 'measurement';
      readonly of: 'duration' | 'tokens';
      readonly span: OpenSpan;
      readonly value: number;
      readonly facts: Facts;
    };
