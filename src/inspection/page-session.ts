import type { RawData, WebSocket } from 'ws';
import { PostChainError } from '../../machines/contracts/error.ts';
import { chainEventSchema } from '../../machines/contracts/events.ts';
import type { JournalEntry } from '../../machines/contracts/journal.ts';
import { count } from '../internal/printable.ts';
import { exportShared, sharedEntries } from './export-run.ts';
import { type PageMessage, readPageMessage } from './page-messages.ts';
import { exportNotes, redactionOf, redactionsIn } from './redaction.ts';
import { act, type RunActions } from './run-actions.ts';
import type { RunList } from './runs.ts';
import { problemOf, type RunSource, type StopFollowing } from './source.ts';
import { actOnActor, type InspectedActor, repairActors, sendToActor } from './systems/actor-actions.ts';
import type { ActorContinuer } from './systems/continue-actors.ts';
import { hostsOf, type InspectedMachine } from './systems/inspected-machine.ts';
import {
  type ActResult,
  type ExportResult,
  type InspectedMachines,
  type Results,
  type RunCharts,
  type ServerMessage,
  WIRE_VERSION,
} from './wire.ts';

type MessageOf<Type extends PageMessage['type']> = Extract<PageMessage, { readonly type: Type }>;
type Request = Extract<PageMessage, { readonly id: number }>;

/** RFC 6455, section 7.4.1. */
const POLICY_VIOLATION = 1008;

/** How many runs a page may have open at once. */
const MAX_OPEN = 16;

/** How many generated tests a page may wait for. */
const MAX_WAITING = 8;

/** The durable machines of the inspector, and what pages know about them. */
interface MachinesOfPage {
  readonly machines: readonly InspectedMachine[];
  readonly described: InspectedMachines;
  readonly continuer: ActorContinuer | null;
}

