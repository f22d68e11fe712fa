import { type AttemptPolicy, DEFAULT_POLICY, type Reply } from '../../machines/contracts/attempt.ts';
import type { TokenUsage } from '../../machines/contracts/usage.ts';

export const POLICY: AttemptPolicy = {
  ...DEFAULT_POLICY,
  maxCorrections: 2,
  maxTransportRetries: 3,
  maxCalls: 100,
  firstChunkMs: 1_000,
  chunkMs: 800,
  backoffBaseMs: 100,
  backoffMaxMs: 1_000,
  maxReplyChars: 10_000,
};

const USAGE: TokenUsage = { inputTokens: 10, outputTokens: 5, estimated: false };

/** A valid reply. */
export function reply(changes: Partial<Reply> = {}): Reply {
  return { text: '{"good":true}', value: { good: true }, prose: false, failure: null, usage: USAGE, ...changes };
}

/** Lets every promise that can settle do so. */
export async function flush(turns = 50): Promise<void> {
  for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
}
