import { z } from 'zod';
import type { Said } from './chunk.ts';

const textPart = z.object({ type: z.literal('text'), text: z.string() });
const thinkingPart = z.object({ type: z.literal('thinking'), thinking: z.union([z.string(), z.array(z.unknown())]) });

/**
 * What one chunk says, and what it thinks aloud: in `reasoning_content` (DeepSeek, Qwen, xAI) or `reasoning` (Groq, OpenRouter),
 * of which vLLM sends both with the same text, or in a part of the content (Mistral). Parts of unknown types are ignored.
 */
export function spoken(said: Said): { readonly text: string; readonly reasoning: string } {
  const aside = said.reasoning_content || said.reasoning;
  if (!Array.isArray(said.content)) return { text: said.content ?? '', reasoning: aside };
  return { text: textIn(said.content), reasoning: aside + said.content.map(thinkingIn).join('') };
}

function textIn(parts: readonly unknown[]): string {
  return parts.map((part) => textPart.safeParse(part).data?.text ?? '').join('');
}

function thinkingIn(part: unknown): string {
  const thinking = thinkingPart.safeParse(part).data?.thinking ?? '';
  return typeof thinking === 'string' ? thinking : textIn(thinking);
}
