import type { ChatModel, ModelPart, ModelRequest, ReplyForm } from '../../machines/contracts/model.ts';
import { settle } from '../../src/testing/settle.ts';

/** What one call does, step by step: a part, or anything to wait for. */
export type CallScript = readonly (ModelPart | Promise<unknown>)[];

export interface PartModel extends ChatModel {
  readonly calls: readonly ModelRequest[];
  /** Calls that have begun and not ended. */
  readonly open: () => number;
}

export const textPart = (given: string): ModelPart => ({ type: 'text-delta', text: given });
const finish: ModelPart = { type: 'finish', reason: 'stop', usage: null };

/** A text in pieces of `size` characters, then the finish. */
export function chunkedReply(value: unknown, size = 4): CallScript {
  const whole = typeof value === 'string' ? value : JSON.stringify(value);
  const pieces = Array.from({ length: Math.ceil(whole.length / size) }, (_, at) =>
    textPart(whole.slice(at * size, (at + 1) * size)),
  );
  return [...pieces, finish];
}

/** Never settles: the call hangs. */
export const neverSettles: Promise<never> = new Promise(() => {});

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

export interface ManualModel extends ChatModel {
  /** The call under way gets these characters as one part, and everything that they set off happens. */
  write(characters: string): Promise<void>;
  /** The call under way ends; the next `say` is for the next call. */
  end(): Promise<void>;
  readonly calls: () => number;
  readonly open: () => number;
}

/** A model that is played by hand, in either reply form. */
export function manualModel(form: ReplyForm = 'text'): ManualModel {
  const waiting: ModelPart[] = [];
  let wake = (): void => {};
  let calls = 0;
  let open = 0;
  const tell = async (part: ModelPart): Promise<void> => {
    waiting.push(part);
    wake();
    await settle(2);
  };
  return {
    id: 'hand',
    contextWindowTokens: 128_000,
    calls: () => calls,
    open: () => open,
    write: (characters) =>
      tell(
        form !== 'tool-call'
          ? { type: 'text-delta', text: characters }
          : { type: 'tool-call-delta', index: 0, name: 'output', arguments: characters },
      ),
    end: () => tell({ type: 'finish', reason: form !== 'tool-call' ? 'stop' : 'tool-calls', usage: null }),
    async *stream(_, { signal }) {
      calls += 1;
      open += 1;
      const stop = (): void => wake();
      signal.addEventListener('abort', stop);
      try {
        while (!signal.aborted) {
          const part = waiting.shift();
          if (part !== undefined) yield part;
          else
            await new Promise<void>((resolve) => {
              wake = resolve;
            });
        }
      } finally {
        signal.removeEventListener('abort', stop);
        open -= 1;
      }
    },
  };
}

export interface PausableModel extends ChatModel {
  /** Resolves when the model waits in the call with this number, from 1, and the engine has handled its parts. */
  reached(call: number): Promise<void>;
  /** Lets it go on from there. */
  release(call: number): void;
}

/** A model that waits for the test in some of its calls, by number: after the first so many parts of its reply. */
export function pausableModel(model: ChatModel, calls: readonly number[], parts = 1): PausableModel {
  const reached = new Map(calls.map((call) => [call, createGate()]));
  const released = new Map(calls.map((call) => [call, createGate()]));
  let made = 0;
  return {
    ...model,
    async *stream(request, options) {
      made += 1;
      const call = made;
      let left = parts;
      for await (const part of model.stream(request, options)) {
        yield part;
        left -= 1;
        if (left !== 0) continue;
        reached.get(call)?.open();
        await released.get(call)?.opened;
      }
    },
    reached: async (call) => {
      const gate = reached.get(call);
      if (gate === undefined) throw new Error(`call ${call} is not held`);
      await gate.opened;
      await settle();
    },
    release: (call) => released.get(call)?.open(),
  };
}

function createGate(): { readonly opened: Promise<void>; readonly open: () => void } {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}
