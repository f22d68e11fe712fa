import { type CallEvent, LAST_EVENTS } from '../../machines/contracts/call-event.ts';
import type { JournalEntry, RunStart } from '../../machines/contracts/journal-entry.ts';
import type { Call } from '../calls/call.ts';
import type { World } from '../runtime/stage.ts';

/** What was heard of a call, in order: its events, and pieces of the text of a reply. */
export type Heard =
  | { readonly seq: number; readonly event: CallEvent }
  | { readonly seq: number; readonly text: string };

export interface RecordedCall {
  readonly call: number;
  /** What was asked, in few characters. */
  readonly key: string;
  readonly heard: readonly Heard[];
}

/** A call's `attemptId`, where it reads a reply. */
export const attemptOf = ({ port, input }: Pick<Call, 'port' | 'input'>): string | null =>
  port === 'readReply' ? (input as { readonly attemptId: string }).attemptId : null;

/**
 * Two calls with the same key ask the same: of the same port, with the same input. The id of the run does not count, and of a model's
 * call neither its own id nor the budgets that are left for it.
 */
export function callKey({ port, input }: Pick<Call, 'port' | 'input'>, { runId }: Pick<RunStart, 'runId'>): string {
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

/** Listens to a rehearsal for what its charts ask, and gathers what the recording heard of it. */
export function listenToCalls(start: RunStart) {
  const begun = new Map<number, { readonly key: string; readonly attemptId: string | null }>();
  const world: World = {
    perform: (call, made) => void begun.set(call, { key: callKey(made, start), attemptId: attemptOf(made) }),
    wait: () => () => {},
  };
  return { world, gather: (recorded: readonly JournalEntry[]) => gather(recorded, begun) };
}

function gather(
  recorded: readonly JournalEntry[],
  begun: ReadonlyMap<number, { readonly key: string; readonly attemptId: string | null }>,
): readonly RecordedCall[] {
  const heard = new Map([...begun.keys()].map((call) => [call, [] as Heard[]]));
  const reading = new Map<string, number>();
  for (const entry of recorded) {
    if (entry.type === 'call-start') {
      const attemptId = begun.get(entry.call)?.attemptId;
      if (attemptId) reading.set(attemptId, entry.call);
    }
    if (entry.type === 'call-event') heard.get(entry.call)?.push({ seq: entry.seq, event: entry.event });
    if (entry.type === 'text-delta')
      heard.get(reading.get(entry.attemptId) ?? -1)?.push({ seq: entry.seq, text: entry.text });
  }
  return [...begun].map(([call, { key }]) => ({ call, key, heard: heard.get(call) ?? [] }));
}

/** Whether something came of it that can be given again. */
export function isAnswered({ heard }: RecordedCall): boolean {
  const last = heard.at(-1);
  return last !== undefined && 'event' in last && LAST_EVENTS.has(last.event.type) && last.event.type !== 'reply.lost';
}
