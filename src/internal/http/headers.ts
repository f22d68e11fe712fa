import { PostChainError } from '../../../machines/contracts/error.ts';

/** What is shorter is no key, and too likely to be an ordinary word. */
const SECRET_CHARS = 12;

/** Headers that HTTP can send. Throws `invalid_option`, which names the first that it cannot. */
export function requireSendable(headers: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(headers)) {
    try {
      new Headers([[name, value]]);
    } catch {
      const message = `headers: ${JSON.stringify(name)} is no header that HTTP can send; correct its name or its value`;
      throw new PostChainError('invalid_option', message);
    }
  }
}

/** The words of these texts that may be keys: no error shows them. */
export function secretWords(texts: readonly string[]): readonly string[] {
  return texts.flatMap((text) => text.split(/\s+/u)).filter((word) => word.length >= SECRET_CHARS);
}
