import type { Message } from '../../../machines/contracts/message.ts';
import type { ObservationReply } from '../../../machines/contracts/phases/observation.ts';
import { stemsOf } from '../../../machines/text/terms.ts';
import { namesIn } from './names.ts';

const MAX_ENTITIES = 12;
const MAX_NAME_CHARS = 80;

/** The names that recur in the messages (capitalised phrases and code spans), those in most messages first. */
export function entitiesOf(messages: readonly Message[]): ObservationReply['entities'] {
  const found = new Map<string, { name: string; times: number; messageIds: Set<string> }>();
  for (const { id, content } of messages) {
    for (const name of namesIn(content)) {
      const key = name.toLowerCase();
      if (name.length > MAX_NAME_CHARS) continue;
      const entity = found.get(key) ?? { name, times: 0, messageIds: new Set<string>() };
      entity.times += 1;
      entity.messageIds.add(id);
      found.set(key, entity);
    }
  }
  return [...found.values()]
    .filter(({ name, times }) => times > 1 && stemsOf(name).length > 0)
    .sort((left, right) => right.messageIds.size - left.messageIds.size || right.times - left.times)
    .slice(0, MAX_ENTITIES)
    .map(({ name, messageIds }) => ({ name, messageIds: [...messageIds] }));
}
