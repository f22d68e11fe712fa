import type { PageMessage, ServerMessage } from '../../src/inspection/wire.ts';
import type { PageListener, PageSource } from './page-source.ts';

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 10_000;

const NO_SERVER = 'The inspector is not connected: start it again, and reload the page.';

type Answer = Extract<ServerMessage, { readonly type: 'sent' | 'test' }>;

/** Runs from the server that gave the page, over a WebSocket. A connection that is lost is sought again, and goes on where it was. */
export function socketSource(address: string): PageSource {
  const opened = new Set<string>();
  const waiting = new Map<number, (answer: Answer) => void>();
  let socket: WebSocket | null = null;
  let nextId = 1;
  let waitMs = FIRST_WAIT_MS;
  let ear: PageListener | null = null;
  let countOf: (runId: string) => number = () => 0;

  function say(message: PageMessage): boolean {
    if (socket?.readyState !== WebSocket.OPEN) return false;
    socket.send(JSON.stringify(message));
    return true;
  }

  function connect(): void {
    ear?.connection('connecting');
    const made = new WebSocket(address);
    socket = made;
    made.onopen = () => {
      waitMs = FIRST_WAIT_MS;
      ear?.connection('open');
      for (const runId of opened) say({ type: 'open', runId, from: countOf(runId) });
    };
    made.onmessage = ({ data }) => {
      if (typeof data === 'string' && ear !== null) hear(data, ear);
    };
    made.onclose = () => {
      ear?.connection('lost');
      for (const answer of waiting.values()) answer({ type: 'sent', id: 0, problem: NO_SERVER });
      waiting.clear();
      setTimeout(connect, waitMs);
      waitMs = Math.min(LONGEST_WAIT_MS, waitMs * 2);
    };
  }

  function hear(frame: string, to: PageListener): unknown {
    const head = frame.indexOf('\n');
    const message = JSON.parse(head < 0 ? frame : frame.slice(0, head)) as ServerMessage;
    switch (message.type) {
      case 'hello':
        return to.events(message.events);
      case 'runs':
        return to.runs(message.runs, message.chosen);
      case 'charts':
        return to.charts(message.runId, message);
      case 'entries':
        return to.entries(message.runId, message.from, head < 0 ? [] : frame.slice(head + 1).split('\n'));
      case 'end':
        return to.end(message.runId, message.problem);
      case 'sent':
      case 'test':
        waiting.get(message.id)?.(message);
        return waiting.delete(message.id);
      default:
        return message satisfies never;
    }
  }

  function ask(message: (id: number) => PageMessage): Promise<Answer> {
    const id = nextId;
    nextId += 1;
    return new Promise((resolve) => {
      waiting.set(id, resolve);
      if (say(message(id))) return;
      waiting.delete(id);
      resolve({ type: 'sent', id, problem: NO_SERVER });
    });
  }

  return {
    start(listener, counts) {
      ear = listener;
      countOf = counts;
      connect();
    },
    open(runId) {
      opened.add(runId);
      say({ type: 'open', runId, from: countOf(runId) });
    },
    close(runId) {
      opened.delete(runId);
      say({ type: 'close', runId });
    },
    send: async (runId, event) => (await ask((id) => ({ type: 'send', id, runId, event }))).problem,
    async test(runId) {
      const answer = await ask((id) => ({ type: 'test', id, runId }));
      return { text: answer.type === 'test' ? answer.text : '', problem: answer.problem };
    },
  };
}

/** The socket of the server that gave the page: beside it, under the same token. */
export function socketAddress({ protocol, host, pathname }: Location): string {
  return `${protocol === 'https:' ? 'wss' : 'ws'}://${host}${pathname.replace(/[^/]*$/u, '')}socket`;
}
