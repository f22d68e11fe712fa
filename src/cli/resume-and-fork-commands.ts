import { z } from 'zod';
import { PostChainError } from '../../machines/contracts/error.ts';
import type { JournalEntry, RunStart } from '../../machines/contracts/journal.ts';
import { oneLine } from '../internal/printable.ts';
import { entriesOf, runStartOf } from '../journal/journal-lines.ts';
import { type FoundRun, findRun } from './find-run.ts';
import { prepareRun, type RunFlags } from './prepare-run.ts';
import { completeRun, type Streams } from './run-command.ts';

interface ContinueFlags extends RunFlags {
  /** Opens what a journal file names. */
  readonly trust?: boolean;
}

export interface ForkFlags extends ContinueFlags {
  readonly at: number;
  readonly set?: readonly string[];
}

/** `postchain resume`: continues an interrupted run with its recorded flags, unless overridden. Returns the exit code. */
export async function resumeCommand(name: string, flags: ContinueFlags, streams: Streams = process): Promise<number> {
  const found = await findRun(name, flags);
  const prepared = await prepareRun({ ...(await recordedFlags(found, flags)), ...flags }, found.store);
  return completeRun(prepared, flags, streams, ({ chain }) => chain.resume(found.runId));
}

/** `postchain fork`: starts a new run that is identical up to an entry. Returns the exit code. */
export async function forkCommand(name: string, flags: ForkFlags, streams: Streams = process): Promise<number> {
  const { at, set = [], ...others } = flags;
  const changes = Object.fromEntries(set.map(parseChange));
  const found = await findRun(name, flags);
  const entries = await entriesOf(found.store.read(found.runId));
  // A fork is not added to the session of the original run.
  const { session: _, sessionFile: __, ...recorded } = await recordedFlags(found, flags);
  const prepared = await prepareRun({ ...recorded, ...others });
  return completeRun(prepared, flags, streams, ({ chain }) => chain.fork(entries, { at, set: changes }));
}

/** Parses `path=value`. The value is JSON or, failing that, text. */
function parseChange(text: string): readonly [string, unknown] {
  const at = text.indexOf('=');
  if (at < 1)
    throw new PostChainError(
      'invalid_option',
      `--set expects path=value, for example thresholds.confidence=0.5; received "${text}"`,
    );
  const value = text.slice(at + 1);
  try {
    return [text.slice(0, at), JSON.parse(value)];
  } catch {
    return [text.slice(0, at), value];
  }
}

/** The flags that a journal records. Other fields of a journal never become flags. */
const recordedFlagsSchema = z.object({
  model: z.string().optional(),
  fallbackModel: z.array(z.string()).optional(),
  docs: z.array(z.string()).optional(),
  capability: z.array(z.enum(['calculator', 'current_time', 'search_documents', 'read_passage'])).optional(),
  mcp: z.array(z.string()).optional(),
  sessionFile: z.string().optional(),
});
type RecordedFlags = Pick<RunFlags, keyof z.infer<typeof recordedFlagsSchema> | 'session'>;

/**
 * Returns the flags recorded in a journal. Since anyone may have written a journal file, the documents, servers and sessions that it names
 * require `--trust` or must be given as flags. Throws `invalid_journal` for unreadable flags and `invalid_option` for untrusted ones.
 */
async function recordedFlags({ store, runId, isFile }: FoundRun, given: ContinueFlags): Promise<RecordedFlags> {
  const start = await firstEntry(store.read(runId));
  const recorded = start.host?.['flags'];
  if (recorded === undefined) return {};
  const parsed = recordedFlagsSchema.safeParse(recorded);
  if (!parsed.success)
    throw new PostChainError(
      'invalid_journal',
      `Run ${runId} has invalid recorded flags; expected those of "postchain run"`,
    );
  // JSON has no undefined.
  const known = parsed.data as RecordedFlags;
  const flags: RecordedFlags = { ...known, ...(start.sessionId !== null && { session: start.sessionId }) };
  if (isFile && given.trust !== true) requireTrust(runId, flags, given);
  return flags;
}

async function firstEntry(entries: AsyncIterable<JournalEntry>): Promise<RunStart> {
  for await (const entry of entries) return runStartOf([entry]);
  return runStartOf([]);
}

const TRUSTED = ['docs', 'mcp', 'session', 'sessionFile'] as const;

function requireTrust(file: string, flags: RecordedFlags, given: RunFlags): void {
  const names = TRUSTED.filter((name) => flags[name] !== undefined && given[name] === undefined);
  if (names.length === 0) return;
  const listed = names.flatMap((name) => [flags[name] ?? []].flat().map((value) => `${name} ${JSON.stringify(value)}`));
  throw new PostChainError(
    'invalid_option',
    oneLine(`${file} opens ${listed.join(', ')}; pass --trust if you trust the file, or --docs and --mcp yourself`),
  );
}
