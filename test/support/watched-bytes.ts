/** A fetch, and how far the one who reads its bodies has come. */
export interface WatchedFetch {
  readonly fetch: typeof globalThis.fetch;
  /** How many pieces were read so far. */
  readonly pieces: () => number;
  /** Resolves when this many bytes were read in all. */
  readonly read: (bytes: number) => Promise<void>;
}

/** Watches the bodies that `inner` fetches, so that a server can wait until a piece was read before it sends the next one. */
export function watchedFetch(inner: typeof globalThis.fetch): WatchedFetch {
  const waiting = new Map<number, () => void>();
  let pieces = 0;
  let bytes = 0;
  const counter = (): TransformStream<Uint8Array, Uint8Array> =>
    new TransformStream({
      transform(piece, controller) {
        pieces += 1;
        bytes += piece.length;
        controller.enqueue(piece);
        waiting.get(bytes)?.();
      },
    });
  return {
    fetch: async (input, init) => {
      const { body, status, headers } = await inner(input, init);
      return new Response(body?.pipeThrough(counter()) ?? null, { status, headers });
    },
    pieces: () => pieces,
    read: (wanted) => new Promise((resolve) => (bytes >= wanted ? resolve() : waiting.set(wanted, resolve))),
  };
}
