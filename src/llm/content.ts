import * as z from 'zod/mini';
import { PostChainError } from '../../machines/contracts/error.ts';
import type { JournalEntry } from '../../machines/contracts/journal.ts';
import type { AttachedFile, Attachment } from '../../machines/contracts/message.ts';
import type { ChatModel } from '../../machines/contracts/model.ts';
import { acceptsFile, attachmentLabel, attachmentLabels } from '../../machines/policies/message-parts.ts';
import { clippedLine } from '../../machines/text/clip.ts';
import { wideDigest } from '../../machines/text/hash.ts';
import { isThenable } from '../internal/async.ts';
import { base64Of } from '../internal/base64.ts';
import { describeValue } from '../internal/describe-value.ts';

/**
 * The content of a file: bytes, Base64 text or a `data:` URL, or an object that contains one of these, as in AI SDK 7. Other URLs are
 * rejected, because PostChain downloads nothing.
 */
export type FileData =
  | PlainFileData
  | { readonly type: 'data'; readonly data: PlainFileData }
  | { readonly type: 'url'; readonly url: URL }
  | { readonly type: 'text'; readonly text: string };

type PlainFileData = Uint8Array | ArrayBuffer | string | URL;

/**
 * A text or a file, as in messages of the AI SDK. If `mediaType` is omitted, it is taken from the `data:` URL or detected from the bytes
 * (PNG, JPEG, GIF, WebP and PDF).
 */
export type ContentPart =
  | { readonly type: 'text'; readonly text: string }
  | {
      readonly type: 'image';
      readonly image: FileData;
      readonly mediaType?: string | undefined;
      readonly filename?: string | undefined;
    }
  | {
      readonly type: 'file';
      readonly data: FileData;
      readonly mediaType?: string | undefined;
      readonly filename?: string | undefined;
    };

/** A text, or a list of texts, images and files. */
export type Content = string | readonly ContentPart[];

/** Checks only the kind of value: `readContent` validates the parts. */
export const contentSchema = z.custom<Content>(
  (content) => typeof content === 'string' || Array.isArray(content),
  'expected a string or an array of parts',
);

export interface ReadContent {
  readonly text: string;
  readonly files: readonly AttachedFile[];
}

/** In Base64, this is less than the smallest limit of a provider for a whole request (Anthropic: 32 MB). */
export const MAX_FILE_BYTES = 20_000_000;
const MAX_FILES = 50;
const MAX_NAME_CHARS = 200;

const text = z.string('expected a string');
/** Parts of the AI SDK have `providerOptions`, which is ignored. */
const ofEveryPart = { providerOptions: z.optional(z.unknown()) };
const aboutFile = { mediaType: z.optional(text), filename: z.optional(text), ...ofEveryPart };
const dataSchema = z.pipe(
  z.transform(plainData),
  z.custom<Uint8Array | string>(
    (data) => typeof data === 'string' || ArrayBuffer.isView(data),
    'expected bytes (Uint8Array or ArrayBuffer), Base64 text or a data: URL',
  ),
);

/** Returns the data in an object with a `type`, and any other value unchanged. */
function unwrapped(given: unknown): unknown {
  const { type, data, url, text } = Object(given) as Readonly<Record<string, unknown>>;
  return type === 'data' ? data : type === 'url' ? url : type === 'text' ? encoded(text) : given;
}

/** Returns data as bytes or text. Its class may come from another realm, for example in tests with jsdom. */
function plainData(given: unknown): unknown {
  const plain = unwrapped(given);
  // zod throws for a transformation to a promise.
  if (isThenable(plain)) return null;
  if (ArrayBuffer.isView(plain)) return new Uint8Array(plain.buffer, plain.byteOffset, plain.byteLength);
  const kind = Object.prototype.toString.call(plain);
  if (kind === '[object ArrayBuffer]') return new Uint8Array(plain as ArrayBuffer);
  return kind === '[object URL]' ? String(plain) : plain;
}

const encoded = (text: unknown): unknown => (typeof text === 'string' ? new TextEncoder().encode(text) : text);

const EXPECTED_PART = 'expected a part with the type "text", "image" or "file"';
const partSchema = z.discriminatedUnion(
  'type',
  [
    z.strictObject({ type: z.literal('text'), text, ...ofEveryPart }),
    z.strictObject({ type: z.literal('image'), image: dataSchema, ...aboutFile }),
    z.strictObject({ type: z.literal('file'), data: dataSchema, ...aboutFile }),
  ],
  EXPECTED_PART,
);

/**
 * Returns the text and the files of a `Content`. Texts are joined with a blank line; if there are only files, the text lists them. `where`
 * is the path of the content in errors.
 *
 * @throws PostChainError `invalid_request`
 */
export function readContent(given: Content, where: string): ReadContent {
  if (typeof given === 'string') return { text: given, files: [] };
  const parts = readable(where, () =>
    given.map((part, at) => readable(`${where}[${at}]`, () => readPart(part, `${where}[${at}]`))),
  );
  const files = parts.flatMap((part) => (typeof part === 'string' ? [] : [part]));
  const text = parts.filter((part) => typeof part === 'string' && part.trim() !== '').join('\n\n');
  return { text: text === '' && files.length > 0 ? attachmentLabels(files) : text, files };
}

