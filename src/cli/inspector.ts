import type { JournalStore } from '../../machines/contracts/journal.ts';
import type { Run } from '../engine/runtime/run.ts';
import { inspectionServer } from '../inspection/inspection-server.ts';
import { untilStopped } from './signals.ts';

/** The inspector of one command. */
export interface Inspector {
  readonly statelyUrl: string;
  watch(run: Run): void;
  choose(runId: string): void;
  /** Stays open until Ctrl-C. */
  stay(): Promise<void>;
  close(): Promise<void>;
}

/** Opens it, and says where it is. Rejects with `invalid_option` for a port that is in use. */
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
      out.write('The inspector stays open; Ctrl-C ends it.\n');
      await untilStopped();
    },
    close,
  };
}
