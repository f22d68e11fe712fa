/** The second argument that `@hono/node-server` passes to `fetch`. */
interface NodeBindings {
  readonly incoming: {
    readonly httpVersionMajor: number;
    readonly socket: { readonly destroyed: boolean; destroy(): void };
  };
  readonly outgoing: { once(event: 'close', listener: () => void): void };
}

/** How many requests of one connection may wait for earlier responses. */
const MAX_WAITING = 100;

/**
 * Returns a function that answers the requests of each HTTP/1 connection one at a time: a request waits until the client has received the
 * previous response. Otherwise, Node.js keeps all responses to pipelined requests in memory until the client has read the earlier ones. Closes
 * connections on which too many requests wait. On other runtimes, which pass no bindings, nothing waits.
 */
export function createRequestQueue() {
  const queues = new WeakMap<object, { waiting: number; last: Promise<void> }>();
  /** The end of the response that each response waits for. A program that wraps `fetch` may call it several times for one request. */
  const turns = new WeakMap<object, Promise<void>>();
  return async (bindings: unknown, answer: () => Promise<Response>): Promise<Response> => {
    const { incoming, outgoing } = Object(bindings) as Partial<NodeBindings>;
    if (incoming?.httpVersionMajor !== 1 || outgoing === undefined) return answer();
    const known = turns.get(outgoing);
    if (known !== undefined) return known.then(answer);
    const { socket } = incoming;
    const queue = queues.get(socket) ?? { waiting: 0, last: Promise.resolve() };
    queues.set(socket, queue);
    const before = queue.last;
    turns.set(outgoing, before);
    queue.last = new Promise((resolve) => {
      outgoing.once('close', resolve);
    });
    queue.waiting += 1;
    if (queue.waiting > MAX_WAITING) socket.destroy();
    await before;
    queue.waiting -= 1;
    return socket.destroyed ? new Response(null, { status: 400 }) : answer();
  };
}