/** Serves one page until its socket closes. No message makes it throw. */
export function servePage(
  socket: WebSocket,
  runs: RunList,
  actions: RunActions | null = null,
  { machines, described, continuer }: MachinesOfPage = { machines: [], described: {}, continuer: null },
): void {
  const hosts = hostsOf(machines);
  const page = channelTo(socket);
  const opened = new Map<string, StopFollowing>();
  let sentRevision = -1;
  /** One at a time, because each page holds a whole run in memory. */
  const makePage = oneAtATime(pageOf, 'pages are already being exported');

  /** Sends the list, then its changes. */
  const sendRuns = whenReady(page, () => {
    const change = runs.since(sentRevision);
    if (change === null) return;
    sentRevision = change.revision;
    page.sendRaw(change.message);
  });

  async function open({ runId, from, states }: MessageOf<'open'>): Promise<void> {
    close(runId);
    if (opened.size >= MAX_OPEN) {
      rejectRun(runId, `This page has ${MAX_OPEN} runs open; close one first.`);
      return;
    }
    // The page may close the run before it is found.
    let isStillOpen = true;
    opened.set(runId, () => {
      isStillOpen = false;
    });
    const source = await runs.find(runId);
    if (!isStillOpen) return;
    opened.delete(runId);
    try {
      if (source === undefined) throw noSuchRun(runId);
      const onEnd = (): void => void opened.delete(runId);
      opened.set(runId, follow(source, { runId, from, states }, page, onEnd));
    } catch (error) {
      rejectRun(runId, problemOf(error));
    }
  }

  const rejectRun = (runId: string, problem: string): void => page.send({ type: 'end', runId, problem });

  function close(runId: string): void {
    opened.get(runId)?.();
    opened.delete(runId);
  }

  async function reply(request: Request): Promise<void> {
    const { id } = request;
    try {
      page.send({ type: 'reply', id, result: await resultOf(request), problem: null });
    } catch (error) {
      page.send({ type: 'reply', id, result: null, problem: problemOf(error) });
    }
  }

  async function resultOf(request: Request): Promise<Results[Request['type']]> {
    switch (request.type) {
      case 'send':
        await send(request);
        return null;
      case 'act':
        return actOn(request);
      case 'remove':
        await runs.remove(request.runId);
        return null;
      case 'export':
        return makePage(request);
      case 'repair':
        return repair(request);
      default:
        return request satisfies never;
    }
  }

  async function send({ runId, event }: MessageOf<'send'>): Promise<void> {
    const source = await sourceOf(runId);
    if (source.hosted) {
      const actor = source.hosted();
      await sendToActor(actor, event, eventsOf(actor));
      await runs.refresh([runId]);
      return continuer?.start(actor);
    }
    if (!source.send) throw new PostChainError('invalid_option', 'This run is not live; it accepts no events.');
    source.send(event);
  }

  async function actOn(request: MessageOf<'act'>): Promise<ActResult> {
    const source = await runs.find(request.runId);
    if (source === undefined) throw noSuchRun(request.runId);
    if (!source.hosted) return act(runs, actions, request);
    const actor = source.hosted();
    const result = await actOnActor(actor, request.action, eventsOf(actor));
    if (result.runId !== null) {
      await runs.refresh([result.runId]);
      continuer?.start({ ...actor, id: result.runId });
    }
    return { ...result, needsTrust: null };
  }

  async function repair({ runIds, action, dryRun, ...options }: MessageOf<'repair'>): Promise<Results['repair']> {
    const problems = new Map<string, string>();
    const actors: InspectedActor[] = [];
    for (const runId of runIds)
      try {
        const source = await sourceOf(runId);
        if (!source.hosted) throw new PostChainError('not_repairable', 'Only durable actors can be repaired.');
        actors.push(source.hosted());
      } catch (error) {
        problems.set(runId, problemOf(error));
      }
    const { output } = options;
    const repaired = await repairActors(action, actors, { dryRun, ...(output !== undefined && { output }) });
    if (!dryRun) await runs.refresh(actors.map((actor) => actor.id));
    const results = new Map(repaired.map((one) => [one.id, one]));
    return runIds.map((id) => results.get(id) ?? { id, problem: problems.get(id) ?? '' });
  }

  const eventsOf = ({ host }: InspectedActor) => machines.find((machine) => machine.host === host)?.events;

  async function pageOf({ runId, redact }: MessageOf<'export'>): Promise<ExportResult> {
    const source = await sourceOf(runId);
    const shared = await sharedEntries((await source.actorEntries?.()) ?? (await entriesOf(runId)), {
      hosts,
      id: runId,
    });
    const redaction = redact.length === 0 ? undefined : redactionOf(redact);
    const { html } = await exportShared(shared, redaction);
    const texts = redaction === undefined ? 0 : [...redactionsIn(shared, redaction)].length;
    const redactions = redaction === undefined ? [] : [`Redacted in ${count(texts, 'text')}.`];
    return { html, notes: [...redactions, ...exportNotes(shared, redact)] };
  }

  async function entriesOf(runId: string): Promise<readonly JournalEntry[]> {
    const source = await sourceOf(runId);
    if (source.entries) return source.entries();
    throw new PostChainError('invalid_option', 'Only a run or an actor in a store can be exported.');
  }

  async function sourceOf(runId: string): Promise<RunSource> {
    const source = await runs.find(runId);
    if (source === undefined) throw noSuchRun(runId);
    return source;
  }

  function receive(data: RawData, isBinary: boolean): void {
    if (!page.isOpen) return;
    const message = isBinary ? null : readPageMessage(String(data));
    if (message === null) socket.close(POLICY_VIOLATION, 'Invalid message.');
    else if (message.type === 'open') void open(message);
    else if (message.type === 'close') close(message.runId);
    else void reply(message);
    if (!page.isOpen || !page.isFull) return;
    socket.pause();
    resume();
  }

  /** The messages of a page that does not read ours are not read. */
  const resume = whenReady(page, () => socket.resume());
  const stopListening = runs.listen(sendRuns);
  socket.on('message', receive);
  socket.on('close', () => {
    stopListening();
    for (const runId of [...opened.keys()]) close(runId);
  });
  const continues = actions !== null;
  const model = actions?.model;
  page.send({ type: 'hello', version: WIRE_VERSION, events: EVENT_TYPES, continues, model, machines: described });
  sendRuns();
  void runs.refresh();
}

