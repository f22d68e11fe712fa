import type { Message } from '../../../machines/contracts/message.ts';

/** What was made of each message's content, in order; `make` gets the contents of which nothing was made yet, each once. */
type MessageMemo<Value> = (
  messages: readonly Message[],
  make: (contents: readonly string[]) => Promise<readonly Value[]>,
) => Promise<readonly Value[]>;

/**
 * Remembers what was made of messages. They are immutable, so it stays with a message as long as that lives, say for an undo; and
 * the next version of one with the same content (tagged, prioritised) takes it over from the call before. Where `make` rejects,
 * nothing is remembered, and the next call makes it again.
 */
export function createMessageMemo<Value>(): MessageMemo<Value> {
  const made = new WeakMap<Message, Value>();
  let before = new Map<string, Value>();

  const takeOver = (messages: readonly Message[], from: ReadonlyMap<string, Value>): void => {
    for (const message of messages) {
      const value = made.has(message) ? undefined : from.get(message.content);
      if (value !== undefined) made.set(message, value);
    }
  };

  return async (messages, make) => {
    takeOver(messages, before);
    const unknown = messages.filter((message) => !made.has(message));
    if (unknown.length > 0) {
      const contents = [...new Set(unknown.map(({ content }) => content))];
      const values = await make(contents);
      takeOver(unknown, new Map(contents.map((content, at) => [content, values[at] as Value])));
    }
    const all = messages.map((message) => made.get(message) as Value);
    before = new Map(messages.map(({ content }, at) => [content, all[at] as Value]));
    return all;
  };
}
