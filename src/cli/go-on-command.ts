import { z } from 'zod';
import { PostChainError } from '../../machines/contracts/error.ts';
import type { RunStart } from '../../machines/contracts/journal.ts';
import { oneLine } from '../internal/printable.ts';
import { entriesOf } from '../journal/journal-lines.ts';
import { type FoundRun, findRun } from './open-journals.ts';
import { prepareRun, type RunFlags } from './prepare-run.ts';
import { playRun, type Streams } from './run-command.ts';

export interface ForkFlags extends GivenFlags {
  readonly at: number;
  readonly set?: readonly string[];
}

/** `postchain resume`: goes on with a run whose process ended. What it was prepared by is taken from its journal, and can be given anew. */
export async function resumeCommand(name: string, flags: GivenFlags, streams: Streams = process): Promise<number> {
  const found = await findRun(name, flags);
  const prepared = await prepareRun({ ...(await recordedFlags(found, flags)), ...flags }, found.store);
  return playRun(prepared, flags, streams, ({ chain }) => chain.resume(found.runId));
}

/** `postchain fork`: another run that is this one up to an entry. */
export async function forkCommand(name: string, flags: ForkFlags, streams: Streams = process): Promise<number> {
  const { at, set = [], ...others } = flags;
  const changes = Object.fromEntries(set.map(readChange));
  const found = await findRun(name, flags);
  const entries = await entriesOf(found.store.read(found.runId));
  // The session is its run's: what might have been said is not remembered in it.
  const { session: _, sessionFile: __, ...recorded } = await recordedFlags(found, flags);
  const prepared = await prepareRun({ ...recorded, ...others });
  return playRun(prepared, flags, streams, ({ chain }) => chain.fork(entries, { at, set: changes }));
}

/** `path=value`: the value is JSON, or else a text. */
function readChange(text: string): readonly [string, unknown] {
  const at = text.indexOf('=');
  if (at < 1)
    throw new PostChainError(
      'invalid_option',
      `--set: got "${text}"; wanted path=value, say thresholds.confidence=0.5.`,
    );
  const value = text.slice(at + 1);
  try {
    return [text.slice(0, at), JSON.parse(value)];
  } catch {
    return [text.slice(0, at), value];
  }
}

/** What a journal says that its run was prepared by: nothing else in it reaches the command line. */
const recordedFlagsSchema = z.object({
  model: z.string().optional(),
  fallbackModel: z.array(z.string()).optional(),
  docs: z.array(z.string()).optional(),
  capability: z.array(z.enum(['calculator', 'current_time', 'search_documents', 'read_passage'])).optional(),
  mcp: z.array(z.string()).optional(),
  sessionFile: z.string().optional(),
});
type RecordedFlags = Pick<RunFlags, keyof z.infer<typeof recordedFlagsSchema> | 'session'>;

interface GivenFlags extends RunFlags {
  /** Opens what a journal file names, too. */
  readonly trust?: boolean;
}

/**
 * What a run was begun with, out of its journal, for what is not given anew. A file may come from anybody: what it names of documents,
 * servers and sessions is opened only where it is trusted. Throws `invalid_journal` for what cannot be read, and `invalid_option` for what
 * is not trusted.
 */
async function recordedFlags({ store, runId, isFile }: FoundRun, given: GivenFlags): Promise<RecordedFlags> {
  const start = await startIn(store.read(runId));
  const recorded = start?.host?.['flags'];
  if (start === null || recorded === undefined) return {};
  const read = recordedFlagsSchema.safeParse(recorded);
  if (!read.success)
    throw new PostChainError(
      'invalid_journal',
      `${runId}: what its run was begun with cannot be read; wanted the flags of "postchain run".`,
    );
  // JSON has no undefined.
  const known = read.data as RecordedFlags;
  const flags: RecordedFlags = { ...known, ...(start.sessionId !== null && { session: start.sessionId }) };
  if (isFile && given.trust !== true) requireNothingOpened(runId, flags, given);
  return flags;
}

async function startIn(entries: AsyncIterable<unknown>): Promise<RunStart | null> {
  for await (const entry of entries) return entry as RunStart;
  return null;
}

const OPENED = ['docs', 'mcp', 'session', 'sessionFile'] as const;

function requireNothingOpened(file: string, flags: RecordedFlags, given: RunFlags): void {
  const named = OPENED.filter((name) => flags[name] !== undefined && given[name] === undefined);
  if (named.length === 0) return;
  const wanted = named.flatMap((name) => [flags[name] ?? []].flat().map((value) => `${name} ${JSON.stringify(value)}`));
  throw new PostChainError(
    'invalid_option',
    oneLine(
      `${file} wants opened: ${wanted.join(', ')}; a journal file may come from anybody: give --docs and --mcp yourself, or --trust where you know the file.`,
    ),
  );
}
