import { readFile } from 'node:fs/promises';
import { PostChainError } from '../../machines/contracts/error.ts';
import type { Turn } from '../engine/runtime/run-options.ts';
import { describeValue } from '../internal/options.ts';
import { oneLine } from '../internal/printable.ts';

/**
 * Earlier turns of a conversation, the oldest first: a JSON array, or JSON lines, of `{"role", "content"}`. Throws `invalid_path` for a
 * file that cannot be read, and `invalid_option`, with the place, for what is no turn.
 */
export async function readHistory(path: string): Promise<readonly Turn[]> {
  const text = await textOf(path);
  if (text.trimStart().startsWith('['))
    return (parsed(text, path) as unknown[]).map((value, at) => turnOf(value, `${path}: turn ${at + 1}`));
  const lines = text.split('\n').map((line, at) => ({ line, place: `${path}: line ${at + 1}` }));
  return lines.filter(({ line }) => line.trim() !== '').map(({ line, place }) => turnOf(parsed(line, place), place));
}

async function textOf(path: string): Promise<string> {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(await readFile(path));
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new PostChainError('invalid_path', `The history "${path}" cannot be read (${reason}): give ${WANTED}.`, {
      cause,
    });
  }
}

const WANTED = 'a file with a JSON array, or JSON lines, of {"role": "user" or "assistant", "content": "…"}';

function parsed(text: string, place: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    const reason = oneLine(cause instanceof Error ? cause.message : String(cause));
    throw new PostChainError('invalid_option', `${place}: no JSON (${reason}); wanted ${WANTED}.`, { cause });
  }
}

function turnOf(value: unknown, place: string): Turn {
  const { role, content } = (value ?? {}) as Partial<Record<keyof Turn, unknown>>;
  if ((role === 'user' || role === 'assistant') && typeof content === 'string') return { role, content };
  const got =
    role === 'user' || role === 'assistant' ? `the content ${describeValue(content)}` : describeValue(role ?? value);
  throw new PostChainError(
    'invalid_option',
    `${place}: got ${got}; wanted a role (user or assistant) and a content in words.`,
  );
}
