import type { JournalStore } from '../../machines/contracts/journal.ts';
import { openInspector } from './inspector.ts';
import { findRun, type JournalFlags, openJournals } from './open-journals.ts';

export interface InspectFlags extends JournalFlags {
  readonly port?: number;
}

/** `postchain inspect`: shows what is kept until Ctrl-C. Gives the exit code. */
export async function inspectCommand(
  name: string | undefined,
  flags: InspectFlags,
  { stderr }: Pick<NodeJS.Process, 'stderr'> = process,
): Promise<number> {
  const { journals, runId } = await whatIsShown(name, flags);
  const inspector = await openInspector({ journals, port: flags.port }, stderr);
  stderr.write(`Programs of XState, by @statelyai/inspect: ${inspector.statelyUrl}\n`);
  if (runId !== null) inspector.choose(runId);
  await inspector.stay();
  await inspector.close();
  return 0;
}

/** Throws for what cannot be shown at all; a journal that is damaged further on is shown as far as it is whole. */
async function whatIsShown(name: string | undefined, flags: JournalFlags) {
  if (name === undefined) {
    const journals = openJournals(flags);
    await journals.list();
    return { journals, runId: null };
  }
  const { store, runId, isFile } = await findRun(name, flags);
  await requireBeginning(store, runId);
  // A file lists itself by its whole path.
  return { journals: store, runId: isFile ? ((await store.list())[0]?.runId ?? runId) : runId };
}

async function requireBeginning(store: JournalStore, runId: string): Promise<void> {
  for await (const _ of store.read(runId)) return;
}
