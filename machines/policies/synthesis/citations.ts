import type { Message } from '../../contracts/message.ts';
import type { Citation } from '../../contracts/synthesis.ts';
import { preview } from '../summary.ts';

/** The sources of the messages used, each once, in the order of use. */
export function citations(messages: readonly Message[], used: readonly string[]): readonly Citation[] {
  const byId = new Map(messages.map((message) => [message.id, message]));
  return [...new Set(used)].flatMap((id) => {
    const message = byId.get(id);
    return message?.source ? [{ ...message.source, messageId: id, quote: preview(message.content, 160) }] : [];
  });
}
