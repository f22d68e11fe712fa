import type { PageMessage, PageRequest } from '../../src/inspection/page-messages.ts';
import {
  type ExportedRun,
  type InspectedMachines,
  type InspectedRun,
  type RequestResult,
  type Results,
  type RunCharts,
  type SentLines,
  type ServerMessage,
  WIRE_VERSION,
} from '../../src/inspection/wire.ts';

export type ConnectionState = 'connecting' | 'open' | 'lost' | 'file';

export interface PageListener {
  connection(state: ConnectionState): void;
  /** `continues`: the server resumes and forks recorded runs. `model`: the one that continues a run whose journal names none. */
  hello(events: readonly string[], continues: boolean, model?: string, machines?: InspectedMachines): void;
  /** All runs, newest first. `unread`: how many the server has yet to read. */
  runs(runs: readonly InspectedRun[], selected: string | null, unread: number): void;
  charts(runId: string, charts: RunCharts): void;
  entries(runId: string, from: number, lines: readonly string[], about?: SentLines): void;
  states(runId: string, from: number, frames: readonly string[]): void;
  end(runId: string, problem: string | null): void;
}

/** Provides runs: from a server, or from the exported file. */
export interface PageSource {
  /**
   * Starts, once. `countOf` returns how many entries of a run have arrived, so that a new connection continues there.
   */
  start(listener: PageListener, countOf: (runId: string) => number): void;
  /** Requests a run, with the states of its chart if it is short, or if `states` is true. */
  open(runId: string, states?: true): void;
  /** Resolves to the reply of the server. Never rejects. */
  request<Sent extends PageRequest>(sent: Sent): Promise<RequestResult<Results[Sent['type']]>>;
}

const FIRST_WAIT_MS = 500;
const MAX_WAIT_MS = 10_000;

const NO_SERVER = 'The inspector is not connected. Start it again and reload the page.';

type Known = Map<string, InspectedRun>;
type Waiting = Map<number, (reply: RequestResult<never>) => void>;

/** Runs from the server over a WebSocket; reconnects and continues after a lost connection. */
export function socketSource(address: string): PageSource {
  const opened = new Map<string, true | undefined>();
  const waiting: Waiting = new Map();
  const known: Known = new Map();
  let socket: WebSocket | null = null;
  let nextId = 1;
  let waitMs = FIRST_WAIT_MS;
  let listener: PageListener | null = null;
  let countOf: (runId: string) => number = () => 0;

  function sendMessage(message: PageMessage): boolean {
    if (socket?.readyState !== WebSocket.OPEN) return false;
    socket.send(JSON.stringify(message));
    return true;
  }

  const requestRun = (runId: string): boolean =>
    sendMessage({ type: 'open', runId, from: countOf(runId), states: opened.get(runId) });

  function connect(): void {
    listener?.connection('connecting');
    const created = new WebSocket(address);
    socket = created;
    created.onopen = () => {
      waitMs = FIRST_WAIT_MS;
      listener?.connection('open');
      for (const runId of opened.keys()) requestRun(runId);
    };
    created.onmessage = ({ data }) => {
      if (typeof data === 'string' && listener !== null) receive(data, listener, known, waiting);
    };
    created.onclose = () => {
      listener?.connection('lost');
      for (const resolve of waiting.values()) resolve({ result: null, problem: NO_SERVER });
      waiting.clear();
      setTimeout(connect, waitMs);
      waitMs = Math.min(MAX_WAIT_MS, waitMs * 2);
    };
  }

  return {
    start(newListener, counts) {
      listener = newListener;
      countOf = counts;
      connect();
    },
    open(runId, states = opened.get(runId)) {
      opened.set(runId, states);
      requestRun(runId);
    },
    request(sent) {
      const id = nextId;
      nextId += 1;
      return new Promise((resolve) => {
        waiting.set(id, resolve);
        if (sendMessage({ ...sent, id })) return;
        waiting.delete(id);
        resolve({ result: null, problem: NO_SERVER });
      });
    },
  };
}

