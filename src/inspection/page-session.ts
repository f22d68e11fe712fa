import type { RawData, WebSocket } from 'ws';
import { z } from 'zod';
import { PostChainError } from '../../machines/contracts/error.ts';
import { chainEventSchema } from '../../machines/contracts/events.ts';
import { limitsSchema, thresholdsSchema } from '../../machines/contracts/limits.ts';

import { jsonOf } from '../journal/journal-lines.ts';
import { toVitest } from '../journal/to-vitest.ts';
import { type Channel, channelTo } from './channel.ts';
import { problemOf } from './problem.ts';
import type { RunList } from './runs.ts';
import type { RunSource, StopFollowing } from './source.ts';
import { type PageMessage, type RunCharts, type SendableEvent, WIRE_VERSION } from './wire.ts';

/** Of RFC 6455: the message is one that is not taken. */
const POLICY_VIOLATION = 1008;

/** Runs that one page has open at once. */
const MAX_OPEN = 16;

/** That one page waits for. */
const MAX_TESTS = 8;

/** Speaks with one page for as long as it is there. Nothing that it says makes this throw. */
export function servePage(socket: WebSocket, runs: RunList): void {
  const page = channelTo(socket);
  const opened = new Map<string, StopFollowing>();
  let told = '';
  let isTelling = false;
  let isHeld = false;
  let tests = 0;
  let made = Promise.resolve('');

  /** A page that is slow is told the newest list, not each that there was. */
  async function tellRuns(): Promise<void> {
    if (isTelling) return;
    isTelling = true;
    await page.room();
    isTelling = false;
    if (told === runs.message()) return;
    told = runs.message();
    page.saySo(told);
  }

  async function open(runId: string, from: number): Promise<void> {
    close(runId);
    if (opened.size >= MAX_OPEN) {
      refuseRun(runId, `${MAX_OPEN} runs are open in this page: close one first.`);
      return;
    }
    // Until the run is found it can be closed all the same.
    let isWanted = true;
    opened.set(runId, () => {
      isWanted = false;
    });
    const source = await runs.find(runId);
    if (!isWanted) return;
    opened.delete(runId);
    try {
      if (source === undefined) throw noSuchRun(runId);
      const over = (): void => void opened.delete(runId);
      opened.set(runId, follow(source, runId, from, page, over));
    } catch (error) {
      refuseRun(runId, problemOf(error));
    }
  }

  const refuseRun = (runId: string, problem: string): void => page.say({ type: 'end', runId, problem });

  function close(runId: string): void {
    opened.get(runId)?.();
    opened.delete(runId);
  }

  async function send({ id, runId, event }: Extract<PageMessage, { type: 'send' }>): Promise<void> {
    try {
      const { send } = await sourceOf(runId);
      if (send === undefined)
        throw new PostChainError('invalid_option', 'It is not under way here: it cannot be told anything.');
      send(event);
      page.say({ type: 'sent', id, problem: null });
    } catch (error) {
      page.say({ type: 'sent', id, problem: problemOf(error) });
    }
  }

  /** One after the other: each takes the whole run. */
  async function test({ id, runId }: Extract<PageMessage, { type: 'test' }>): Promise<void> {
    try {
      if (tests >= MAX_TESTS)
        throw new PostChainError('invalid_option', `${MAX_TESTS} tests are being made: ask again afterwards.`);
      tests += 1;
      made = made
        .catch(() => '')
        .then(() => testOf(runId))
        .finally(() => {
          tests -= 1;
        });
      page.say({ type: 'test', id, text: await made, problem: null });
    } catch (error) {
      page.say({ type: 'test', id, text: '', problem: problemOf(error) });
    }
  }

  async function testOf(runId: string): Promise<string> {
    const { entries } = await sourceOf(runId);
    if (entries === undefined)
      throw new PostChainError('invalid_option', 'Only a run of PostChain can be made a test.');
    return toVitest(await entries(), { journalPath: './run.jsonl' });
  }

  async function sourceOf(runId: string): Promise<RunSource> {
    const source = await runs.find(runId);
    if (source === undefined) throw noSuchRun(runId);
    return source;
  }

  function hear(data: RawData, isBinary: boolean): void {
    if (!page.isOpen) return;
    const message = isBinary ? null : readPageMessage(String(data));
    if (message === null) socket.close(POLICY_VIOLATION, 'No message that a page sends.');
    else if (message.type === 'open') void open(message.runId, message.from);
    else if (message.type === 'close') close(message.runId);
    else if (message.type === 'send') void send(message);
    else void test(message);
    if (page.isOpen && page.isFull) void hold();
  }

  /** A page that does not read its answers is not heard until it does. */
  async function hold(): Promise<void> {
    if (isHeld) return;
    isHeld = true;
    socket.pause();
    await page.room();
    isHeld = false;
    socket.resume();
  }

  const stopListening = runs.listen(() => void tellRuns());
  socket.on('message', hear);
  socket.on('close', () => {
    stopListening();
    for (const runId of [...opened.keys()]) close(runId);
  });
  page.say({ type: 'hello', version: WIRE_VERSION, events: sendableEvents() });
  void tellRuns();
  void runs.refresh();
}