/** Throws `invalid_request` for what a getter or a proxy throws, and for a detached ArrayBuffer. */
function readable<Read>(where: string, read: () => Read): Read {
  try {
    return read();
  } catch (error) {
    if (error instanceof PostChainError) throw error;
    throw invalid(where, EXPECTED_PART, 'an object that cannot be read');
  }
}

function readPart(given: unknown, where: string): string | AttachedFile {
  const read = partSchema.safeParse(given);
  if (!read.success) {
    const { issues } = read.error;
    const unknown = issues.find(({ code }) => code === 'unrecognized_keys');
    if (unknown?.code === 'unrecognized_keys') throw unknownKey(where, given, unknown.keys);
    const [issue] = issues;
    const path = (issue?.path ?? []).map(String);
    const received = path.reduce<unknown>((value, key) => Object(value)[key], given);
    const what = path.at(-1) === 'type' ? given : received;
    throw invalid([where, ...path.filter((key) => key !== 'type')].join('.'), `${issue?.message}`, described(what));
  }
  const part = read.data;
  if (part.type === 'text') return part.text;
  const [place, data] = part.type === 'image' ? [`${where}.image`, part.image] : [`${where}.data`, part.data];
  const { base64, mediaType: stated } = base64In(data, place);
  const mediaType = mediaTypeOf(part.mediaType ?? stated, base64);
  if (mediaType === null)
    throw invalid(`${where}.mediaType`, 'expected the media type of the file, for example "image/png"', 'none');
  requireSignature(place, mediaType, base64);
  const name = clippedLine(part.filename ?? '', MAX_NAME_CHARS);
  return {
    digest: wideDigest(`${mediaType} ${base64}`),
    mediaType,
    name: name === '' ? null : name,
    bytes: byteLength(base64),
    data: base64,
  };
}

function unknownKey(where: string, part: unknown, [key = '']: readonly string[]): PostChainError {
  const { shape } = partSchema.def.options.find(({ shape }) => shape.type.def.values[0] === Object(part).type) ?? {
    shape: {},
  };
  return new PostChainError(
    'invalid_request',
    `${where}: unknown key ${describeValue(key)}; expected one of ${Object.keys(shape).join(', ')}.`,
  );
}

/** Describes a value without text of a file. */
function described(value: unknown): string {
  const data = unwrapped(value);
  return typeof data === 'string' ? 'a string' : describeValue(isThenable(data) ? data : value);
}

const invalid = (where: string, expected: string, received: string): PostChainError =>
  new PostChainError('invalid_request', `${where}: ${expected}; received ${received}.`);

const DATA_URL = /^data:([^;,]*)(?:;[^;,]*)*;base64,/iu;
const ANY_URL = /^(?:data:|[a-z][a-z0-9+.-]*:\/\/)/iu;

/** Throws `invalid_request` for data that is empty, or neither Base64 nor a `data:` URL. */
function base64In(data: Uint8Array | string, where: string): { readonly base64: string; readonly mediaType?: string } {
  if (typeof data !== 'string') {
    if (data.length === 0) throw invalid(where, 'expected the bytes of a file', 'none');
    if (data.length > MAX_FILE_BYTES) throw tooLarge(data.length);
    return { base64: base64Of(data) };
  }
  if (data.length > 2 * MAX_FILE_BYTES) throw tooLarge((data.length / 4) * 3);
  const [start = '', mediaType] = DATA_URL.exec(data.slice(0, 1_000)) ?? [];
  if (start === '' && ANY_URL.test(data))
    throw invalid(where, 'expected bytes, Base64 text or a data: URL with ;base64', withoutContent(data));
  const base64 = plainBase64(data.slice(start.length));
  if (base64 === '') throw invalid(where, 'expected the bytes of a file', 'none');
  if (base64 === null) throw invalid(where, 'expected bytes, Base64 text or a data: URL', 'text that is not Base64');
  return { base64, ...(mediaType && { mediaType }) };
}

/** Describes a URL without its credentials, its path and its query, and a `data:` URL without its text. */
function withoutContent(url: string): string {
  if (/^data:/iu.test(url)) return 'a data: URL without ;base64';
  const { protocol, host } = URL.canParse(url) ? new URL(url) : { protocol: '', host: '' };
  return `a URL${host && ` of ${protocol}//${host}`}; download it first`;
}

const PADDING = 61;

/** Returns Base64 text with the standard alphabet and padding, and without white space; null if it is invalid. */
function plainBase64(text: string): string | null {
  const digits = withoutPadding(text.replace(/\s+/gu, '').replaceAll('-', '+').replaceAll('_', '/'));
  if (!/^[A-Za-z0-9+/]*$/u.test(digits) || digits.length % 4 === 1) return null;
  return digits.padEnd(Math.ceil(digits.length / 4) * 4, '=');
}

