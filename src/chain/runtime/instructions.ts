import * as z from 'zod/mini';
import { PostChainError } from '../../../machines/contracts/error.ts';
import type { ChatModel } from '../../../machines/contracts/model.ts';
import { instructionTokens } from '../../../machines/policies/usage.ts';

const MAX_CHARS = 20_000;
const EXPECTED = 'expected 1 to 20,000 characters, not all blank';

export const instructionsSchema = z
  .string(EXPECTED)
  .check(z.trim(), z.minLength(1, EXPECTED), z.maxLength(MAX_CHARS, EXPECTED));

/** The rest is for the request, its context and the reply. */
const WINDOW_SHARE = 0.25;

/**
 * Returns the instructions for a run: those of its chain, then its own; null without either. Throws `invalid_option` if they
 * would fill more than a quarter of the smallest context window, in tokens.
 */
export function combineInstructions(given: readonly (string | null)[], models: readonly ChatModel[]): string | null {
  const texts = given.filter((text) => text !== null);
  if (texts.length === 0) return null;
  const instructions = texts.join('\n\n');
  const tokens = instructionTokens({ instructions });
  const most = Math.floor(Math.min(...models.map((model) => model.contextWindowTokens)) * WINDOW_SHARE);
  if (tokens <= most) return instructions;
  throw new PostChainError(
    'invalid_option',
    `instructions: expected at most ${most} tokens, a quarter of the context window; received about ${tokens}.`,
  );
}
