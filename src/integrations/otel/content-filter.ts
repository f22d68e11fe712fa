import type { GuardResult } from '../../../machines/contracts/decision.ts';
import { PHASES } from '../../../machines/contracts/phase.ts';
import type { SpanAttributes, SpanError } from './spans.ts';

/** The conventions' value for anything without a low-cardinality name. */
const OTHER = '_OTHER';

/** The form of a stable code. No sentence matches it. */
const CODE = /^[a-z][a-z0-9_.-]{0,63}$/iu;

/** The strings in guard inputs that the engine defines; all others come from a model or a user. */
const ENGINE_WORDS: ReadonlySet<unknown> = new Set([...PHASES, 'automatic', 'manual', 'model', 'policy']);

/**
 * Returns a filter that drops content (requests, replies, arguments, results, and texts that may quote them) unless it is enabled. Numbers,
 * codes and names defined by the program are always recorded. `known`: the names of its capabilities.
 */
export function createContentFilter(known: ReadonlySet<string>, content: boolean) {
  return {
    content: <Value>(value: Value): Value | undefined => (content ? value : undefined),
    errorOf: ({ code, message }: { readonly code: string; readonly message: string | null }): SpanError => ({
      code: CODE.test(code) ? code : OTHER,
      message: content ? message : null,
    }),
    /** An unknown capability name was invented by a model, so it is content. */
    capability: (name: string): string => (content || known.has(name) ? name : OTHER),
    inputs(inputs: GuardResult['inputs']): SpanAttributes {
      const attributes: Record<string, number | string | boolean> = {};
      for (const [name, value] of Object.entries(inputs)) {
        if (value === null || (typeof value === 'string' && !content && !ENGINE_WORDS.has(value))) continue;
        attributes[`postchain.input.${name}`] = typeof value === 'object' ? JSON.stringify(value) : value;
      }
      return attributes;
    },
  };
}

export type ContentFilter = ReturnType<typeof createContentFilter>;

export function messageText(role: 'user' | 'assistant', content: string, finishReason?: 'stop' | 'error'): string {
  const parts = [{ type: 'text', content }];
  return JSON.stringify([{ role, parts, ...(finishReason && { finish_reason: finishReason }) }]);
}
