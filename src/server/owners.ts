/** Who sends a request: an owner sees their own runs and sessions only. */
export type Owner = string;

/** Returns the owner of a request, or null if it is not authorized. */
export type Authorize = (request: Request) => Owner | null | Promise<Owner | null>;

/**
 * Authorizes requests by a token, sent as `Authorization: Bearer …`. `owners` has the owner of each token; several tokens may have the same
 * one. Tokens are compared by digest, in constant time.
 */
export function bearerTokens(owners: Readonly<Record<string, Owner>>): Authorize {
  const known = Object.entries(owners).map(async ([token, owner]) => ({ digest: await digestOf(token), owner }));
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

/** Returns an id that only this owner can have, the same for the same parts. */
export async function ownId(...parts: readonly string[]): Promise<string> {
  const digest = await digestOf(JSON.stringify(parts));
  return Array.from(digest.slice(0, 16), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
