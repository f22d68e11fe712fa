import { mkdirSync, writeFileSync } from 'node:fs';
import { type IncomingHttpHeaders, request } from 'node:http';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import type { JournalEntry } from '../../machines/contracts/journal.ts';
import { readEntry } from '../../src/chain/journal/stored-entries.ts';
import {
  type InspectionOptions,
  type InspectionServer,
  inspectionServer,
} from '../../src/inspection/inspection-server.ts';
import type { PageMessage, PageRequest } from '../../src/inspection/page-messages.ts';
import type { InspectedRun, RequestResult, Results, ServerMessage } from '../../src/inspection/wire.ts';
import { temporaryFolder } from './cli.ts';

/** A folder as the build of the page leaves it. */
export function builtPage(): string {
  const folder = join(temporaryFolder(), 'inspector');
  mkdirSync(join(folder, 'assets'), { recursive: true });
  writeFileSync(join(folder, 'index.html'), '<!doctype html><title>The page</title>');
  writeFileSync(join(folder, 'assets', 'page-1a2b.js'), 'document.title;');
  writeFileSync(join(folder, '.hidden.js'), 'secret');
  writeFileSync(join(folder, '..', 'outside.js'), 'secret');
  return folder;
}

/** A server of the test's own, closed when it ends. */
export async function startInspector(options: InspectionOptions = {}): Promise<InspectionServer> {
  const server = await inspectionServer({ page: builtPage(), ...options });
  onTestFinished(() => server.close());
  return server;
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A request as it is given: its path and its headers are not made tidy. */
export function rawRequest(
  url: string,
  {
    path = new URL(url).pathname,
    ...options
  }: { path?: string; method?: string; headers?: Record<string, string> } = {},
): Promise<Answer> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const sent = request({ hostname, port, path, ...options, agent: false }, (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (piece: string) => {
        body += piece;
      });
      response.once('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }));
    });
    sent.once('upgrade', (response, socket) => {
      socket.destroy();
      resolve({ status: response.statusCode ?? 0, headers: response.headers, body: '' });
    });
    sent.once('error', reject);
    sent.end();
  });
}

type MessageOf<T extends ServerMessage['type']> = Extract<ServerMessage, { type: T }>;

/** A page as the server sees it: it notes all that it is told. */
export interface TestPage {
  readonly socket: WebSocket;
  readonly told: readonly ServerMessage[];
  all<T extends ServerMessage['type']>(type: T): readonly MessageOf<T>[];
  /** The newest list of runs, as soon as one fits. */
  runs(fits?: (runs: MessageOf<'runs'>) => boolean): Promise<MessageOf<'runs'>>;
  say(message: PageMessage): void;
  /** All lines of a run so far, in order; throws where one is missing or comes twice. */
  lines(runId: string): readonly string[];
  /** All state frames of a run so far, each as JSON. */
  frames(runId: string): readonly string[];
  entries(runId: string): readonly JournalEntry[];
  /** The end of a run that was opened. */
  end(runId: string): Promise<MessageOf<'end'>>;
  /** Sends a request and resolves to its reply. */
  request<Sent extends PageRequest>(sent: Sent): Promise<RequestResult<Results[Sent['type']]>>;
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>;
}

export async function openPage(url: string, from = 0): Promise<TestPage> {
  const socket = new WebSocket(`${url.replace(/^http/u, 'ws')}socket`);
  onTestFinished(() => socket.terminate());
  const told: ServerMessage[] = [];
  const lines = new Map<string, string[]>();
  const frames = new Map<string, string[]>();
  const faults: string[] = [];
  const listed = new Map<string, InspectedRun>();
  /** The list after a change, newest first. */
  function wholeList({ runs, removed, isAll, chosen, unread }: MessageOf<'runs'>): MessageOf<'runs'> {
    if (isAll) listed.clear();
    for (const run of runs) listed.set(run.runId, run);
    for (const runId of removed) listed.delete(runId);
    const all = [...listed.values()].toSorted((one, other) => (one.startedAt < other.startedAt ? 1 : -1));
    return { type: 'runs', runs: all, removed: [], isAll: true, chosen, unread };
  }
  socket.on('message', (data) => {
    const [head = '', ...behind] = String(data).split('\n');
    const received = JSON.parse(head) as ServerMessage;
    const message = received.type === 'runs' ? wholeList(received) : received;
    told.push(message);
    if (message.type === 'states') frames.set(message.runId, [...(frames.get(message.runId) ?? []), ...behind]);
    if (message.type !== 'entries') return;
    const before = lines.get(message.runId) ?? [];
    if (message.from !== from + before.length) faults.push(`${message.from} after ${from + before.length}`);
    before.push(
      ...behind.map((line) => (message.format === 'run' ? JSON.stringify(readEntry(JSON.parse(line))) : line)),
    );
    lines.set(message.runId, before);
  });
  const closed = new Promise<{ code: number; reason: string }>((resolve) =>
    socket.once('close', (code, reason) => resolve({ code, reason: String(reason) })),
  );
  await new Promise<void>((resolve, reject) => socket.once('open', resolve).once('error', reject));
  const all = <T extends ServerMessage['type']>(type: T) =>
    told.filter((message): message is MessageOf<T> => message.type === type);
  const linesOf = (runId: string): readonly string[] => {
    expect(faults).toEqual([]);
    return lines.get(runId) ?? [];
  };
  let nextId = 1;
  const say = (message: PageMessage): void => socket.send(JSON.stringify(message));
  const soon = <Value>(look: () => Value | undefined): Promise<Value> =>
    expect
      .poll(look, { interval: 5 })
      .toBeDefined()
      .then(() => look() as Value);
  return {
    socket,
    told,
    all,
    runs: (fits = () => true) => soon(() => all('runs').slice(-1).find(fits)),
    say,
    lines: linesOf,
    frames: (runId) => frames.get(runId) ?? [],
    entries: (runId) => linesOf(runId).map((line) => JSON.parse(line) as JournalEntry),
    end: (runId) => soon(() => all('end').find((end) => end.runId === runId)),
    async request(sent) {
      const id = nextId;
      nextId += 1;
      say({ ...sent, id });
      const { type: _, id: __, ...reply } = await soon(() => all('reply').find((message) => message.id === id));
      return reply as RequestResult<never>;
    },
    closed,
  };
}
