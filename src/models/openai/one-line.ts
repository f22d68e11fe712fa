const MAX_CHARS = 400;

/** As long as a real key at least; a shorter one ("any word" for a local server) is hidden only where it stands alone. */
const KEY_CHARS = 12;

/**
 * Foreign text as one line that can be shown: no control characters, no key (whole, or half masked as OpenAI echoes it),
 * and no more than 400 characters.
 */
export function oneLine(text: string, secrets: readonly string[]): string {
  // What is far beyond the end of the line is not looked at: an error body may have megabytes.
  const line = secrets
    .reduce(withoutSecret, text.slice(0, 20 * MAX_CHARS))
    .replaceAll(/[^\s"'*]{0,64}\*{3,}[^\s"',]{0,64}/gu, '[key]')
    .replaceAll(/[\s\p{Cc}\p{Cf}]+/gu, ' ')
    .trim();
  return line.length <= MAX_CHARS ? line : `${line.slice(0, MAX_CHARS)}…`;
}

function withoutSecret(text: string, secret: string): string {
  if (secret.length >= KEY_CHARS) return text.replaceAll(secret, '[key]');
  const words = text.split(/([\s"'`:;,.]+)/u);
  return words.map((word) => (word === secret ? '[key]' : word)).join('');
}
