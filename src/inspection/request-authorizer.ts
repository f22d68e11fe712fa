import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

export interface Rejection {
  readonly status: 403 | 404 | 405 | 503;
  readonly text: string;
}

/** An authorized request: the path below the token without its leading slash, null without a slash; and the `Host` header. */
export interface AuthorizedRequest {
  readonly path: string | null;
  readonly host: string;
}

/**
 * Decides which requests are allowed. Other pages in the user's browser can send requests to this port, but they do not know the token, a
 * rebound DNS name of theirs is not one of our hosts, and their WebSockets carry their origin.
 */
export interface RequestAuthorizer {
  readonly token: string;
  authorize(request: IncomingMessage): AuthorizedRequest | Rejection;
}

const TOKEN_BYTES = 24;

export const notFound: Rejection = { status: 404, text: 'Not found.' };

/** For a person who opens an old bookmark. It says nothing about the runs or the token. */
const unknownAddress: Rejection = {
  status: 404,
  text: 'This address is not valid. Open the complete address that the program printed when it started; it may change at each start.',
};

/** Returns the authorizer of a server on this port; its token is random unless one is given. `accepted` is called with the connection of each allowed request. */
export function createRequestAuthorizer(
  port: number,
  accepted: (socket: Socket) => void,
  token = randomBytes(TOKEN_BYTES).toString('base64url'),
): RequestAuthorizer {
  const tokenDigest = digestOf(token);
  // URL drops the default port, as browsers do.
  const hosts = ['127.0.0.1', 'localhost', '[::1]'].map((name) => new URL(`http://${name}:${port}`).host);
  return {
    token,
    authorize({ method = '', url = '', headers: { host = '' }, socket }) {
      if (!hosts.includes(host)) return { status: 403, text: 'Unknown host name.' };
      const [path = ''] = url.split('?', 1);
      const [before, given = '', ...rest] = path.split('/');
      if (before !== '' || !timingSafeEqual(digestOf(given), tokenDigest)) return unknownAddress;
      if (method !== 'GET' && method !== 'HEAD') return { status: 405, text: 'Method not allowed; use GET or HEAD.' };
      accepted(socket);
      return { path: rest.length === 0 ? null : rest.join('/'), host };
    },
  };
}

export const isRejection = (result: AuthorizedRequest | Rejection): result is Rejection => 'status' in result;

/** Accepts our own page, and programs that are not browsers: they send no origin. */
export function isOwnOrigin(origin: string | undefined, host: string): boolean {
  return origin === undefined || origin === `http://${host}`;
}

/** Digests have the same length, as `timingSafeEqual` requires. */
const digestOf = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Returns the headers of every page response: only our own scripts run, they connect only to this server, and no other page can embed it. */
export function pageHeaders(host: string): Readonly<Record<string, string>> {
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "worker-src 'self'",
    `connect-src 'self' ws://${host}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ];
  return { ...plainHeaders, 'content-security-policy': policy.join('; ') };
}

export const plainHeaders: Readonly<Record<string, string>> = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};
