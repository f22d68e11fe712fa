import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { ModelPart } from '../../machines/contracts/model.ts';
import { fetchWithoutTimeout } from '../../src/internal/fetch-without-timeout.ts';
import { openaiModel } from '../../src/models/openai/openai-model.ts';
import { chatServer, seededSizes, splitBytes, streaming, trackedFetch } from '../support/chat-server.ts';
import { modelRequest, partsOf, type Reply, replyOf } from '../support/model-streams.ts';
import { sampleSize } from '../support/soak.ts';

/** Recorded replies of OpenAI-compatible servers, one chunk per line, kept outside the repository as measuring data. */
const FOLDER = new URL('../../../shared/data/provider-streams/', import.meta.url);
const names = existsSync(FOLDER) ? readdirSync(FOLDER).filter((name) => name.endsWith('.chunks.txt')) : [];
if (names.length === 0)
  process.stderr.write(`Streams of providers are not measured: there are none in ${FOLDER.pathname}\n`);
const linesOf = (name: string) =>
  readFileSync(new URL(name, FOLDER), 'utf8')
    .split('\n')
    .filter((line) => line !== '');
const bytesOf = (name: string) => Buffer.from([...linesOf(name), '[DONE]'].map((line) => `data: ${line}\n\n`).join(''));

/** Sending byte by byte over HTTP costs one event loop turn per byte, so only files up to this size are sent this way. */
const SMALL_BYTES = sampleSize('bytes of streams sent one by one', 10_000, 60_000);
const small = names.filter((name) => bytesOf(name).length <= SMALL_BYTES);
const SEEDS = [1, 20_260_301, 4_294_967_295].slice(0, sampleSize('random splits of provider streams', 1, 3));

interface Delta {
  readonly content?:
    | string
    | readonly { readonly text?: string; readonly thinking?: readonly { readonly text: string }[] }[];
  readonly reasoning_content?: string;
  readonly reasoning?: string;
  readonly tool_calls?: readonly {
    readonly index?: number;
    readonly function: { readonly name?: string; readonly arguments?: string };
  }[];
}
interface Line {
  readonly choices: readonly { readonly delta: Delta; readonly finish_reason?: string }[];
  readonly usage?: {
    readonly prompt_tokens: number;
    readonly completion_tokens: number;
    readonly total_tokens: number;
    readonly prompt_tokens_details?: { readonly cached_tokens?: number };
    readonly completion_tokens_details?: { readonly reasoning_tokens?: number };
    readonly cached_tokens?: number;
  };
}
type Expected = Reply & { readonly usage: unknown };

/** Reads the expected parts directly from the lines of a file, without code of the model. */
function straight(name: string): Expected {
  const lines = linesOf(name).map((line): Line => JSON.parse(line));
  const deltas = lines.flatMap(({ choices }) => choices.map(({ delta }) => delta));
  const parts = deltas.flatMap(({ content }) => (typeof content === 'string' ? [{ text: content }] : (content ?? [])));
  const aside = deltas.map((delta) => delta.reasoning_content ?? delta.reasoning ?? '').join('');
  const thoughts = parts.flatMap((part) => ('thinking' in part ? (part.thinking ?? []) : [])).map(({ text }) => text);
  const entries = deltas.flatMap((delta) => delta.tool_calls ?? []);
  const indexes = [...new Set(entries.map(({ index }) => index))];
  const calls = indexes.map((index) => {
    const own = entries.filter((entry) => entry.index === index).map((entry) => entry.function);
    return {
      name: own.find((one) => one.name)?.name ?? '',
      arguments: own.map((one) => one.arguments ?? '').join(''),
    };
  });
  const reasons = lines.flatMap(({ choices }) => choices.map((choice) => choice.finish_reason ?? ''));
  const cost = lines.findLast(({ usage }) => usage)?.usage;
  return {
    text: parts.map(({ text }) => text ?? '').join(''),
    reasoning: aside + thoughts.join(''),
    calls,
    end: reasons.join('').replace('_', '-'),
    usage: cost && {
      inputTokens: cost.prompt_tokens,
      outputTokens: cost.total_tokens - cost.prompt_tokens,
      cachedInputTokens: cost.prompt_tokens_details?.cached_tokens ?? cost.cached_tokens,
      reasoningTokens: cost.completion_tokens_details?.reasoning_tokens,
      estimated: false,
    },
  };
}

function told(parts: readonly ModelPart[]): Expected {
  const last = parts.at(-1);
  return { ...replyOf(parts), usage: last?.type === 'finish' ? last.usage : undefined };
}

/** Sends each chunk over HTTP only after the previous one was read, so that the splits are preserved. */
async function overHttp(pieces: readonly Uint8Array[]): Promise<Expected> {
  const watched = trackedFetch(fetchWithoutTimeout);
  const server = await chatServer(async ({ response }) => {
    streaming(response);
    let sent = 0;
    for (const piece of pieces) {
      sent += piece.length;
      response.write(piece);
      await watched.read(sent);
    }
    response.end();
  });
  const model = openaiModel({ model: 'm', apiKey: 'k', baseURL: server.baseURL, fetch: watched.fetch });
  const parts = await partsOf(model, modelRequest({ replyForm: 'tool-call' }));
  expect(watched.pieces()).toBeGreaterThanOrEqual(pieces.length);
  return told(parts);
}

/** Sends the chunks through the openai client without a network, for files that are too large to send byte by byte over HTTP. */
async function throughClient(pieces: readonly Uint8Array[]): Promise<Expected> {
  const queue = pieces.values();
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const { done, value } = queue.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
  });
  const fetch = async () => new Response(body, { headers: { 'content-type': 'text/event-stream' } });
  return told(await partsOf(openaiModel({ model: 'm', apiKey: 'k', fetch }), modelRequest({ replyForm: 'tool-call' })));
}

describe.skipIf(names.length === 0)('recorded provider streams (skipped without ../shared/data)', () => {
  test('include text, reasoning, and tool calls, each with one finish reason', () => {
    const all = names.map(straight);
    for (const { text, reasoning, calls, end } of all) {
      expect(text + reasoning + calls.map((call) => call.arguments).join('')).not.toBe('');
      expect(['stop', 'length', 'tool-calls']).toContain(end);
    }
    expect(all.filter(({ reasoning }) => reasoning !== '').length).toBeGreaterThan(3);
    expect(all.filter(({ calls }) => calls.length > 0).length).toBeGreaterThan(3);
  });

  test.each(names)('[A12] produce the content of their lines when sent whole: %s', async (name) => {
    expect(await overHttp([bytesOf(name)])).toEqual(straight(name));
    expect(await throughClient([bytesOf(name)])).toEqual(straight(name));
  });

  test.each(names)('[A12] produce the same over HTTP in random chunks: %s', async (name) => {
    const bytes = bytesOf(name);
    for (const seed of SEEDS) {
      for (const most of [Math.ceil(bytes.length / 30), Math.ceil(bytes.length / 300) + 1]) {
        const pieces = splitBytes(bytes, seededSizes(seed, most));
        expect(await overHttp(pieces), `seed ${seed}, pieces of 1 to ${most} bytes`).toEqual(straight(name));
      }
    }
  });

  test.each(small)('[A12] produce the same over HTTP byte by byte: %s', async (name) => {
    expect(await overHttp(splitBytes(bytesOf(name), () => 1))).toEqual(straight(name));
  });

  test.each(names)('[A12] produce the same through the openai client byte by byte: %s', async (name) => {
    expect(await throughClient(splitBytes(bytesOf(name), () => 1))).toEqual(straight(name));
  });
});
