import type { ChatModel, ModelPart, ModelRequest } from '../../machines/contracts/model.ts';

/** What one call does, step by step: a part, or anything to wait for. */
export type CallScript = readonly (ModelPart | Promise<unknown>)[];

export interface PartModel extends ChatModel {
  readonly calls: readonly ModelRequest[];
  /** Calls that have begun and not ended. */
  readonly open: () => number;
}

export const text = (given: string): ModelPart => ({ type: 'text-delta', text: given });
const finish: ModelPart = { type: 'finish', reason: 'stop', usage: null };

/** A text in pieces of `size` characters, then the finish. */
export function said(value: unknown, size = 4): CallScript {
  const whole = typeof value === 'string' ? value : JSON.stringify(value);
  const pieces = Array.from({ length: Math.ceil(whole.length / size) }, (_, at) =>
    text(whole.slice(at * size, (at + 1) * size)),
  );
  return [...pieces, finish];
}

/** Never settles: the call hangs. */
export const silence: Promise<never> = new Promise(() => {});

/** A model whose calls give exactly these parts, each in a turn of its own; after the last script the last is repeated. */
export function partModel(...scripts: readonly CallScript[]): PartModel {
  const calls: ModelRequest[] = [];
  let open = 0;
  return {
    id: 'parts',
    contextWindowTokens: 128_000,
    calls,
    open: () => open,
    async *stream(request, { signal }) {
      const script = scripts[Math.min(calls.length, scripts.length - 1)] ?? [];
      calls.push(request);
      open += 1;
      const aborted = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
      try {
        for (const step of script) {
          if (signal.aborted) return;
          if (step instanceof Promise) await Promise.race([step, aborted]);
          else yield step;
        }
      } finally {
        open -= 1;
      }
    },
  };
}
