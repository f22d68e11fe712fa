import { nextTurn } from '../../internal/async.ts';
import { importByName, loadOptional } from '../../internal/optional-package.ts';

export type Encoding = 'o200k_base' | 'cl100k_base';

/** GPT-4 and GPT-3.5 including their turbo and fine-tuned models; not GPT-4o, GPT-4.1 and GPT-4.5. */
const OLDER = /(?:^|[/:])gpt-(?:4(?![o.\d])|3\.?5)/iu;

/**
 * Returns the encoding of a model: `cl100k_base` for GPT-4 and GPT-3.5, `o200k_base` for any other name. Most current models of other
 * vendors are within a fifth of `o200k_base`, whereas four characters per token is off by a factor of three or four for Japanese or
 * base64.
 */
export function encodingOf(model: string): Encoding {
  return OLDER.test(model) ? 'cl100k_base' : 'o200k_base';
}

/** A longer text is counted in this many evenly spread windows of this many characters, and the total extrapolated. */
const WINDOWS = 20;
const WINDOW_CHARS = 25_000;

/** The number of characters after which counting yields to the event loop. */
const TURN_CHARS = 500_000;

/** The tokenizer takes quadratic time for a run without a break ("aaaa…"), so a longer run is cut. */
const LONG_RUN = /\S{240}|[^\p{L}\p{N}]{240}/gu;

/** Text that spells a control token, for example `<|endoftext|>`, is counted as text. */
const AS_TEXT = { disallowedSpecial: new Set<string>() };

type Tokenizer = typeof import('gpt-tokenizer/encoding/o200k_base');

/**
 * Returns the number of tokens of each text, in order, by the package `gpt-tokenizer`. The count is exact, with two exceptions: a text
 * of more than 500,000 characters is sampled, and a run of more than 240 characters without a break may count about one token too
 * many per 240 characters. The vocabulary (megabytes) is loaded on first use.
 *
 * @throws PostChainError `package_missing`
 */
export async function countTokens(texts: readonly string[], encoding: Encoding): Promise<readonly number[]> {
  const tokenizer = await loadOptional('gpt-tokenizer', 'exact token counting', () => importTokenizer(encoding));
  const counts: number[] = [];
  let charsOfTurn = 0;
  for (const text of texts) {
    counts.push(text.length <= WINDOWS * WINDOW_CHARS ? tokensIn(text, tokenizer) : tokensBySample(text, tokenizer));
    charsOfTurn += text.length;
    if (charsOfTurn < TURN_CHARS) continue;
    charsOfTurn = 0;
    await nextTurn();
  }
  // The cache holds slices of the texts, which keep the whole texts in memory.
  tokenizer.clearMergeCache();
  return counts;
}

/** Each encoding is a file of two megabytes, which no bundle contains. */
const importTokenizer = (encoding: Encoding) => importByName<Tokenizer>(`gpt-tokenizer/encoding/${encoding}`);

function tokensIn(text: string, { countTokens: count }: Tokenizer): number {
  let tokens = 0;
  let from = 0;
  for (const { 0: run, index } of text.matchAll(LONG_RUN)) {
    tokens += count(text.slice(from, index + run.length), AS_TEXT);
    from = index + run.length;
  }
  return tokens + count(text.slice(from), AS_TEXT);
}

function tokensBySample(text: string, tokenizer: Tokenizer): number {
  const step = text.length / WINDOWS;
  let counted = 0;
  for (let window = 0; window < WINDOWS; window += 1) {
    const start = Math.floor(window * step);
    counted += tokensIn(text.slice(start, start + WINDOW_CHARS), tokenizer);
  }
  return Math.ceil((counted / (WINDOWS * WINDOW_CHARS)) * text.length);
}
