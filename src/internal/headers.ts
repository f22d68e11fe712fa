import { PostChainError } from '../../machines/contracts/error.ts';

/** Throws `invalid_option`, naming the first header that HTTP cannot send. */
export function requireValidHeaders(headers: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(headers)) {
    try {
      new Headers([[name, value]]);
    } catch {
      const message = `headers: ${JSON.stringify(name)} is not a valid HTTP header; correct its name or its value.`;
      throw new PostChainError('invalid_option', message);
    }
  }
}
