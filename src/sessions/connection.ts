import type { SessionFile } from './session-file.ts';
import { whileBusy } from './while-busy.ts';

/** A connection that is opened when it is first asked for, once for all who ask, and after a failure again. */
export function createConnection(open: () => Promise<SessionFile>) {
  let opening: Promise<SessionFile> | null = null;
  let file: SessionFile | null = null;
  let closed = false;

  const begin = async (): Promise<SessionFile> => {
    try {
      file = await whileBusy(open);
      if (closed) closeFile(file);
      return file;
    } catch (error) {
      opening = null;
      throw error;
    }
  };
  return {
    async get(): Promise<SessionFile> {
      if (!closed) opening ??= begin();
      const opened = await opening;
      if (opened === null || closed) throw new Error('it was closed');
      return opened;
    },
    close(): void {
      if (!closed && file !== null) closeFile(file);
      closed = true;
      file = null;
      opening = null;
    },
  };
}

/** Everything goes into the file itself, so that it can be copied without those beside it. */
function closeFile(file: SessionFile): void {
  try {
    file.pragma('wal_checkpoint(TRUNCATE)');
  } catch {
    // Another process holds the file: what is beside it is read with it.
  } finally {
    file.close();
  }
}
