import type { Attachment } from '../contracts/attachment.ts';
import type { Message } from '../contracts/message.ts';
import type { ChatModel } from '../contracts/model.ts';
import { phaseSchema } from '../contracts/phase.ts';
import { TOKENS_PER_CHAR } from './usage.ts';

/** A file and the message that it first occurs in. */
export interface PlacedAttachment {
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

/** Whether a model accepts a file, by its media type. */
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

/** Returns the estimated tokens of a file in a prompt: a constant per image, a share of the bytes of any other file. */
function attachmentTokens({ mediaType, bytes }: Attachment): number {
  if (mediaType.startsWith('image/')) return IMAGE_TOKENS;
  return Math.ceil(IS_TEXT.test(mediaType) ? bytes * TOKENS_PER_CHAR : bytes / BYTES_PER_TOKEN);
}

/** Returns the estimated tokens of all files. */
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

/** Returns a text, followed by a line that lists its files. */
export function withLabels(text: string, attachments: readonly Attachment[] = []): string {
  return attachments.length === 0 ? text : `${text}\n${attachmentLabels(attachments)}`;
}

/** Returns a message without its files; its text lists them instead. */
export function withoutFiles({ attachments, ...message }: Message): Message {
  return { ...message, content: withLabels(message.content, attachments) };
}
