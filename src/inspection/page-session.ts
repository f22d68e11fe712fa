import type { RawData, WebSocket } from 'ws';
import * as z from 'zod/mini';
import { PostChainError } from '../../machines/contracts/error.ts';
import { chainEventSchema } from '../../machines/contracts/events.ts';
import { toolTurnSchema } from '../../machines/contracts/journal.ts';
import { runStartOf } from '../chain/journal/journal-format.ts';
import { toVitest } from '../chain/journal/to-vitest.ts';
import { readDecidingNumbers, whatIfSteps } from '../chain/journal/what-if.ts';
import { parseJson } from '../internal/json-text.ts';
import { exportRun } from './export-run.ts';
import { exportNotes, redactionOf, redactionsIn } from './redaction.ts';
import { act, type RunActions } from './run-actions.ts';
import type { RunList } from './runs.ts';
import { inTurns, problemOf, type RunSource, type StopFollowing } from './source.ts';
import {
  type PageMessage,
  type RunAction,
  type RunCharts,
  type RunWhatIf,
  type ServerMessage,
  WIRE_VERSION,
} from './wire.ts';

/** RFC 6455, section 7.4.1. */
const POLICY_VIOLATION = 1008;

/** How many runs a page may have open at once. */
const MAX_OPEN = 16;

/** How many generated tests a page may wait for. */
const MAX_WAITING = 8;

/** How many runs one `what-if` message looks at. */
const MAX_WHAT_IF = 500;

