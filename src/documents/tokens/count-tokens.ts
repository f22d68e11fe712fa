import { nextTurn } from '../../internal/async.ts';
import type { Encoding } from './encoding.ts';

/** A longer text is counted in this many windows of this many characters, spread evenly, and the rest in their proportion. */
const WINDOWS = 20;
const WINDOW_CHARS = 25_000;

/** After so many characters other work of the program gets its turn. */
const TURN_CHARS = 500_000;

/** The tokenizer takes time by the square of a run without a break ("aaaa…"), so a longer one is cut. */
const LONG_RUN = /\S{240}|[^\p{L}\p{N}]{240}/gu;
/** A text that spells a control token, say `<|endoftext|>`, is text like any other. */
const AS_TEXT = { disallowedSpecial: new Set<string>() };

type Tokenizer = Awaited<ReturnType<typeof load>>;

/**
 * The tokens of each text, in order, by gpt-tokenizer. Exact, but for a text of more than 500,000 characters, which is counted by
 * samples, and for a run of more than 240 characters without any break, which may count a token or so too many for each 240.
 *
 * Rejects when the vocabulary, megabytes that are loaded at the first use, cannot be had.
 */
export async function countTokens(texts: readonly string[], encoding: Encoding): Promise<readonly number[]> {
  const tokenizer = await load(encoding);
  const counts: number[] = [];
  let charsOfTurn = 0;
  for (const text of texts) {
    counts.push(text.length <= WINDOWS * WINDOW_CHARS ? tokensIn(text, tokenizer) : sampled(text, tokenizer));
    charsOfTurn += text.length;
    if (charsOfTurn < TURN_CHARS) continue;
    charsOfTurn = 0;
    await nextTurn();
  }
  // It remembers pieces of the texts, and with them the texts.
  tokenizer.clearMergeCache();
  return counts;
}

const load = (encoding: Encoding) =>
  encoding === 'o200k_base'
    ? import('gpt-tokenizer/encoding/o200k_base')
    : import('gpt-tokenizer/encoding/cl100k_base');

function tokensIn(text: string, { countTokens: count }: Tokenizer): number {
  let tokens = 0;
  let from = 0;
  for (const { 0: run, index } of text.matchAll(LONG_RUN)) {
    tokens += count(text.slice(from, index + run.length), AS_TEXT);
    from = index + run.length;
  }
  return tokens + count(text.slice(from), AS_TEXT);
}

function sampled(text: string, tokenizer: Tokenizer): number {
  const step = text.length / WINDOWS;
  let counted = 0;
  for (let window = 0; window < WINDOWS; window += 1) {
    const start = Math.floor(window * step);
    counted += tokensIn(text.slice(start, start + WINDOW_CHARS), tokenizer);
  }
  return Math.ceil((counted / (WINDOWS * WINDOW_CHARS)) * text.length);
}
