import type { Attachment, Message, Source } from '../contracts/message.ts';
import type { ChatModel } from '../contracts/model.ts';
import { phaseSchema } from '../contracts/phase.ts';
import { memoize } from '../text/memoize.ts';
import { TOKENS_PER_CHAR, tokensPerCharOf } from './usage.ts';

interface PlacedAttachment {
  readonly attachment: Attachment;
  readonly messageId: string;
}

/** Returns the files of messages, in order, each once. */
export function attachmentsOf(messages: readonly Pick<Message, 'id' | 'attachments'>[]): readonly PlacedAttachment[] {
  const found = new Map<string, PlacedAttachment>();
  for (const { id: messageId, attachments = [] } of messages)
    for (const attachment of attachments)
      if (!found.has(attachment.digest)) found.set(attachment.digest, { attachment, messageId });
  return [...found.values()];
}

/**
 * Returns the files that the model of a task sees; `input` is the input of the prompt. Every phase sees them, because their prompts
 * begin alike so that providers cache them.
 */
export function shownAttachments(task: string, input: unknown): readonly Attachment[] {
  const { messages } = Object(input) as { readonly messages?: unknown };
  if (!phaseSchema.safeParse(task).success || !Array.isArray(messages)) return [];
  return attachmentsOf(messages as readonly Message[]).map(({ attachment }) => attachment);
}

export function acceptsFile({ accepts = [] }: Pick<ChatModel, 'accepts'>, { mediaType }: Attachment): boolean {
  const kind = `${mediaType.split('/', 1)[0]}/*`;
  return accepts.some((pattern) => [mediaType, kind, '*/*'].includes(pattern.toLowerCase()));
}

/**
 * The most tokens that Anthropic counts for an image of standard resolution; OpenAI and Google count fewer for most images.
 *
 * @see https://docs.claude.com/en/docs/build-with-claude/vision
 */
const IMAGE_TOKENS = 1_600;

/** For a PDF page of 100 kB, this gives about 3,000 tokens, the most that Anthropic expects for a page. */
const BYTES_PER_TOKEN = 32;

const IS_TEXT = /^text\/|[/+](?:json|xml|yaml)$/u;

function attachmentTokens({ mediaType, bytes }: Attachment): number {
  if (mediaType.startsWith('image/')) return IMAGE_TOKENS;
  return Math.ceil(IS_TEXT.test(mediaType) ? bytes * TOKENS_PER_CHAR : bytes / BYTES_PER_TOKEN);
}

export function tokensOfFiles(attachments: readonly Attachment[] = []): number {
  return attachments.reduce((sum, attachment) => sum + attachmentTokens(attachment), 0);
}

/** Returns a label for a file in text, for example `photo.png (image/png, 34 kB)`. */
export function attachmentLabel({ name, mediaType, bytes }: Attachment): string {
  const size =
    bytes < 1_000 ? `${bytes} B` : bytes < 1e6 ? `${Math.round(bytes / 1e3)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
  return name === null ? `${mediaType}, ${size}` : `${name} (${mediaType}, ${size})`;
}

/** Returns a line that lists files, for example `[Attached: photo.png (image/png, 34 kB)]`. */
export function attachmentLabels(attachments: readonly Attachment[]): string {
  return `[Attached: ${attachments.map(attachmentLabel).join('; ')}]`;
}

export function withLabels(text: string, attachments: readonly Attachment[] = []): string {
  return attachments.length === 0 ? text : `${text}\n${attachmentLabels(attachments)}`;
}

/** Returns a message without its files; its text lists them instead. */
export function withoutFiles({ attachments, ...message }: Message): Message {
  return { ...message, content: withLabels(message.content, attachments) };
}

export function messageAttributes({
  id,
  role,
  phase,
  source,
  attachments = [],
}: Pick<Message, 'id' | 'role' | 'phase' | 'source' | 'attachments'>): string {
  const where = source === null ? '' : ` source="${attribute(source.path)}${after(':', lineRange(source))}"`;
  const files = attachments.map(({ name, mediaType }) => attribute(name ?? mediaType)).join(', ');
  return `id="${attribute(id)}" role="${role}"${phase === null ? '' : ` phase="${phase}"`}${where}${files === '' ? '' : ` files="${files}"`}`;
}

/** Returns the lines of a source as `from-to`; empty if it has none. */
export function lineRange({ startLine, endLine = startLine }: Source): string {
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

/** Returns the size of what the most detailed prompt adds to a message's content. */
const attributeSize = memoize((message: Message): Size => {
  const text = `${messageAttributes(message)} id="${attribute(message.id)}" ${retentionAttributes(message, MANY_USES, LATER)}`;
  return { chars: TAG_CHARS + text.length, tokensPerChar: tokensPerCharOf([text]) };
});

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
