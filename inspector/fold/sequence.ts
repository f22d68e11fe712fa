import type { CallEvent } from '../../machines/contracts/events.ts';
import type { JournalEntry } from '../../machines/contracts/journal.ts';
import { laneName } from './activity-names.ts';
import type { EntryOf } from './entry-index.ts';
import { humanizeEvent } from './explain.ts';
import { formatDuration, formatNumber, humanize } from './format.ts';
import { LAST_EVENTS } from './spans.ts';

/** A message between two actors, in the order of the journal. */
export interface SequenceRow {
  /** A `cycle` starts here, and is not a message. `return` answers a call. */
  readonly kind: 'message' | 'return' | 'stream' | 'cycle';
  readonly seq: number;
  /** Indexes of actors; equal if an actor notes something itself. */
  readonly from: number;
  readonly to: number;
  readonly text: string;
  readonly isFailure: boolean;
  /** The number of the call that it starts or ends. */
  readonly call: number | null;
}

export interface Sequence {
  /** The lifelines, in order of appearance. All attempts of model calls share one. */
  readonly actors: readonly string[];
  readonly rows: readonly SequenceRow[];
}

/**
 * The nearest row from an index on, in its direction, that is a message of another entry than the current row; an index outside the
 * rows if there is none.
 */
export function messageFrom(rows: readonly SequenceRow[], index: number, current: number): number {
  const step = index < current ? -1 : 1;
  let at = index;
  for (let row = rows[at]; row?.kind === 'cycle' || (row && row.seq === rows[current]?.seq); row = rows[at]) at += step;
  return at;
}

/** More actors share the last lifeline. */
const MAX_ACTORS = 12;
/** A capability with such a name is marked as a tool. */
const OWN_ACTORS: ReadonlySet<string> = new Set(['User', 'Chain', 'Action loop', 'Model']);
const CHAIN = 'postChain';
const ACTION_LOOP = 'actionLoop';

