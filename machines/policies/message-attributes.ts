import type { Message, Source } from '../contracts/message.ts';
import { tokensOfFiles } from './attachments.ts';
import { tokensPerCharOf } from './usage.ts';

/** Returns the attributes of a message that every prompt prints. */
export function messageAttributes({
  id,
  role,
  phase,
  source,
  attachments = [],
}: Pick<Message, 'id' | 'role' | 'phase' | 'source' | 'attachments'>): string {
  const where = source === null ? '' : ` source="${attribute(source.path)}${after(':', linesOf(source))}"`;
  const files = attachments.map(({ name, mediaType }) => attribute(name ?? mediaType)).join(', ');
  return `id="${attribute(id)}" role="${role}"${phase === null ? '' : ` phase="${phase}"`}${where}${files === '' ? '' : ` files="${files}"`}`;
}

/** Returns the lines of a source as `from-to`; empty if it has none. */
export function linesOf({ startLine, endLine = startLine }: Source): string {
  return startLine === undefined ? '' : `${startLine}-${endLine}`;
}

const after = (separator: string, text: string): string => (text === '' ? '' : `${separator}${text}`);

/** Tags, links and references of a message that a prompt shows. */
const SHOWN_ITEMS = 8;

const UNRATED = 0.5;

/**
 * Returns what decides whether to keep a message, besides its content; empty if nothing is known about it. `uses` is how many messages
 * refer to it. The cycle is only given if it is before `currentCycle`, the importance only if it was rated.
 */
export function retentionAttributes(
  { cycle, importance, tags, links, references }: Message,
  uses: number,
  currentCycle: number,
): string {
  const values = [
    ['cycle', cycle < currentCycle ? cycle : null],
    ['importance', importance === UNRATED ? null : Math.round(importance * 100) / 100],
    ['uses', uses === 0 ? null : uses],
  ] as const;
  const lists = [
    ['tags', tags],
    ['links', links.map(({ to, relation }) => `${relation} ${to}`)],
    ['from', references],
  ] as const;
  return [
    ...values.flatMap(([name, value]) => (value === null ? [] : [`${name}="${value}"`])),
    ...lists.flatMap(([name, items]) =>
      items.length === 0 ? [] : [`${name}="${items.slice(0, SHOWN_ITEMS).map(attribute).join(', ')}"`],
    ),
  ].join(' ');
}

/** Replaces what could end the attribute or the tag. A bare machine's value may not be a string. */
export function attribute(value: string): string {
  return String(value).replace(/[<>"&\s]+/g, (found) => (/[<>"&]/.test(found) ? '_' : ' '));
}

/** Characters of the tags and line breaks around a message, and of the line break in the list of messages. */
const TAG_CHARS = '<message >\n\n</message>\n\n'.length;
/** The longest values: the real number of uses depends on other messages, and the cycle is printed only in later cycles. */
const MANY_USES = 99_999;
const LATER = Number.POSITIVE_INFINITY;

interface Size {
  readonly chars: number;
  /** Estimated by script. */
  readonly tokensPerChar: number;
}

const known = new WeakMap<Message, Size>();

/** Returns the size of what the most detailed prompt adds to a message's content. Cached: messages are immutable. */
function attributeSize(message: Message): Size {
  const cached = known.get(message);
  if (cached !== undefined) return cached;
  const text = `${messageAttributes(message)} id="${attribute(message.id)}" ${retentionAttributes(message, MANY_USES, LATER)}`;
  const size = { chars: TAG_CHARS + text.length, tokensPerChar: tokensPerCharOf([text]) };
  known.set(message, size);
  return size;
}

/** Returns the characters that the most detailed prompt adds to a message's content. */
export const attributeChars = (message: Message): number => attributeSize(message).chars;

/** Attributes are mostly ids, numbers and punctuation, which have more tokens per character than prose. */
const ATTRIBUTE_FACTOR = 1.6;

/**
 * Returns the estimated tokens that a prompt adds to a message's content: its attributes and its files. `tokensPerChar` is
 * that of the context.
 */
export function addedTokens(message: Message, tokensPerChar: number): number {
  const size = attributeSize(message);
  const attributes = size.chars * Math.max(ATTRIBUTE_FACTOR * size.tokensPerChar, tokensPerChar);
  return attributes + tokensOfFiles(message.attachments);
}
