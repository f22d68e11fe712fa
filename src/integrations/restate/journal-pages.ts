import type { WorkflowContext, WorkflowSharedContext } from '@restatedev/restate-sdk';
import { z } from 'zod';
import type { JournalEntry } from '../../../machines/contracts/journal.ts';
import { invalidOption } from '../../internal/options.ts';
import { foldStatus, newStatus, type RunStatus } from './run-status.ts';
import { terminal } from './terminal.ts';

const requestSchema = z.strictObject({ from: z.int().min(0).optional() });

/** Which entries are wanted: those from this `seq` on, 0 by default. */
export type JournalRequest = z.input<typeof requestSchema>;

export interface JournalPage {
  readonly entries: readonly JournalEntry[];
  /** Where to go on reading. */
  readonly next: number;
  /** Whether the run is over and this is all of it. */
  readonly isEnd: boolean;
}

const STATUS = 'status';
const PAGE = 'entries-';

/** A page is full with the part that makes it this many characters long. */
const FULL_CHARS = 1_000_000;

/** Keeps a run's entries in the state of its workflow, each once, under the `seq` of the first of them. */
export function journalKeeper(ctx: WorkflowContext): (entries: readonly JournalEntry[]) => void {
  let status = newStatus(ctx.key);
  return (entries) => {
    ctx.set(`${PAGE}${status.entries}`, entries);
    status = entries.reduce(foldStatus, status);
    ctx.set(STATUS, status);
  };
}

/** Null for a run that has not begun. */
export function readStatus(ctx: WorkflowSharedContext): Promise<RunStatus | null> {
  return ctx.get<RunStatus>(STATUS);
}

/** What is settled of a run, page by page. Throws a terminal error of code 400 for what asks for no entries. */
export async function readPage(ctx: WorkflowSharedContext, asked: JournalRequest): Promise<JournalPage> {
  const read = requestSchema.safeParse(asked ?? {});
  if (!read.success) throw terminal(invalidOption('The request', asked, read.error, requestSchema));
  const { from = 0 } = read.data;
  const status = await readStatus(ctx);
  const entries: JournalEntry[] = [];
  let chars = 0;
  for (const first of partsFrom(from, await ctx.stateKeys())) {
    const part = (await ctx.get<readonly JournalEntry[]>(`${PAGE}${first}`)) ?? [];
    entries.push(...part.filter(({ seq }) => seq >= from));
    chars += JSON.stringify(part).length;
    if (chars >= FULL_CHARS) break;
  }
  const next = from + entries.length;
  return { entries, next, isEnd: status !== null && status.status !== 'running' && next >= status.entries };
}

/** The parts with an entry of this number or a later one, by the number of their first. */
function partsFrom(from: number, keys: readonly string[]): readonly number[] {
  const firsts = keys.filter((key) => key.startsWith(PAGE)).map((key) => Number(key.slice(PAGE.length)));
  firsts.sort((one, other) => one - other);
  return firsts.filter((_, index) => (firsts[index + 1] ?? Number.POSITIVE_INFINITY) > from);
}