function noSuchRun(runId: string): PostChainError {
  return new PostChainError('invalid_journal', `There is no run ${JSON.stringify(runId)} here.`);
}

/** Tells a page of a run: its charts, its entries from this number on, and its end, after which `over` is called. Gives what stops it. */
function follow(source: RunSource, runId: string, from: number, page: Channel, over: () => void): StopFollowing {
  let next = from;
  let isStopped = false;
  let grown: RunCharts | null = null;
  let isTelling = false;

  function tellCharts(): void {
    if (grown !== null && !isStopped) page.say({ type: 'charts', runId, ...grown });
    grown = null;
  }

  /** A page that is slow is told the newest charts, not each that there were. */
  async function tellChartsSoon(): Promise<void> {
    if (isTelling) return;
    isTelling = true;
    await page.room();
    isTelling = false;
    tellCharts();
  }

  page.say({ type: 'charts', runId, ...source.charts() });
  const stop = source.follow(from, {
    async lines(lines) {
      if (isStopped) return;
      tellCharts();
      page.say({ type: 'entries', runId, from: next }, lines);
      next += lines.length;
      await page.room();
    },
    charts(charts) {
      grown = charts;
      void tellChartsSoon();
    },
    end(problem) {
      if (isStopped) return;
      tellCharts();
      page.say({ type: 'end', runId, problem });
      over();
    },
  });
  return () => {
    isStopped = true;
    stop();
  };
}

const MAX_ID_CHARS = 4_096;

const runId = z.string().max(MAX_ID_CHARS);
const id = z.int().min(0);

const pageMessageSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('open'), runId, from: z.int().min(0) }),
  z.object({ type: z.literal('close'), runId }),
  z.object({ type: z.literal('send'), id, runId, event: z.unknown() }),
  z.object({ type: z.literal('test'), id, runId }),
]) satisfies z.ZodType<PageMessage>;

/** Null for what no page says. */
function readPageMessage(text: string): PageMessage | null {
  const read = pageMessageSchema.safeParse(jsonOf(text));
  return read.success ? read.data : null;
}

let known: readonly SendableEvent[] | null = null;

/** What a run can be told, each as JSON Schema. */
function sendableEvents(): readonly SendableEvent[] {
  known ??= chainEventSchema.options.map((option) => {
    const schema = jsonSchemaOf(option);
    const type = option.shape.type.value;
    return { type, schema: type === 'run.adjusted' ? withNumbers(schema) : schema };
  });
  return known;
}

type JsonSchema = Readonly<Record<string, unknown>>;

function jsonSchemaOf(schema: z.ZodType): JsonSchema {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: 'input' });
  return rest;
}

/** The numbers that can be adjusted by their names and bounds. Their defaults are left out: what is not named stays as it is. */
function withNumbers(schema: JsonSchema): JsonSchema {
  const properties = schema['properties'] as JsonSchema;
  return {
    ...schema,
    properties: { ...properties, limits: someOf(limitsSchema), thresholds: someOf(thresholdsSchema) },
  };
}

function someOf(numbers: z.ZodType): JsonSchema {
  const { required: _, ...schema } = jsonSchemaOf(numbers);
  const properties = Object.entries(schema['properties'] as Record<string, JsonSchema>);
  return {
    ...schema,
    properties: Object.fromEntries(properties.map(([name, { default: _, ...number }]) => [name, number])),
  };
}
