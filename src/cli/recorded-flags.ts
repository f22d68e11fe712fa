import { z } from 'zod';
import { PostChainError } from '../../machines/contracts/error.ts';
import type { RunStart } from '../../machines/contracts/journal-entry.ts';
import { oneLine } from '../internal/printable.ts';
import type { FoundRun } from './open-journals.ts';
import type { RunFlags } from './prepare-run.ts';

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

export interface GivenFlags extends RunFlags {
  /** Opens what a journal file names, too. */
  readonly trust?: boolean;
}

/**
 * What a run was begun with, out of its journal, for what is not given anew. A file may come from anybody: what it names of documents,
 * servers and sessions is opened only where it is trusted. Throws `invalid_journal` for what cannot be read, and `invalid_option` for what
 * is not trusted.
 */
export async function recordedFlags({ store, runId, isFile }: FoundRun, given: GivenFlags): Promise<RecordedFlags> {
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
