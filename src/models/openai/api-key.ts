import { PostChainError } from '../../../machines/contracts/error.ts';

/** `secret` is false for the placeholder that a local server gets, which needs no hiding. */
interface ApiKey {
  readonly text: string;
  readonly secret: boolean;
}

/**
 * The key to send: the one given, else `OPENAI_API_KEY`. A server on loopback usually needs none, so it gets a placeholder.
 * White space around a key is taken off, as it comes with most files and shells.
 *
 * @throws PostChainError `invalid_key`; the message never holds the key or a part of it.
 */
export function resolveApiKey(given: string | undefined, url: URL): ApiKey {
  const from = given === undefined ? 'OPENAI_API_KEY' : 'apiKey';
  const text = (given ?? process.env['OPENAI_API_KEY'] ?? '').trim();
  if (text === '') {
    if (isLoopback(url.hostname)) return { text: 'not-needed', secret: false };
    throw new PostChainError(
      'invalid_key',
      `${from}: got no key; ${url.host} wants one; set OPENAI_API_KEY or pass apiKey (any word for a server that needs none)`,
    );
  }
  const wrong = whatIsWrong(text);
  if (wrong !== null) {
    throw new PostChainError(
      'invalid_key',
      `${from}: got a key with ${wrong}; want printable ASCII only; copy it again`,
    );
  }
  return { text, secret: true };
}

function whatIsWrong(text: string): string | null {
  if (/\s/u.test(text)) return 'white space inside';
  if (/\p{Cc}/u.test(text)) return 'control characters inside';
  return /^[!-~]+$/u.test(text) ? null : 'characters that are not ASCII';
}

function isLoopback(hostname: string): boolean {
  return /^(localhost|.+\.localhost|127\.\d+\.\d+\.\d+|0\.0\.0\.0|\[::1\])$/u.test(hostname);
}
