import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/** Why somebody is not let in, in one line. */
export interface Refusal {
  readonly status: 403 | 404 | 405 | 503;
  readonly text: string;
}

/** What is asked for: the path under the token without its first slash, null for the token alone; and the host as the browser calls it. */
export interface Admission {
  readonly path: string | null;
  readonly host: string;
}

/**
 * Who may come in. Other pages in the user's browser can send requests here: they do not know the token, a name of theirs that leads here
 * is no host of ours, and their sockets say whose they are.
 */
export interface RequestAuthorizer {
  readonly token: string;
  admit(request: IncomingMessage): Admission | Refusal;
}

const TOKEN_BYTES = 24;

export const nothingHere: Refusal = { status: 404, text: 'There is nothing here.' };

export function createRequestAuthorizer(port: number): RequestAuthorizer {
  const token = randomBytes(TOKEN_BYTES).toString('base64url');
  const due = digestOf(token);
  // As addresses are written: the port that is understood anyway is left out.
  const hosts = ['127.0.0.1', 'localhost', '[::1]'].map((name) => new URL(`http://${name}:${port}`).host);
  return {
    token,
    admit({ method = '', url = '', headers: { host = '' } }) {
      if (!hosts.includes(host)) return { status: 403, text: 'This is no name of this server.' };
      const [path = ''] = url.split('?', 1);
      const [before, given = '', ...rest] = path.split('/');
      if (before !== '' || !timingSafeEqual(digestOf(given), due)) return nothingHere;
      if (method !== 'GET' && method !== 'HEAD') return { status: 405, text: 'Only GET and HEAD are answered.' };
      return { path: rest.length === 0 ? null : rest.join('/'), host };
    },
  };
}

export const isRefusal = (answer: Admission | Refusal): answer is Refusal => 'status' in answer;

/** The page itself, and programs that are no browsers. */
export function isOwnOrigin(origin: string | undefined, host: string): boolean {
  return origin === undefined || origin === `http://${host}`;
}

/** Of one length, whatever is given. */
const digestOf = (text: string): Buffer => createHash('sha256').update(text).digest();
