import { PostChainError } from '../../../machines/contracts/error.ts';

const OPENAI = 'https://api.openai.com/v1';

/**
 * Where the server is: the URL given, else `OPENAI_BASE_URL`, else OpenAI.
 *
 * @throws PostChainError `invalid_option` for what is no plain http(s) URL. The text is shown only when it can hold no secret.
 */
export function resolveBaseURL(given: string | undefined): URL {
  const from = given === undefined ? 'OPENAI_BASE_URL' : 'baseURL';
  const text = (given ?? process.env['OPENAI_BASE_URL'] ?? '').trim();
  if (text === '' && given === undefined) return new URL(OPENAI);
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/u.test(url.protocol)) {
    const got = url === null ? 'no URL' : `a URL that starts with ${JSON.stringify(url.protocol)}`;
    throw new PostChainError(
      'invalid_option',
      `${from}: got ${got}; want http:// or https://, say http://localhost:11434/v1`,
    );
  }
  if (`${url.username}${url.password}${url.search}${url.hash}` !== '') {
    const message = `${from}: got a URL of ${url.host} with a user, query or fragment; leave it out; use apiKey or headers`;
    throw new PostChainError('invalid_option', message);
  }
  return url;
}

/** OpenAI's own newest models refuse `max_tokens`; other servers often know nothing else. */
export function isOpenAI(baseURL: string): boolean {
  return new URL(baseURL).hostname === 'api.openai.com';
}
