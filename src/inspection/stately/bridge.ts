import type { JournalEntry } from '../../../machines/contracts/journal-entry.ts';
import type { Run } from '../../engine/runtime/run.ts';
import { openInspectorSocket } from './inspector-socket.ts';
import { journalMessages, type StatelyMessage } from './journal-messages.ts';

/** A run under way, or the entries of one that was recorded. */
export type BridgedRun = Pick<Run, 'events'> | Iterable<JournalEntry> | AsyncIterable<JournalEntry>;

export interface StatelyBridge {
  /** Nothing more is sent. */
  close(): void;
  /**
   * Resolves when the run has ended and all of it is sent, or after `close()`. Rejects with what `to` threw, with `invalid_option` where
   * there is no connection or it breaks, and with `invalid_journal` where a recording cannot be read. The run never notices.
   */
  readonly done: Promise<void>;
}

/**
 * Shows a run of a chain in Stately's inspector, or in any that takes its messages: `to` is the URL of a WebSocket, as
 * `createInspectorServer` of `@statelyai/inspect/server` opens one, or a function that is given each message.
 */
export function statelyBridge(run: BridgedRun, to: string | URL | ((message: StatelyMessage) => void)): StatelyBridge {
  let isClosed = false;
  let close = (): void => {};
  const closed = new Promise<void>((resolve) => {
    close = () => {
      isClosed = true;
      resolve();
    };
  });
  const pump = async (send: (message: StatelyMessage) => Promise<void> | void): Promise<void> => {
    const messagesOf = journalMessages();
    for await (const entry of 'events' in run ? run.events : run) {
      if (isClosed) return;
      if (entry.type !== 'partial') for (const message of messagesOf(entry)) await send(message);
    }
  };
  const pumpInto = async (url: string): Promise<void> => {
    const socket = await openInspectorSocket(url);
    try {
      const sent = pump((message) => socket.send(JSON.stringify(message)));
      await Promise.race([sent, socket.broken, closed]);
    } finally {
      isClosed = true;
      await socket.close();
    }
  };
  const done =
    typeof to === 'function' ? Promise.race([pump(to), closed]) : Promise.race([pumpInto(String(to)), closed]);
  // Nobody has to wait for it.
  done.catch(() => {});
  return { close, done };
}
