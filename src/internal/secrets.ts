import { oneLine } from '../../machines/text/clip.ts';

/** An error body may be megabytes long. */
const MAX_CHARS = 8_000;

/** The minimum length of a real key. A shorter one ("none" for a local server) is hidden only if it stands alone. */
const MIN_KEY_CHARS = 12;

/**
 * Returns foreign text as one printable line of at most 400 characters, without control characters and without the secrets, whole or
 * half masked as OpenAI echoes them.
 */
export function redactSecrets(text: string, secrets: readonly string[]): string {
  const line = secrets
    .reduce(redactSecret, text.slice(0, MAX_CHARS))
    .replaceAll(/[^\s"'*]{0,64}\*{3,}[^\s"',]{0,64}/gu, '[key]');
  return oneLine(line);
}

function redactSecret(text: string, secret: string): string {
  if (secret.length >= MIN_KEY_CHARS) return text.replaceAll(secret, '[key]');
  const words = text.split(/([\s"'`:;,.]+)/u);
  return words.map((word) => (word === secret ? '[key]' : word)).join('');
}

/** Returns the words of these texts that are long enough to be keys. */
export function secretWords(texts: readonly string[]): readonly string[] {
  return texts.flatMap((text) => text.split(/\s+/u)).filter((word) => word.length >= MIN_KEY_CHARS);
}
