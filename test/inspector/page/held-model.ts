import type { ChatModel } from '../../../machines/contracts/model.ts';

export interface HeldModel extends ChatModel {
  /** Resolves when the model waits in the call with this number, from 1. */
  reached(call: number): Promise<void>;
  /** Lets it go on from there. */
  release(call: number): void;
}

/** A model that waits for the test in some of its calls, by number: after the first so many parts of its reply. */
export function heldModel(model: ChatModel, calls: readonly number[], parts = 1): HeldModel {
  const reached = new Map(calls.map((call) => [call, gate()]));
  const released = new Map(calls.map((call) => [call, gate()]));
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
    reached: (call) => reached.get(call)?.opened ?? Promise.reject(new Error(`call ${call} is not held`)),
    release: (call) => released.get(call)?.open(),
  };
}

function gate(): { readonly opened: Promise<void>; readonly open: () => void } {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}
