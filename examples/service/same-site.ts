import type { MiddlewareHandler } from 'hono';
import { Refusal } from './refusal.ts';

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]'];

/**
 * Only for callers that name this host, and pages that it served. A page of another site is refused by its Origin, and one whose
 * name was rebound to this address (DNS rebinding) by its Host. What is no browser sends no Origin.
 */
export function ownHostOnly(hosts: readonly string[]): MiddlewareHandler {
  const known = new Set([...LOOPBACK, ...hosts].map((host) => host.toLowerCase()));
  return async (c, next) => {
    const host = c.req.header('host') ?? '';
    if (!known.has(hostname(host))) throw new Refusal(403, 'foreign_host', 'This host does not serve that name.');
    const origin = c.req.header('origin');
    if (origin !== undefined && !isSame(origin, host))
      throw new Refusal(403, 'foreign_origin', 'Pages of other sites may not call this service.');
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
