import { signal } from '@preact/signals';
import type { Inspector } from '../../ui-state/inspector.ts';

/** Something that a run was told from this page. */
export interface Sent {
  readonly id: number;
  readonly runId: string;
  readonly event: unknown;
  /** How many entries were there: its delivery is none of them. */
  readonly from: number;
  /** What came of it; null while it is under way. `problem` is null where it was told. */
  readonly answer: { readonly problem: string | null } | null;
}

const MOST = 50;

/** Everything that was sent, the newest first. */
export const sent = signal<readonly Sent[]>([]);

let nextId = 1;

/** Whether something is under way to a run: then nothing else is sent to it. */
export const isUnderWay = (runId: string): boolean =>
  sent.value.some((one) => one.runId === runId && one.answer === null);

/** Tells a run something, once. Gives whether it was told. */
export async function tell(inspector: Inspector, runId: string, event: unknown): Promise<boolean> {
  if (isUnderWay(runId)) return false;
  const id = nextId;
  nextId += 1;
  const from = inspector.follow(runId).log.count;
  sent.value = [{ id, runId, event, from, answer: null }, ...sent.value].slice(0, MOST);
  const problem = await inspector.send(runId, event);
  sent.value = sent.value.map((one) => (one.id === id ? { ...one, answer: { problem } } : one));
  return problem === null;
}
