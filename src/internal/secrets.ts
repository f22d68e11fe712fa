import { clippedLine } from '../../machines/text/clip.ts';

/** An error body may be megabytes long. */
const MAX_CHARS = 8_000;

const KEY = '[key]';

/** The minimum length of a real key. A shorter one ("none" for a local server) is hidden only if it stands alone. */
const MIN_KEY_CHARS = 12;

/** The minimum length of a start or end of a key that is hidden. */
const MIN_PART_CHARS = 8;

/**
 * Returns foreign text as one printable line of at most 400 characters, without control characters and without the secrets: whole, half
 * masked as OpenAI echoes them, or 8 or more characters from the start or end of a key.
 */
export function redactSecrets(text: string, secrets: readonly string[]): string {
  const line = secrets
    .reduce(redactSecret, text.slice(0, MAX_CHARS))
    .replaceAll(/[^\s"'*]{0,64}\*{3,}[^\s"',]{0,64}/gu, KEY);
  return clippedLine(line);
}

function redactSecret(text: string, secret: string): string {
  if (secret.length >= MIN_KEY_CHARS) {
    const rest = text.replaceAll(secret, KEY);
    return isKeyLike(secret) ? redactEnds(redactStarts(rest, secret), secret) : rest;
  }
  const words = text.split(/([\s"'`:;,.]+)/u);
  return words.map((word) => (word === secret ? KEY : word)).join('');
}

/** A header may contain an address or a media type, whose start is not secret. */
function isKeyLike(secret: string): boolean {
  return /\d/u.test(secret) && !secret.includes('://');
}

function redactStarts(text: string, secret: string, mark = KEY): string {
  const [before = '', ...after] = text.split(secret.slice(0, MIN_PART_CHARS));
  const following = secret.slice(MIN_PART_CHARS);
  return [before, ...after.map((piece) => piece.slice(commonLength(piece, following)))].join(mark);
}

function redactEnds(text: string, secret: string): string {
  return reversed(redactStarts(reversed(text), reversed(secret), reversed(KEY)));
}

const reversed = (text: string): string => text.split('').reverse().join('');

function commonLength(one: string, other: string): number {
  let length = 0;
  while (length < one.length && one[length] === other[length]) length += 1;
  return length;
}

const CREDENTIAL = /auth|cookie|key|token|secret|passw|credential|signature/iu;

/** Returns the secret words of HTTP headers: those of headers whose name says that they carry credentials. */
export const headerSecrets = (headers: Readonly<Record<string, string>>): readonly string[] =>
  secretWords(Object.entries(headers).flatMap(([name, value]) => (CREDENTIAL.test(name) ? [value] : [])));

export function secretWords(texts: readonly string[]): readonly string[] {
  return texts.flatMap((text) => text.split(/\s+/u)).filter((word) => word.length >= MIN_KEY_CHARS);
}