/** Returns a function that runs one task at a time, and rejects if too many wait. */
function oneAtATime<Input, Value>(task: (input: Input) => Promise<Value>, tooMany: string) {
  let waiting = 0;
  let last: Promise<unknown> = Promise.resolve();
  return (input: Input): Promise<Value> => {
    if (waiting >= MAX_WAITING)
      return Promise.reject(new PostChainError('invalid_option', `${MAX_WAITING} ${tooMany}; try again later.`));
    waiting += 1;
    const result = last.then(() => task(input)).finally(() => (waiting -= 1));
    last = result.catch(() => {});
    return result;
  };
}

function noSuchRun(runId: string): PostChainError {
  return new PostChainError('unknown_journal', `There is no run ${JSON.stringify(runId)}.`);
}

/** Sends a run to a page: its charts, its entries from a number on, and its end; then calls `onEnd`. Returns a function that stops it. */
function follow(
  source: RunSource,
  { runId, from, states }: Omit<MessageOf<'open'>, 'type'>,
  page: Channel,
  onEnd: () => void,
): StopFollowing {
  let next = from;
  let isStopped = false;
  let changedCharts: RunCharts | null = null;

  function sendCharts(): void {
    if (changedCharts !== null && !isStopped) page.send({ type: 'charts', runId, ...changedCharts });
    changedCharts = null;
  }

  /** Sends the latest charts; intermediate ones are skipped. */
  const sendChartsSoon = whenReady(page, sendCharts);

  page.send({ type: 'charts', runId, ...source.charts() });
  const stop = source.follow(from, {
    needsStates: states,
    async lines(lines, about) {
      if (isStopped) return;
      sendCharts();
      page.send({ type: 'entries', runId, from: next, ...about }, lines);
      next += lines.length;
      await page.ready();
    },
    async states(first, frames) {
      if (isStopped) return;
      page.send({ type: 'states', runId, from: first }, frames);
      await page.ready();
    },
    charts(charts) {
      changedCharts = charts;
      sendChartsSoon();
    },
    end(problem) {
      if (isStopped) return;
      sendCharts();
      page.send({ type: 'end', runId, problem });
      onEnd();
    },
  });
  return () => {
    isStopped = true;
    stop();
  };
}

const EVENT_TYPES: readonly string[] = chainEventSchema.def.options.flatMap(({ shape }) => shape.type.def.values);

/** With more unsent data than this, a page is not ready. */
const MAX_UNSENT_BYTES = 4_194_304;

/** After this much in one turn of the event loop, other work runs first. */
const TURN_CHARS = 131_072;

/** The server's end of a page's socket. */
interface Channel {
  send(message: ServerMessage, lines?: readonly string[]): void;
  /** Sends a message that is already JSON. */
  sendRaw(text: string): void;
  /** Resolves when the page can take more, or has gone. After much data, resolves in a later turn of the event loop. */
  ready(): Promise<void>;
  readonly isOpen: boolean;
  readonly isFull: boolean;
}

/** Returns a function that acts once the page is ready. Further calls before that have no effect. */
function whenReady(page: Channel, act: () => void): () => void {
  let isWaiting = false;
  return async () => {
    if (isWaiting) return;
    isWaiting = true;
    await page.ready();
    isWaiting = false;
    act();
  };
}

function channelTo(socket: WebSocket): Channel {
  const waiting = new Set<() => void>();
  /** Characters sent in this turn of the event loop. */
  let sentChars = 0;
  /** A closing page takes no more data. */
  const isFull = (): boolean =>
    socket.readyState === socket.CLOSING ||
    (socket.readyState === socket.OPEN && socket.bufferedAmount > MAX_UNSENT_BYTES);

  function resolveIfReady(): void {
    if (isFull()) return;
    for (const resolve of waiting) resolve();
    waiting.clear();
  }
  socket.on('close', resolveIfReady);

  function sendRaw(text: string): void {
    if (sentChars === 0) setImmediate(() => (sentChars = 0));
    sentChars += text.length;
    // With a callback, send() does not throw on a closed socket.
    socket.send(text, resolveIfReady);
  }

  return {
    send: (message, lines = []) => sendRaw([JSON.stringify(message), ...lines].join('\n')),
    sendRaw,
    async ready() {
      if (sentChars > TURN_CHARS) await new Promise((resolve) => setImmediate(resolve));
      if (isFull()) await new Promise<void>((resolve) => waiting.add(resolve));
    },
    get isOpen() {
      return socket.readyState === socket.OPEN;
    },
    get isFull() {
      return isFull();
    },
  };
}
