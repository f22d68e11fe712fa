import { type ChatModel, extractiveModel } from 'postchain';

/** Delay between two chunks, about reading speed. */
const PACE_MS = 30;

/**
 * The built-in extractive model (no LLM), slowed down so that you can watch it. It needs no key and no server. A page must not
 * contain an API key: for a real model, use a `ChatModel` here that calls your own server.
 */
export const model: ChatModel = paced(extractiveModel({ chunkChars: 16 }));

function paced(fast: ChatModel): ChatModel {
  return {
    ...fast,
    async *stream(request, { signal }) {
      for await (const part of fast.stream(request, { signal })) {
        await pause(signal);
        if (signal.aborted) return;
        yield part;
      }
    },
  };
}

function pause(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, PACE_MS);
    signal.addEventListener('abort', done, { once: true });
    function done(): void {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    }
  });
}
