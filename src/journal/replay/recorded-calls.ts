import { type CallEvent, LAST_EVENTS } from '../../../machines/contracts/call-event.ts';
import type { Annotation, JournalEntry, RunStart } from '../../../machines/contracts/journal-entry.ts';
import { type Activity, subjectOf } from '../../engine/activities.ts';

/** What was heard of a call, in order: its events, and what was noted beside them. */
export type RecordedEvent =
  | { readonly seq: number; readonly event: CallEvent }
  | { readonly seq: number; readonly note: TextDelta | Retrieval };

type TextDelta = Extract<Annotation, { type: 'text-delta' }>;
type Retrieval = Extract<Annotation, { type: 'retrieval' }>;

export interface RecordedCall {
  readonly call: number;
  /** What kind of thing was asked: see `kindOf`. */
  readonly kind: string;
  readonly heard: readonly RecordedEvent[];
}

type Asked = Pick<Activity, 'port' | 'input'>;

/** The calls of a recording, in order, with what was heard of each. */
export function callsIn(recorded: readonly JournalEntry[]): readonly RecordedCall[] {
  const calls: { readonly call: number; readonly kind: string; readonly heard: RecordedEvent[] }[] = [];
  const reading = new Map<string, RecordedEvent[]>();
  let searching: RecordedEvent[] | null = null;
  for (const entry of recorded) {
    const { seq } = entry;
    if (entry.type === 'call-start') {
      const heard: RecordedEvent[] = [];
      calls[entry.call] = { call: entry.call, kind: kindNamed(entry), heard };
      if (entry.attemptId !== undefined) reading.set(entry.attemptId, heard);
      if (entry.port === 'retrievePassages') searching = heard;
    }
    if (entry.type === 'call-event') calls[entry.call]?.heard.push({ seq, event: entry.event });
    if (entry.type === 'text-delta') {
      const { type, attemptId, text } = entry;
      reading.get(attemptId)?.push({ seq, note: { type, attemptId, text } });
    }
    if (entry.type === 'retrieval') {
      const { type, query, passages, widened, failure } = entry;
      searching?.push({ seq, note: { type, query, passages, widened, failure } });
    }
  }
  return calls;
}

/** The kind of a call: its port, and of a reply its task, of a capability its name. */
export function kindOf({ port, input }: Asked): string {
  return kindNamed({ port, ...subjectOf(input) });
}

type Named = { readonly port: string; readonly task?: string | undefined; readonly capability?: string | undefined };

function kindNamed({ port, task, capability }: Named): string {
  return [port, task ?? capability ?? ''].join(' ').trim();
}

/**
 * Two calls with the same key ask the same: of the same port, with the same input. The id of the run does not count, and of a model's
 * call neither its own id nor the budgets that are left for it.
 */
export function callKey({ port, input }: Asked, { runId }: Pick<RunStart, 'runId'>): string {
  const asked = port === 'readReply' ? questionOf(input as Readonly<Record<string, unknown>>) : input;
  const text = (JSON.stringify(asked) ?? '').replaceAll(JSON.stringify(runId), '"run"');
  return `${port} ${process.getBuiltinModule('node:crypto').createHash('sha256').update(text).digest('base64')}`;
}

const questionOf = ({ task, model, input, feedback }: Readonly<Record<string, unknown>>) => ({
  task,
  model,
  input,
  feedback,
});

/** Whether something came of it that can be given again. */
export function isAnswered({ heard }: RecordedCall): boolean {
  const last = heard.at(-1);
  return last !== undefined && 'event' in last && LAST_EVENTS.has(last.event.type) && last.event.type !== 'reply.lost';
}

export const endOf = ({ heard }: RecordedCall): number => heard.at(-1)?.seq ?? 0;
