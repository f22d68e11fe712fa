import type { GuardResult } from '../../../machines/contracts/decision.ts';
import type { RunStart } from '../../../machines/contracts/journal.ts';

import { PHASES } from '../../../machines/contracts/phase.ts';
import type { Facts, SpanError } from './spans.ts';

/** What the conventions say where there is no name of low cardinality. */
const OTHER = '_OTHER';

/** As stable codes are written: nothing that a sentence would fit in. */
const CODE = /^[a-z][a-z0-9_.-]{0,63}$/iu;

/** The words of the engine among what guards see; others are what a model or a user said. */
const WORDS: ReadonlySet<unknown> = new Set([...PHASES, 'automatic', 'manual', 'model', 'policy']);

/**
 * What of a run may be told: content (requests, replies, arguments, results, and every text that may quote them) only where it was asked
 * for. Without it there are numbers, codes, and the names that the program itself gave.
 */
export function createContentFilter({ capabilities }: RunStart, content: boolean) {
  const names = new Set(capabilities.map(({ name }) => name));
  return {
    content: <Value>(value: Value): Value | undefined => (content ? value : undefined),
    mishap: ({ code, message }: { readonly code: string; readonly message: string | null }): SpanError => ({
      code: CODE.test(code) ? code : OTHER,
      message: content ? message : null,
    }),
    /** A model may wish for a capability that there is not: its name is then what a model said. */
    capability: (name: string): string => (content || names.has(name) ? name : OTHER),
    inputs(inputs: GuardResult['inputs']): Facts {
      const facts: Record<string, number | string | boolean> = {};
      for (const [name, value] of Object.entries(inputs)) {
        if (value === null || (typeof value === 'string' && !content && !WORDS.has(value))) continue;
        facts[`postchain.input.${name}`] = value;
      }
      return facts;
    },
  };
}

export type ContentFilter = ReturnType<typeof createContentFilter>;

/** One message as the conventions write it on a span: a JSON text. */
export function messageText(role: 'user' | 'assistant', content: string, finishReason?: 'stop' | 'error'): string {
  const parts = [{ type: 'text', content }];
  return JSON.stringify([{ role, parts, ...(finishReason && { finish_reason: finishReason }) }]);
}
