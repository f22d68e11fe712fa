import type { MiddlewareHandler } from 'hono';
import { HttpError } from './http-error.ts';

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]'];

/**
 * Rejects requests from pages of other sites: by their Origin, or by their Host if a foreign name was rebound to this address (DNS
 * rebinding). Clients other than browsers send no Origin.
 */
export function ownHostOnly(hosts: readonly string[]): MiddlewareHandler {
  const known = new Set([...LOOPBACK, ...hosts].map((host) => host.toLowerCase()));
  return async (c, next) => {
    const host = c.req.header('host') ?? '';
    if (!known.has(hostname(host)))
      throw new HttpError(403, 'foreign_host', 'The Host header does not name this service.');
    const origin = c.req.header('origin');
    if (origin !== undefined && !isSame(origin, host))
      throw new HttpError(403, 'foreign_origin', 'Pages of other sites cannot call this service.');
    await next();
  };
}

function hostname(host: string): string {
  return host.toLowerCase().replace(/:\d+$/, '');
}

function isSame(origin: string, host: string): boolean {
  const from = hostOf(origin);
  return from !== null && from === hostOf(`http://${host}`);
}

function hostOf(url: string): string | null {
  return URL.canParse(url) ? new URL(url).host : null;
}
