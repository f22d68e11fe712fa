import type { ChatModel, ModelPart, ReplyForm } from '../../../../machines/contracts/model.ts';
import { settle } from '../../../../src/testing/settle.ts';

export interface HandModel extends ChatModel {
  /** The call under way gets these characters as one part, and everything that they set off happens. */
  say(characters: string): Promise<void>;
  /** The call under way ends; the next `say` is for the next call. */
  end(): Promise<void>;
  readonly calls: () => number;
  readonly open: () => number;
}

/** A model that is played by hand, in either reply form. */
export function handModel(form: ReplyForm = 'text'): HandModel {
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
    say: (characters) =>
      tell(
        form === 'text'
          ? { type: 'text-delta', text: characters }
          : { type: 'tool-call-delta', index: 0, name: 'output', arguments: characters },
      ),
    end: () => tell({ type: 'finish', reason: form === 'text' ? 'stop' : 'tool-calls', usage: null }),
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
