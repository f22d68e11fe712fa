import type { Connection } from './connection.ts';

export interface Reconnecting {
  /** Aborts when it is closed. */
  readonly closed: AbortSignal;
  /** The connection; where it is gone, a new one. */
  get(): Promise<Connection>;
  /** Marks a connection as gone, so that the next `get` makes a new one. */
  drop(connection: Connection): Promise<void>;
  /** Ends what there is, and refuses every later `get`. Never rejects. */
  close(): Promise<void>;
}

/** Keeps one connection. When it is gone, who next asks for it makes a new one; however many ask, one at a time. */
export function reconnecting(first: Connection, open: (signal: AbortSignal) => Promise<Connection>): Reconnecting {
  const closing = new AbortController();
  let current = first;
  let opening: Promise<Connection> | null = null;
  const reopen = async (): Promise<Connection> => {
    try {
      await current.end(true);
      current = await open(closing.signal);
      return current;
    } finally {
      opening = null;
    }
  };
  return {
    closed: closing.signal,
    get: async () => {
      closing.signal.throwIfAborted();
      if (!current.gone.aborted) return current;
      opening ??= reopen();
      return opening;
    },
    drop: (connection) => connection.end(true),
    close: async () => {
      closing.abort(new Error('it was closed'));
      await opening?.catch(() => {});
      await current.end(false);
    },
  };
}