/** Folds entries, in order, into messages. */
export function createSequence(): { readonly sequence: Sequence; take(entry: JournalEntry): void } {
  const actors: string[] = [];
  const indexes = new Map<string, number>();
  const rows: SequenceRow[] = [];
  /** The call-start message of each running call. */
  const calls = new Map<number, SequenceRow>();
  const streams = new Map<string, { readonly row: number; chars: number }>();
  let cycle = 0;
  /** Whether the action loop is running, and whether its start is among the rows: it is added with its first call. */
  let loop: 'none' | 'waiting' | 'running' = 'none';

  function actor(name: string, key = name): number {
    const known = indexes.get(key);
    if (known !== undefined) return known;
    const isLast = actors.length >= MAX_ACTORS - 1;
    const index = isLast ? MAX_ACTORS - 1 : actors.length;
    indexes.set(key, index);
    const isTaken = key !== name && key.startsWith('capability') && (OWN_ACTORS.has(name) || actors.includes(name));
    actors[index] = isLast && actors[index] !== undefined ? 'Others' : isTaken ? `${name} (tool)` : name;
    return index;
  }

  type Ends = readonly [from: number, to: number];
  function add(seq: number, [from, to]: Ends, text: string, more: Partial<SequenceRow> = {}): SequenceRow {
    const row = { kind: 'message', seq, from, to, text: `${text}`, isFailure: false, call: null, ...more } as const;
    rows.push(row);
    return row;
  }

  const user = () => actor('User', 'the user');
  const chain = () => actor('Chain', 'the chain');
  const caller = () => (loop === 'running' ? actor('Action loop', 'the loop') : chain());

  function startCall({ seq, call, actor: activity, attemptId, task, capability }: EntryOf<'call-start'>): void {
    if (loop === 'waiting') {
      const from = chain();
      loop = 'running';
      add(seq, [from, caller()], 'start');
    }
    const from = caller();
    if (attemptId !== undefined) streams.delete(attemptId);
    const isRun = activity === 'executeCapability';
    const of = capability === undefined || isRun ? '' : ` of ${capability}`;
    const name = task !== undefined ? 'Model' : isRun ? (capability ?? 'Tools') : laneName(activity);
    const to = actor(name, isRun ? `capability ${name}` : name);
    calls.set(call, add(seq, [from, to], task ?? humanize(activity) + of, { call }));
  }

  function endCall({ seq, call, event }: EntryOf<'call-event'>): void {
    const start = calls.get(call);
    if (start === undefined || !LAST_EVENTS.has(event.type)) return;
    calls.delete(call);
    const problem = problemOf(event);
    const more = { kind: 'return', isFailure: problem !== null, call } as const;
    add(
      seq,
      [start.to, start.from],
      problem !== null ? `failed: ${problem}` : event.type === 'done' ? 'done' : 'reply',
      more,
    );
  }

  function stream({ seq, attemptId, text }: EntryOf<'text-delta'>): void {
    const known = streams.get(attemptId);
    const chars = (known?.chars ?? 0) + text.length;
    const row = known?.row ?? rows.length;
    const ends = { seq: rows[row]?.seq ?? seq, from: actor('Model'), to: caller() };
    const line = `streams ${formatNumber(chars)} characters`;
    rows[row] = { kind: 'stream', ...ends, text: line, isFailure: false, call: null };
    streams.set(attemptId, { row, chars });
  }

  function startPhase({ seq, cycle: number }: EntryOf<'phase-start'>): void {
    if (number !== cycle && cycle > 0) addCycle(seq, number);
    cycle = number;
  }

  const addCycle = (seq: number, number: number): void =>
    void add(seq, [chain(), chain()], `Cycle ${number}`, { kind: 'cycle' });

  function transition({ seq, machine, event, target }: EntryOf<'transition'>): void {
    const isInit = event === 'xstate.init';
    if (machine === ACTION_LOOP && isInit && loop === 'none') loop = 'waiting';
    // A transition of the chain to another phase ends the loop.
    if (machine !== CHAIN || isInit || target.length === 0 || target.includes('action')) return;
    const isFailure = event.startsWith('xstate.error');
    const text = event.startsWith('xstate.done') ? 'done' : isFailure ? 'failed' : 'stopped';
    if (loop === 'running') add(seq, [caller(), chain()], text, { kind: 'return', isFailure });
    loop = 'none';
  }

  /** In the journals of other systems, deliveries name their actors. */
  function deliver({ seq, event, ...rest }: EntryOf<'delivery'>): void {
    const { actor: receiver, sender } = rest as { readonly actor?: string; readonly sender?: string | null };
    const from = receiver === undefined ? user() : sender == null ? actor('External', 'external') : actor(`${sender}`);
    add(seq, [from, receiver === undefined ? chain() : actor(`${receiver}`)], humanizeEvent(event.type));
  }

  function take(entry: JournalEntry): void {
    const { type, seq } = entry;
    if (type === 'delivery') deliver(entry);
    else if (type === 'transition') transition(entry);
    else if (type === 'phase-start') startPhase(entry);
    else if (type === 'call-start') startCall(entry);
    else if (type === 'call-event') endCall(entry);
    else if (type === 'text-delta') stream(entry);
    else if (type === 'attempt-retry') add(seq, [caller(), caller()], `retries in ${formatDuration(entry.delayMs)}`);
    else if (type === 'decision') add(seq, [chain(), chain()], `decides: ${entry.decision.nextPhase ?? 'the answer'}`);
    else if (type === 'direction-asked') add(seq, [chain(), user()], 'asks for a direction');
    else if (type === 'consent-asked') add(seq, [chain(), user()], 'asks for consent');
    else if (type === 'answer') add(seq, [chain(), user()], `answer: ${entry.answer.status}`, { kind: 'return' });
    else if (type === 'run-start') {
      add(seq, [user(), chain()], entry.request);
      addCycle(seq, 1);
    }
  }

  return { sequence: { actors, rows }, take };
}

/** Why a call failed; null if it did not. */
function problemOf(event: CallEvent): string | null {
  if (event.type === 'failed') return event.error.message;
  if (event.type === 'reply.ended') return event.reply.failure?.message ?? null;
  if (event.type === 'reply.lost') return 'the reply was lost';
  return null;
}
