import { setImmediate } from 'node:timers/promises';
import { bytePairs, type TokenCounter } from './byte-pairs.ts';
import type { Encoding } from './encoding.ts';

/** A longer text is counted in this many windows of this many characters, spread evenly, and the rest in their proportion. */
const WINDOWS = 20;
const WINDOW_CHARS = 25_000;

/** After so many characters other work of the program gets its turn. */
const TURN_CHARS = 500_000;

const loaded = new Map<Encoding, Promise<() => TokenCounter>>();

/**
 * The tokens of each text, in order. Exact, but for a text of more than 500,000 characters, which is counted by samples, and for a run
 * of more than 256 characters without any break ("aaaa…"), which may count a token or so too many for each 256. A text that spells a
 * control token, say `<|endoftext|>`, is text like any other.
 *
 * Rejects when the vocabulary, megabytes that are loaded at the first use, cannot be had.
 */
export async function countTokens(texts: readonly string[], encoding: Encoding): Promise<readonly number[]> {
  const counter = loaded.get(encoding) ?? load(encoding);
  loaded.set(encoding, counter);
  const tokensIn = (await counter)();
  const counts: number[] = [];
  let charsOfTurn = 0;
  for (const text of texts) {
    counts.push(text.length <= WINDOWS * WINDOW_CHARS ? tokensIn(text) : sampled(text, tokensIn));
    charsOfTurn += text.length;
    if (charsOfTurn < TURN_CHARS) continue;
    charsOfTurn = 0;
    await setImmediate();
  }
  return counts;
}

async function load(encoding: Encoding): Promise<() => TokenCounter> {
  const { O200K_TOKEN_SPLIT_REGEX, CL100K_TOKEN_SPLIT_REGEX } = await import('gpt-tokenizer/encodingParams/constants');
  return encoding === 'o200k_base'
    ? bytePairs((await import('gpt-tokenizer/bpeRanks/o200k_base')).default, O200K_TOKEN_SPLIT_REGEX)
    : bytePairs((await import('gpt-tokenizer/bpeRanks/cl100k_base')).default, CL100K_TOKEN_SPLIT_REGEX);
}

function sampled(text: string, tokensIn: TokenCounter): number {
  const step = text.length / WINDOWS;
  let counted = 0;
  for (let window = 0; window < WINDOWS; window += 1) {
    const start = Math.floor(window * step);
    counted += tokensIn(text.slice(start, start + WINDOW_CHARS));
  }
  return Math.ceil((counted / (WINDOWS * WINDOW_CHARS)) * text.length);
}