/** A regular expression would take quadratic time for many `=` that are not at the end. */
function withoutPadding(base64: string): string {
  let end = base64.length;
  while (base64.charCodeAt(end - 1) === PADDING) end -= 1;
  return base64.slice(0, end);
}

const byteLength = (base64: string): number =>
  (base64.length / 4) * 3 - (base64.length - withoutPadding(base64).length);

/** The first bytes of a file, in Base64. A WebP file has "WEBP" at byte 8; other files start with RIFF, too. */
const SIGNATURES: readonly (readonly [RegExp, string])[] = [
  [/^iVBORw0KGgo/u, 'image/png'],
  [/^\/9j\//u, 'image/jpeg'],
  [/^R0lGOD/u, 'image/gif'],
  [/^UklGR.{5}[BFJNRVZdhlptx159]XRUJQ/u, 'image/webp'],
  [/^JVBERi0/u, 'application/pdf'],
];

/** "WEBP" ends at byte 12. */
const SIGNATURE_BYTES = 12;

/** Returns the stated media type; detects it from the bytes if it is missing or only a kind such as `image/*`; null if it is unknown. */
function mediaTypeOf(stated: string | undefined, base64: string): string | null {
  const type = stated?.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (/^[a-z]+\/[a-z0-9][\w.+-]*$/u.test(type)) return type;
  if (/^text(?:\/\*)?$/u.test(type)) return 'text/plain';
  return detectedType(base64);
}

/** Returns the media type that the first bytes of a file, or their Base64 text, show; null if they show none. */
export function detectedType(data: Uint8Array | string): string | null {
  const base64 = typeof data === 'string' ? data : base64Of(data.subarray(0, SIGNATURE_BYTES));
  return SIGNATURES.find(([start]) => start.test(base64))?.[1] ?? null;
}

const DETECTABLE: ReadonlySet<string> = new Set(SIGNATURES.map(([, type]) => type));

/** Throws `invalid_request` for a file whose first bytes are those of another detectable type: a server would reject it, or misread it. */
function requireSignature(where: string, mediaType: string, base64: string): void {
  const detected = detectedType(base64);
  if (detected === null || detected === mediaType || !DETECTABLE.has(mediaType)) return;
  throw invalid(where, `expected the bytes of ${mediaType}, its media type`, `those of ${detected}; correct mediaType`);
}

function tooLarge(bytes: number): PostChainError {
  // Rounded up, so that the received size is above the limit in the message, too.
  const megabytes = (Math.ceil(bytes / 1e5) / 10).toFixed(1);
  return invalid('files', `expected at most ${MAX_FILE_BYTES / 1e6} MB in total`, `${megabytes} MB`);
}

/** Returns each file once. Throws `invalid_request` if there are too many files, or if they are too large in total. */
export function distinctFiles(files: readonly AttachedFile[]): readonly AttachedFile[] {
  const distinct = [...new Map(files.map((file) => [file.digest, file])).values()];
  if (distinct.length > MAX_FILES) throw invalid('files', `expected at most ${MAX_FILES}`, `${distinct.length}`);
  const bytes = distinct.reduce((sum, file) => sum + file.bytes, 0);
  if (bytes > MAX_FILE_BYTES) throw tooLarge(bytes);
  return distinct;
}

/** Throws `unsupported_file` if no model accepts all files. Models that do not are not called with them. */
export function requireAcceptingModel(
  models: readonly ChatModel[],
  files: readonly Attachment[],
  where = 'request',
): void {
  if (models.some((model) => files.every((file) => acceptsFile(model, file)))) return;
  const known = models.map(({ id, accepts = [] }) => `${id} accepts ${accepts.join(', ') || 'text only'}`).join('; ');
  const types = [...new Set(files.map(({ mediaType }) => mediaType))];
  throw new PostChainError(
    'unsupported_file',
    `${where}: ${known}; received ${files.map(attachmentLabel).join(', ')}. Use a model that reads ${types.join(' and ')}, or, if this one does, create it with accepts: ${JSON.stringify(types)}.`,
  );
}

export const attachmentOf = ({ data: _, ...attachment }: AttachedFile): Attachment => attachment;

const isFile = (entry: JournalEntry): entry is Extract<JournalEntry, { type: 'attachment' }> =>
  entry.type === 'attachment';

export function filesIn(entries: readonly JournalEntry[]): readonly AttachedFile[] {
  return entries.filter(isFile).map(({ seq: _, atMs: __, type: ___, ...file }) => file);
}

/** Throws `invalid_journal` if the journal lacks its bytes. */
export function fileIn(entries: readonly JournalEntry[], attachment: Attachment): AttachedFile {
  const entry = entries.find((one) => isFile(one) && one.digest === attachment.digest);
  const data = entry?.type === 'attachment' ? entry.data : '';
  if (data !== '') return { ...attachment, data };
  throw new PostChainError(
    'invalid_journal',
    `The journal does not contain ${attachmentLabel(attachment)}; expected the bytes of every file. Start a new run with the file.`,
  );
}
