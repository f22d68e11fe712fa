import { type ChatModel, offlineModel } from 'postchain';

/** Milliseconds between two pieces: about as fast as one reads. */
const PACE_MS = 30;

/**
 * The offline model, slowed down so that one can watch it; it needs no key and no server. A page must not hold a key: for a real
 * model, put a `ChatModel` here that asks a server of yours.
 */
export const model: ChatModel = paced(offlineModel({ chunkChars: 16 }));

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
