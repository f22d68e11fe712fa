/** The byte-pair vocabularies of OpenAI's chat models. */
export type Encoding = 'o200k_base' | 'cl100k_base';

/** GPT-4 and GPT-3.5 up to their turbo models, and those tuned from them; not GPT-4o, GPT-4.1 and GPT-4.5. */
const OLDER = /(?:^|[/:])gpt-(?:4(?![o.\d])|3\.?5)/iu;

/**
 * The vocabulary that a model of this name counts by: `cl100k_base` for GPT-4 and GPT-3.5, `o200k_base` for OpenAI's later models.
 * Any other name gets `o200k_base` too, as the nearest known: other current models mostly count within a fifth of it, while four
 * characters a token are off by a factor of three or four in Japanese or base64.
 */
export function encodingOf(model: string): Encoding {
  return OLDER.test(model) ? 'cl100k_base' : 'o200k_base';
}
