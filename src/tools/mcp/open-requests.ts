import type { RequestId } from '@modelcontextprotocol/client';

/** Requests over HTTP, each with a stream of its own for the answer. */
export interface OpenRequests {
  /** A request is sent; its stream is to be closed when the signal aborts. */
  open(id: RequestId): AbortSignal;
  answer(id: RequestId): void;
  /** Nobody waits for it any more: its stream is closed. */
  drop(id: RequestId): void;
  /** Its stream ended. Says whether the answer is still waited for. */
  end(id: RequestId): boolean;
}

/** A stream that its server leaves open after the answer is closed when the next request is sent. */
export function createOpenRequests(): OpenRequests {
  const waiting = new Map<RequestId, AbortController>();
  const answered = new Map<RequestId, AbortController>();
  return {
    open: (id) => {
      for (const stream of answered.values()) stream.abort();
      answered.clear();
      const stream = new AbortController();
      waiting.set(id, stream);
      return stream.signal;
    },
    answer: (id) => {
      const stream = waiting.get(id);
      if (stream !== undefined) answered.set(id, stream);
      waiting.delete(id);
    },
    drop: (id) => {
      waiting.get(id)?.abort();
      waiting.delete(id);
    },
    end: (id) => {
      answered.delete(id);
      return waiting.delete(id);
    },
  };
}