/** Serves one page until its socket closes. No message makes it throw. */
export function servePage(socket: WebSocket, runs: RunList, actions: RunActions | null = null): void {
  const page = channelTo(socket);
  const opened = new Map<string, StopFollowing>();
  let sentRevision = -1;
  /** One at a time, because each test holds a whole run in memory. */
  const generateTest = oneAtATime(testOf, 'tests are already being generated');
  const makePage = oneAtATime(pageOf, 'pages are already being exported');
  let asked = -1;

  /** Sends the list, then its changes. */
  const sendRuns = whenReady(page, () => {
    const change = runs.since(sentRevision);
    if (change === null) return;
    sentRevision = change.revision;
    page.sendRaw(change.message);
  });

  async function open({ runId, from, states }: Extract<PageMessage, { type: 'open' }>): Promise<void> {
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

  async function send({ id, runId, event }: Extract<PageMessage, { type: 'send' }>): Promise<void> {
    try {
      const { send } = await sourceOf(runId);
      if (send === undefined) throw new PostChainError('invalid_option', 'This run is not live; it accepts no events.');
      send(event);
      page.send({ type: 'sent', id, problem: null });
    } catch (error) {
      page.send({ type: 'sent', id, problem: problemOf(error) });
    }
  }

  async function test({ id, runId }: Extract<PageMessage, { type: 'test' }>): Promise<void> {
    try {
      page.send({ type: 'test', id, text: await generateTest(runId), problem: null });
    } catch (error) {
      page.send({ type: 'test', id, text: '', problem: problemOf(error) });
    }
  }

  /** A newer question, or the end of the page, ends the work on the last one. */
  async function whatIf({ id, only, set }: Extract<PageMessage, { type: 'what-if' }>): Promise<void> {
    asked = id;
    try {
      readDecidingNumbers(set);
      const all = only === null ? runs.all().filter(({ kind }) => kind === 'run') : [{ runId: only, title: '' }];
      const results: RunWhatIf[] = [];
      let leftOut = Math.max(0, all.length - MAX_WHAT_IF);
      for (const run of all.slice(0, MAX_WHAT_IF)) {
        if (asked !== id || !page.isOpen) break;
        try {
          const { entries } = await sourceOf(run.runId);
          if (entries === undefined)
            throw new PostChainError('invalid_option', 'Only a PostChain run takes decisions.');
          const recorded = await entries();
          const { currency } = runStartOf(recorded);
          const result = await inTurns(whatIfSteps(recorded, set));
          results.push({ runId: run.runId, request: run.title, currency: currency ?? '', ...result });
        } catch (error) {
          if (only !== null) throw error;
          leftOut += 1;
        }
      }
      page.send({ type: 'what-if', id, results, leftOut, problem: null });
    } catch (error) {
      page.send({ type: 'what-if', id, results: [], leftOut: 0, problem: problemOf(error) });
    }
  }

  async function remove({ id, runId }: Extract<PageMessage, { type: 'remove' }>): Promise<void> {
    const problem = await runs.remove(runId).then(() => null, problemOf);
    page.send({ type: 'removed', id, problem });
  }

  async function exportPage({ id, ...asked }: Extract<PageMessage, { type: 'export' }>): Promise<void> {
    try {
      page.send({ type: 'exported', id, ...(await makePage(asked)), problem: null });
    } catch (error) {
      page.send({ type: 'exported', id, html: '', notes: [], problem: problemOf(error) });
    }
  }

  async function pageOf({ runId, redact }: Pick<Extract<PageMessage, { type: 'export' }>, 'runId' | 'redact'>) {
    const { entries } = await sourceOf(runId);
    if (entries === undefined) throw new PostChainError('invalid_option', 'Only a PostChain run can be exported.');
    const recorded = await entries();
    if (redact.length === 0) return { html: (await exportRun(recorded)).html, notes: exportNotes(recorded) };
    const redaction = redactionOf(redact);
    const { html } = await exportRun(recorded, { redact: redaction });
    const texts = [...redactionsIn(recorded, redaction)].length;
    return {
      html,
      notes: [`Redacted in ${texts} ${texts === 1 ? 'text' : 'texts'}.`, ...exportNotes(recorded, redact)],
    };
  }

  async function testOf(runId: string): Promise<string> {
    const { entries } = await sourceOf(runId);
    if (entries === undefined)
      throw new PostChainError('invalid_option', 'A test can only be generated from a PostChain run.');
    return toVitest(await entries(), { journalPath: './run.jsonl' });
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
    else if (message.type === 'send') void send(message);
    else if (message.type === 'test') void test(message);
    else if (message.type === 'act')
      void act(runs, actions, message).then((result) =>
        page.send({ type: 'acted', id: message.id, result, problem: result.problem }),
      );
    else if (message.type === 'remove') void remove(message);
    else if (message.type === 'export') void exportPage(message);
    else void whatIf(message);
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
  page.send({ type: 'hello', version: WIRE_VERSION, events: EVENT_TYPES, continues, model: actions?.model });
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
  return new PostChainError('invalid_journal', `There is no run ${JSON.stringify(runId)}.`);
}

/** Sends a run to a page: its charts, its entries from a number on, and its end; then calls `onEnd`. Returns a function that stops it. */
function follow(
  source: RunSource,
  { runId, from, states }: Omit<Extract<PageMessage, { type: 'open' }>, 'type'>,
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
    needsStates: states !== false,
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

const MAX_ID_CHARS = 4_096;

const runId = z.string().check(z.maxLength(MAX_ID_CHARS));
const id = z.int().check(z.gte(0));

const actionSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('resume'), force: z.optional(z.boolean()) }),
  z.object({
    type: z.literal('fork'),
    at: z.int().check(z.gte(0)),
    set: z.record(z.string(), z.unknown()),
    turns: z.optional(
      z.array(
        z.object({
          role: z.enum(['system', 'user', 'assistant', 'tool']),
          content: z.string(),
          ...toolTurnSchema.shape,
        }),
      ),
    ),
  }),
  z.object({ type: z.literal('replay') }),
]) satisfies z.ZodMiniType<RunAction>;

const pageMessageSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('open'), runId, from: z.int().check(z.gte(0)), states: z.optional(z.boolean()) }),
  z.object({ type: z.literal('close'), runId }),
  z.object({ type: z.literal('send'), id, runId, event: z.unknown() }),
  z.object({ type: z.literal('test'), id, runId }),
  z.object({
    type: z.literal('act'),
    id,
    runId,
    action: actionSchema,
    confirmed: z.nullable(z.object({ doubt: z.string(), actions: z.array(z.string()) })),
  }),
  z.object({ type: z.literal('remove'), id, runId }),
  z.object({
    type: z.literal('export'),
    id,
    runId,
    redact: z.array(z.string().check(z.minLength(1), z.maxLength(MAX_ID_CHARS))).check(z.maxLength(64)),
  }),
  z.object({
    type: z.literal('what-if'),
    id,
    only: z.nullable(runId),
    set: z.record(z.string().check(z.maxLength(64)), z.number()),
  }),
]) satisfies z.ZodMiniType<PageMessage>;

/** Returns null for an invalid message. */
function readPageMessage(text: string): PageMessage | null {
  const read = pageMessageSchema.safeParse(parseJson(text));
  return read.success ? read.data : null;
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
