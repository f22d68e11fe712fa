import type { Message } from '../../contracts/message.ts';
import { eachStem, stemsOf } from '../../text/terms.ts';

/** What relevance reads in a message: how often each content word stands in it, the names in it, and who speaks. */
export interface MessageTerms {
  readonly counts: ReadonlyMap<string, number>;
  /** Content words, repetitions included. */
  readonly length: number;
  /** Stems of words with a capital letter, and of numbers of three digits and more: what a text is about by name. */
  readonly names: ReadonlySet<string>;
  /** Stems of the name before the colon, where a message begins with one: "Ada Lovelace: …". */
  readonly speaker: readonly string[];
}

/** Of a longer message only the beginning is read. */
const MAX_CHARS = 100_000;
const NAME = /^(?:\p{Lu}|\p{N}{3})/u;
const SPEAKER = /^\s*(\p{Lu}[\p{L}\p{M}.’'-]{0,30}(?: \p{Lu}[\p{L}\p{M}.’'-]{0,30}){0,2}):\s/u;

/** A message never changes, so it is read once, however often the context is evaluated. */
const known = new WeakMap<Message, MessageTerms>();

export function termsOfMessage(message: Message): MessageTerms {
  const read = known.get(message);
  if (read !== undefined) return read;
  const terms = readTerms(message.content.slice(0, MAX_CHARS));
  known.set(message, terms);
  return terms;
}

function readTerms(content: string): MessageTerms {
  const label = SPEAKER.exec(content);
  const counts = new Map<string, number>();
  const names = new Set<string>();
  let length = 0;
  eachStem(label === null ? content : content.slice(label[0].length), (stem, surface) => {
    counts.set(stem, (counts.get(stem) ?? 0) + 1);
    if (NAME.test(surface)) names.add(stem);
    length += 1;
  });
  return { counts, length, names, speaker: stemsOf(label?.[1] ?? '') };
}
