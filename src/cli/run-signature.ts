import { createHmac, timingSafeEqual } from 'node:crypto';
import { createSecret, readSecret } from './installation-secret.ts';

/** What the CLI opens, starts or connects to when it continues a run, as the journal records it. */
export interface SignedStart {
  readonly runId: string;
  readonly sessionId: string | null;
  /** JSON. */
  readonly flags: unknown;
}

/** Whether this installation started the run. If not, `reason` completes "because …". */
export type SignatureCheck = { readonly isSigned: true } | { readonly isSigned: false; readonly reason: string };

const KEY = 'signing.key';

/**
 * Returns the signature of a run's start: an HMAC-SHA-256 of its id, session and flags with this user's key, which is created on first use.
 * Returns null if the key cannot be stored.
 */
export function signRun(start: SignedStart): string | null {
  const used = readSecret(KEY).secret ?? createSecret(KEY);
  return used && hmacOf(start, used);
}

/** Returns whether this installation signed the start of a run. */
export function checkSignature(start: SignedStart, signature: unknown): SignatureCheck {
  const { secret: key, problem } = readSecret(KEY);
  if (problem !== null) return { isSigned: false, reason: problem };
  if (typeof signature !== 'string')
    return { isSigned: false, reason: 'it was started by an older version or by someone else' };
  const isSame = key !== null && isEqual(signature, hmacOf(start, key));
  return isSame
    ? { isSigned: true }
    : { isSigned: false, reason: 'it was started by another installation, or was changed by someone else' };
}

const hmacOf = ({ runId, sessionId, flags }: SignedStart, key: Buffer): string =>
  createHmac('sha256', key)
    .update(canonicalJson(['postchain run 1', runId, sessionId, flags]))
    .digest('base64url');

const isEqual = (one: string, other: string): boolean =>
  one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));

/** Serializes a JSON value with sorted keys. */
function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, inside: unknown) =>
    typeof inside === 'object' && inside !== null && !Array.isArray(inside)
      ? Object.fromEntries(Object.entries(inside).toSorted(([one], [other]) => (one < other ? -1 : 1)))
      : inside,
  );
}
