import { closeSqliteFile } from '../sqlite-file.ts';
import type { SessionFile } from './session-file.ts';
import { whileBusy } from './while-busy.ts';

/** A connection that is opened when it is first asked for, once for all who ask, and after a failure again. */
export function createConnection(open: () => SessionFile) {
  let opening: Promise<SessionFile> | null = null;
  let file: SessionFile | null = null;
  let closed = false;

  const begin = async (): Promise<SessionFile> => {
    try {
      file = await whileBusy(open);
      if (closed) closeSqliteFile(file);
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
      if (!closed && file !== null) closeSqliteFile(file);
      closed = true;
      file = null;
      opening = null;
    },
  };
}