/** Passes a frame of the server on, with the runs that are `known`, or to the request that is `waiting` for it. */
function receive(frame: string, to: PageListener, known: Known, waiting: Waiting): unknown {
  const head = frame.indexOf('\n');
  const message = JSON.parse(head < 0 ? frame : frame.slice(0, head)) as ServerMessage;
  const lines = head < 0 ? [] : frame.slice(head + 1).split('\n');
  switch (message.type) {
    case 'hello':
      return to.hello(message.events, message.continues, message.model, message.machines);
    case 'runs':
      return to.runs(merge(known, message), message.chosen, message.unread);
    case 'charts':
      return to.charts(message.runId, message);
    case 'entries':
      return to.entries(message.runId, message.from, lines, message);
    case 'states':
      return to.states(message.runId, message.from, lines);
    case 'end':
      return to.end(message.runId, message.problem);
    case 'reply':
      waiting.get(message.id)?.(message as RequestResult<never>);
      return waiting.delete(message.id);
    default:
      return message satisfies never;
  }
}

function merge(known: Known, { runs, removed, isAll }: Extract<ServerMessage, { type: 'runs' }>) {
  if (isAll) known.clear();
  for (const run of runs) known.set(run.runId, run);
  for (const runId of removed) known.delete(runId);
  return [...known.values()].sort(newestFirst);
}

const newestFirst = (one: InspectedRun, other: InspectedRun): number =>
  one.startedAt < other.startedAt ? 1 : one.startedAt > other.startedAt ? -1 : 0;

const EXPORTED_FILE = 'This page is an exported file. To do this, open the run with "postchain inspect".';
const DAMAGED = 'the file is truncated or was changed. Export it again.';

interface EmbeddedRun {
  readonly data: string;
  /** SHA-256 of `data` in hexadecimal, as written by the export. */
  readonly checksum: string;
}

/** Null if the page comes from a server. In a page opened from disk, missing data means a truncated file. */
export function embeddedRun(page: Document): EmbeddedRun | null {
  const element = page.getElementById('recording');
  const data = element?.textContent ?? '';
  const checksum = element?.dataset['sha256'];
  const isExport = checksum !== undefined || page.location.protocol === 'file:';
  return data.trim() === '' && !isExport ? null : { data, checksum: checksum ?? '' };
}

/** The run in an exported file. Rejects with one line if the file is invalid or was changed. */
export async function fileSource(
  { data, checksum }: EmbeddedRun,
  onDrawings: (charts: RunCharts, drawings: Readonly<Record<string, unknown>>) => void = () => {},
): Promise<PageSource> {
  // Browsers without `crypto.subtle` for files cannot check; the printed checksum still can.
  const isChecked = crypto.subtle !== undefined;
  if (isChecked && (await sha256(data)) !== checksum)
    throw new Error(`The run in this file does not match its checksum: ${DAMAGED}`);
  const { charts, drawings, lines, states, ...exported } = read(data);
  onDrawings(charts, drawings ?? {});
  const integrity = isChecked
    ? `Intact: this file matches its SHA-256 checksum, ${checksum}.`
    : `Not checked: this browser cannot compute the SHA-256 checksum of this file, ${checksum}.`;
  const run = { ...exported.run, integrity };
  return {
    start(listener) {
      listener.connection('file');
      listener.runs([run], run.runId, 0);
      listener.charts(run.runId, charts);
      listener.entries(run.runId, 0, lines, run.kind === 'system' ? { format: 'actor' } : {});
      listener.states(run.runId, 0, states);
      listener.end(run.runId, null);
    },
    open: () => {},
    request: async () => ({ result: null, problem: EXPORTED_FILE }),
  };
}

async function sha256(text: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

function read(data: string): ExportedRun {
  let exported: Partial<ExportedRun> | null;
  try {
    exported = JSON.parse(data) as Partial<ExportedRun> | null;
  } catch {
    throw new Error(`The run in this file cannot be read: ${DAMAGED}`);
  }
  const { version, run, charts, drawings, lines, states } = exported ?? {};
  if (version !== WIRE_VERSION)
    throw new Error(`Unsupported file version: expected ${WIRE_VERSION}; received ${String(version)}.`);
  if (!run || !charts || !Array.isArray(lines) || !Array.isArray(states))
    throw new Error(`The run in this file is incomplete: ${DAMAGED}`);
  return { version, run, charts, ...(drawings && { drawings }), lines, states };
}
