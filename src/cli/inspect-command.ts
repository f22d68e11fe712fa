import { once } from 'node:events';
import type { JournalStore } from '../../machines/contracts/journal.ts';
import type { Run } from '../engine/runtime/run.ts';
import { inspectionServer } from '../inspection/inspection-server.ts';
import { findRun, type JournalFlags, openJournals } from './find-run.ts';

export interface InspectFlags extends JournalFlags {
  readonly port?: number;
}

/** `postchain inspect`: serves recorded runs until Ctrl-C. Returns the exit code. */
export async function inspectCommand(
  name: string | undefined,
  flags: InspectFlags,
  { stderr }: Pick<NodeJS.Process, 'stderr'> = process,
): Promise<number> {
  const { journals, runId } = await findJournals(name, flags);
  const inspector = await openInspector({ journals, port: flags.port }, stderr);
  stderr.write(`Endpoint for @statelyai/inspect: ${inspector.statelyUrl}\n`);
  if (runId !== null) inspector.choose(runId);
  await inspector.stay();
  await inspector.close();
  return 0;
}

/** Throws if nothing can be shown. A journal that is damaged further on is shown up to the damage. */
async function findJournals(name: string | undefined, flags: JournalFlags) {
  if (name === undefined) {
    const journals = openJournals(flags);
    await journals.list();
    return { journals, runId: null };
  }
  const { store, runId, isFile } = await findRun(name, flags);
  for await (const _ of store.read(runId)) break;
  // A file lists itself by its absolute path.
  return { journals: store, runId: isFile ? ((await store.list())[0]?.runId ?? runId) : runId };
}

export interface Inspector {
  readonly statelyUrl: string;
  watch(run: Run): void;
  choose(runId: string): void;
  /** Resolves at Ctrl-C or SIGTERM. */
  stay(): Promise<void>;
  close(): Promise<void>;
}

/** Starts the inspector and prints its address. Rejects with `invalid_option` if the port is in use. */
export async function openInspector(
  { journals, port = 0 }: { readonly journals: JournalStore; readonly port?: number | undefined },
  out: NodeJS.WriteStream,
): Promise<Inspector> {
  const { url, statelyUrl, watch, choose, close } = await inspectionServer({ journals, port });
  out.write(`Inspector: ${url}\n`);
  return {
    statelyUrl,
    watch,
    choose,
    async stay() {
      out.write('Press Ctrl-C to stop the inspector.\n');
      await untilStopped();
    },
    close,
  };
}

async function untilStopped(): Promise<void> {
  const listening = new AbortController();
  await Promise.race(['SIGINT', 'SIGTERM'].map((name) => once(process, name, { signal: listening.signal })));
  listening.abort();
}
