import { PostChainError } from '../../machines/contracts/error.ts';

/** The user or program that sends a request. Owners see only their own runs and sessions. */
export type Owner = string;

/** Returns the owner of a request, or null if it is not authorized. */
export type Authorize = (request: Request) => Owner | null | Promise<Owner | null>;

/**
 * Returns an `authorize` function for tokens sent as `Authorization: Bearer …`. `owners` maps each token to its owner; an owner may have
 * several tokens. Tokens are compared by digest, in constant time. Throws `invalid_option` if there is no token, or if a token has
 * spaces, fewer than 16 characters or no owner.
 */
export function bearerTokens(owners: Readonly<Record<string, Owner>>): Authorize {
  const pairs = Array.isArray(owners) ? [] : Object.entries(owners ?? {});
  const isInvalid = ([token, owner]: (typeof pairs)[number]): boolean =>
    !/^\S{16,}$/u.test(token) || typeof owner !== 'string' || owner === '';
  // The message contains no token.
  if (pairs.length === 0 || pairs.some(isInvalid))
    throw new PostChainError(
      'invalid_option',
      `bearerTokens: expected tokens of at least 16 characters without spaces, each with its owner, for example { [token]: "alice" }; received ${pairs.length === 0 ? 'no tokens' : 'one that is shorter, has spaces or has no owner'}. Create one with: openssl rand -hex 32`,
    );
  const known = pairs.map(async ([token, owner]) => ({ digest: await digestOf(token), owner }));
  return async (request) => {
    const [, token] = /^Bearer +(\S+)$/iu.exec(request.headers.get('authorization') ?? '') ?? [];
    if (token === undefined) return null;
    const digest = await digestOf(token);
    let found: Owner | null = null;
    for (const { digest: other, owner } of await Promise.all(known)) if (isEqual(digest, other)) found = owner;
    return found;
  };
}

async function digestOf(text: string): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)));
}

function isEqual(one: Uint8Array, other: Uint8Array): boolean {
  return one.reduce((difference, byte, at) => difference | (byte ^ (other[at] ?? 0)), 0) === 0;
}

/** Returns an id derived from the parts. If the parts include the owner, no other owner can get the same id. */
export async function ownId(...parts: readonly string[]): Promise<string> {
  const digest = await digestOf(JSON.stringify(parts));
  return Array.from(digest.slice(0, 16), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Returns the id of the session that an owner calls `name`. */
export const sessionIdOf = (owner: Owner, name: string): Promise<string> => ownId('session', owner, name);
