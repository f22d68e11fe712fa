import { oneLine } from '../../machines/text/clip.ts';

/** An error body may have megabytes. */
const MOST_CHARS = 8_000;

/** As long as a real key at least; a shorter one ("any word" for a local server) is hidden only where it stands alone. */
const KEY_CHARS = 12;

/**
 * Foreign text as one line that can be shown: no control characters, no key (whole, or half masked as OpenAI echoes it),
 * and no more than 400 characters.
 */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  const line = secrets
    .reduce(withoutSecret, text.slice(0, MOST_CHARS))
    .replaceAll(/[^\s"'*]{0,64}\*{3,}[^\s"',]{0,64}/gu, '[key]');
  return oneLine(line);
}

function withoutSecret(text: string, secret: string): string {
  if (secret.length >= KEY_CHARS) return text.replaceAll(secret, '[key]');
  const words = text.split(/([\s"'`:;,.]+)/u);
  return words.map((word) => (word === secret ? '[key]' : word)).join('');
}
