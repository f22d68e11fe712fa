import * as z from 'zod/mini';
import type { JournalEntry } from '../../../machines/contracts/journal.ts';
import type { Attachment } from '../../../machines/contracts/message.ts';
import { runStartOf } from '../../chain/journal/run-start.ts';
import { describeValue } from '../../internal/describe-value.ts';
import { fileIn } from '../../llm/content.ts';
import {
  bodyOf,
  idempotencyKeyOf,
  invalid,
  type ServerApp,
  type ServerContext,
  type ServerRequest,
} from '../context.ts';
import { FINAL, HttpError, unknownRun } from '../http-error.ts';
import type { Owner } from '../owners.ts';
import type { ServerSentEvent } from '../sse.ts';
import { type RunUpdate, updatesOf } from '../updates.ts';
import { ChatCompletion } from './openai-chat.ts';
import { inputItemsOf, itemPageOf } from './openai-input-items.ts';
import {
  type AnswerRequest,
  answerRequestOf,
  type Returned,
  requireSupported,
  withToolErrors,
} from './openai-parameters.ts';
import { type AnswerReply, replyOf } from './openai-reply.ts';
import {
  callText,
  chatRequestSchema,
  conversationOf,
  type InputItem,
  type InputMessage,
  outputsIn,
  responseRequestSchema,
  resultAsHistory,
  withResults,
} from './openai-requests.ts';
import { messageIdOf, ResponseEvents, type ResponseRequest, responseIdOf, UNUSED } from './openai-responses.ts';
import {
  type CallName,
  type CallOutput,
  callIdOf,
  callsOfTurns,
  resultsOf,
  runOfOutput,
  turnOf,
} from './openai-turns.ts';
import { sendAnswers } from './questions.ts';

/** With the defaults, also of a run that was started through another API. */
const requestSchema = z.object({
  returned: z._default(z.union([z.enum(['text', 'value']), z.object({ calls: z.array(z.string()) })]), 'text'),
  max_output_tokens: z._default(z.nullable(z.number()), null),
  text: z.optional(z.unknown()),
  tool_choice: z.optional(z.unknown()),
  background: z._default(z.boolean(), false),
  instructions: z._default(z.nullable(z.string()), null),
  previous_response_id: z._default(z.nullable(z.string()), null),
  parallel_tool_calls: z._default(z.boolean(), true),
  metadata: z._default(z.record(z.string(), z.string()), {}),
});
const NO_REQUEST: ResponseRequest = requestSchema.parse({});

/** Adds OpenAI's Responses API, Chat Completions API and list of models. */
export function addOpenAI(app: ServerApp, server: ServerContext): void {
  const { runs, modelName } = server;
  const created = Math.floor(server.clock.now() / 1_000);
  const model = { id: modelName, object: 'model', created, owned_by: 'postchain' };

  app.get('/v1/models', (c) => c.json({ object: 'list', data: [model] }));

  app.get('/v1/models/:id', (c) => {
    requireModel(c.req.param('id'));
    return c.json(model);
  });

  app.post('/v1/responses', async (c) => {
    const body = await bodyOf(c, responseRequestSchema);
    const { returned, asked } = answerRequestOf(body);
    const { text, tool_choice } = body;
    const request: ResponseRequest = {
      ...(text != null && { text: { ...UNUSED.text, ...Object(text) } }),
      ...(tool_choice != null && { tool_choice }),
      returned,
      max_output_tokens: body.max_output_tokens ?? null,
      background: body.background === true,
      instructions: body.instructions ?? null,
      previous_response_id: body.previous_response_id ?? null,
      parallel_tool_calls: body.parallel_tool_calls !== false,
      metadata: body.metadata ?? {},
    };
    const { owner } = c.var;
    const outputs = outputsIn(body.input, isTurn, (item) =>
      item.type === 'function_call_output' ? { callId: item.call_id, output: item.output } : null,
    );
    if (await continues(owner, outputs, returned)) {
      const { runId, turn } = await resume(c, body, outputs, 'input', request.previous_response_id);
      return answered(c, { runId, turn, request: requestIn(await runs.journal(owner, runId)) }, body);
    }
    const earlier = await previousTurns(owner, request.previous_response_id, outputs.length > 0);
    const messages: InputMessage[] = [{ role: 'system', content: request.instructions ?? '' }, ...earlier.messages];
    const lastAnswerAt = body.input.findLastIndex(isAnswer);
    const calls = new Map(earlier.calls);
    for (const [at, item] of body.input.slice(0, body.input.length - outputs.length).entries()) {
      if (item.type === 'function_call') calls.set(item.call_id, callText(item));
      messages.push(...(await messagesOf(owner, item, at > lastAnswerAt)));
    }
    const runId = await start(c, body, asked, withResults(messages, outputs, calls), 'input', request);
    return answered(c, { runId, turn: 1, request }, body);
  });

  app.get('/v1/responses/:id', async (c) => {
    const after = c.req.query('starting_after') ?? '-1';
    if (!/^-?\d{1,9}$/u.test(after)) throw invalid('starting_after', 'expected a sequence_number', after);
    const place = await placeOf(c.var.owner, c.req.param('id'));
    return c.req.query('stream') === 'true' ? streamed(c, place, Number(after)) : c.json(await stored(c, place));
  });

  app.get('/v1/responses/:id/input_items', async (c) => {
    const { entries, runId, turn } = await placeOf(c.var.owner, c.req.param('id'));
    return c.json(itemPageOf(inputItemsOf(runId, turn, entries), c.req.query()));
  });

  app.delete('/v1/responses/:id', async (c) => {
    const id = c.req.param('id');
    await runs.delete(c.var.owner, (await placeOf(c.var.owner, id)).runId);
    return c.json({ id, object: 'response', deleted: true });
  });

  app.post('/v1/responses/:id/cancel', async (c) => {
    const place = await placeOf(c.var.owner, c.req.param('id'));
    const { runId } = place;
    if ((await runs.view(c.var.owner, runId)).answer === null) {
      await runs.send(c.var.owner, runId, { type: 'run.cancelled' });
      await server.read(c, runId, async (updates) => {
        for await (const _ of updates);
      });
    }
    return c.json(await stored(c, place));
  });

  app.post('/v1/chat/completions', async (c) => {
    const body = await bodyOf(c, chatRequestSchema);
    const outputs = outputsIn(body.messages, isTurn, (message) =>
      message.role === 'tool' ? { callId: message.tool_call_id, output: message.content } : null,
    );
    const { returned, asked } = answerRequestOf(body);
    const lastAnswerAt = body.messages.findLastIndex(isAnswer);
    const calls = new Map<string, string>();
    const messages = body.messages
      .slice(0, body.messages.length - outputs.length)
      .flatMap((message, at): readonly InputMessage[] => {
        if (message.role === 'tool')
          return at > lastAnswerAt ? [resultAsHistory(message.content, calls.get(message.tool_call_id))] : [];
        for (const call of message.tool_calls ?? [])
          if (call.function) calls.set(call.id ?? '', callText(call.function));
        return [message];
      });
    const request: ResponseRequest = {
      ...NO_REQUEST,
      returned,
      max_output_tokens: body.max_completion_tokens ?? body.max_tokens ?? null,
      parallel_tool_calls: body.parallel_tool_calls !== false,
    };
    const { runId, turn } = (await continues(c.var.owner, outputs, returned))
      ? await resume(c, body, outputs, 'messages')
      : {
          runId: await start(c, body, asked, withResults(messages, outputs, calls), 'messages', request),
          turn: 1,
        };
    const chat = new ChatCompletion(modelName, body.stream_options?.include_usage === true, request, turn);
    if (body.stream !== true) {
      const end = await server.read(c, runId, async (updates) => {
        for await (const { update, end } of turnOf(runs, c.var.owner, runId, turn, updates)) {
          for (const _ of chat.take(update));
          if (end !== null) return end;
        }
        return null;
      });
      // A retry would start another run.
      if (end === null)
        throw new HttpError(503, 'closing', `The server is stopping. Later, see GET /runs/${runId}.`, FINAL);
      return c.json(chat.completion(end));
    }
    return server.stream(c, runId, async function* (updates) {
      for await (const { update, end } of turnOf(runs, c.var.owner, runId, turn, updates)) {
        const chunks = [...chat.take(update), ...(end === null ? [] : chat.end(end))];
        for (const chunk of chunks) yield { data: JSON.stringify(chunk) };
        if (end !== null) yield DONE;
      }
    });
  });

  function requireModel(name: string | null | undefined): void {
    if (name === undefined || name === null || name === modelName) return;
    const message = `model: expected "${modelName}", the only model of this server; received ${describeValue(name)}.`;
    throw new HttpError(404, 'model_not_found', message, {}, 'model');
  }

  async function start(
    c: ServerRequest,
    body: Body,
    asked: AnswerRequest['asked'],
    messages: readonly InputMessage[],
    param: string,
    request: ResponseRequest,
  ): Promise<string> {
    requireModel(body.model);
    requireSupported(body);
    const own = { host: { response: request as unknown as z.core.util.JSONType }, ...asked, ...idempotencyKeyOf(c) };
    return (await withToolErrors(runs.start(c.var.owner, { ...conversationOf(messages, param), ...own }))).runId;
  }

  /**
   * Whether results continue the run that waits for them. It must have been asked for the same kind of answer; nothing waits for the result of
   * a forced call, or of a call of another server. Any other results are a part of the request for a new run.
   */
  async function continues(owner: Owner, outputs: readonly CallOutput[], returned: Returned): Promise<boolean> {
    const [runId = null] = outputs.flatMap((output) => runOfOutput(output) ?? []);
    if (runId === null) return false;
    const recorded = requestIn(await runs.journal(owner, runId));
    return JSON.stringify(recorded.returned) === JSON.stringify(returned);
  }

  /** Sends results of the client's calls, and returns the run that continues with them, and its turn. A repeated request gets the same turn. */
  async function resume(
    c: ServerRequest,
    body: Body,
    outputs: readonly CallOutput[],
    param: string,
    previous: string | null = null,
  ) {
    requireModel(body.model);
    requireSupported(body);
    const { runId, turn, answers } = await resultsOf(runs, c.var.owner, outputs, param);
    if (previous !== null && previous !== responseIdOf(runId, turn - 1))
      throw invalid('previous_response_id', 'expected the response with the calls', previous);
    await sendAnswers(runs, c.var.owner, runId, answers);
    return { runId, turn };
  }

  /** Responds with a turn: with its first update if the request says "background". */
  async function answered(
    c: ServerRequest,
    place: Place,
    { stream, background }: { readonly stream?: unknown; readonly background?: unknown },
  ): Promise<Response> {
    if (stream === true) return streamed(c, place);
    return c.json(
      await server.read(c, place.runId, (updates) => responseIn(c.var.owner, place, updates, background === true)),
    );
  }

  /** Returns the response after the updates of a turn, or after the first one. */
  async function responseIn(owner: Owner, place: Place, updates: AsyncIterable<NewUpdate>, isFirst = false) {
    const events = new ResponseEvents(modelName, place.request, place.turn);
    for await (const { update, end } of turnOf(runs, owner, place.runId, place.turn, updates)) {
      for (const _ of events.take(update, end));
      if (isFirst) break;
    }
    return events.response;
  }

  /** Streams the events whose `sequence_number` is greater than `after`. */
  function streamed(c: ServerRequest, { runId, turn, request }: Place, after = -1): Promise<Response> {
    const events = new ResponseEvents(modelName, request, turn);
    return server.stream(c, runId, async function* (updates) {
      for await (const { update, end } of turnOf(runs, c.var.owner, runId, turn, updates)) {
        for (const event of events.take(update, end))
          if (event.sequence_number > after) yield { event: event.type, data: JSON.stringify(event) };
        if (end !== null) yield DONE;
      }
    });
  }

  /** Returns the run and the turn of a response, and its journal. */
  async function placeOf(owner: Owner, id: string) {
    const { runId, turn } = placeIn(id);
    const entries = await runs.journal(owner, runId);
    if (turn > callsOfTurns(entries).length + 1) throw unknownRun();
    return { runId, turn, request: requestIn(entries), entries };
  }

  /** Returns the response so far. */
  async function stored(c: ServerRequest, place: Place) {
    const entries = await runs.journal(c.var.owner, place.runId);
    return responseIn(c.var.owner, place, asUpdates(entries));
  }

  /** Returns the messages of an input item: none for items without content of their own, and outputs that an answer follows. */
  async function messagesOf(owner: Owner, item: InputItem, isUnanswered: boolean): Promise<readonly InputMessage[]> {
    if (item.type === 'message') return [item];
    if (item.type === 'function_call_output') return isUnanswered ? [resultAsHistory(item.output)] : [];
    // The answers of runs contain what they found.
    if (item.type !== 'item_reference' || /^(rs|fc)_/u.test(item.id)) return [];
    const runId = item.id.slice(messageIdOf('').length);
    if (messageIdOf(runId) !== item.id) throw unknownRun();
    return answerIn(await runs.journal(owner, runId)) ?? [{ role: 'assistant', content: '' }];
  }

  /**
   * Returns the conversation of an earlier response, with its answer, and its calls in words. Only a response with calls that have results may
   * still wait for its user.
   */
  async function previousTurns(owner: Owner, id: string | null, hasResults: boolean) {
    if (id === null) return { messages: [], calls: [] };
    const { entries, runId } = await placeOf(owner, id);
    const { messages, request, attachments } = runStartOf(entries).input;
    const answer = answerIn(entries);
    if (answer === null && !hasResults)
      throw invalid(
        'previous_response_id',
        'expected a response that has ended: first send its tool results without other messages, answer its question, or cancel it',
      );
    return {
      messages: [
        ...messages.flatMap(({ role, content, attachments }): InputMessage[] =>
          role === 'search' ? [] : [{ role, content: contentOf(entries, content, attachments) }],
        ),
        { role: 'user', content: contentOf(entries, request, attachments) } as const,
        ...(answer ?? []),
      ],
      calls: callsIn(entries).map((call): [string, string] => [
        callIdOf(runId, call),
        callText({ name: call.capability, arguments: JSON.stringify(call.arguments) }),
      ]),
    };
  }
}

/** Returns the reply to the request of a run; null before its answer. */
function replyIn(entries: readonly JournalEntry[]): AnswerReply | null {
  const answer = entries.find((entry) => entry.type === 'answer')?.answer;
  return answer === undefined ? null : replyOf(answer, requestIn(entries));
}

/** Returns the answer of a run as its client received it, as messages: none for a call. Null before the answer. */
function answerIn(entries: readonly JournalEntry[]): readonly InputMessage[] | null {
  const reply = replyIn(entries);
  if (reply === null || reply.type === 'call') return reply && [];
  return [{ role: 'assistant', content: reply.type === 'text' ? reply.text : reply.refusal }];
}

/** Returns all calls of a run that its client received, also the one that ended it. */
function callsIn(entries: readonly JournalEntry[]): readonly CallName[] {
  const reply = replyIn(entries);
  return [...callsOfTurns(entries).flat(), ...(reply?.type === 'call' ? [reply.call] : [])];
}

const DONE: ServerSentEvent = { data: '[DONE]' };

/** A response: a turn of a run. */
interface Place {
  readonly runId: string;
  readonly turn: number;
  readonly request: ResponseRequest;
}

interface NewUpdate {
  readonly update: RunUpdate;
}

interface Body {
  readonly model?: string | null | undefined;
  readonly [member: string]: unknown;
}

type AnyMessage = InputItem | { readonly role: string; readonly content: string | readonly unknown[] };

/** Whether an item or message is an answer of the assistant. An assistant message with only tool calls has no content. */
const isAnswer = (item: AnyMessage): boolean =>
  ('role' in item && item.role === 'assistant' && item.content.length > 0) ||
  ('id' in item && item.id.startsWith(messageIdOf('')));

/** Whether an item or message is a turn of the conversation: results of tools before it are history. */
const isTurn = (item: AnyMessage): boolean =>
  ('role' in item && (item.role === 'user' || item.role === 'assistant')) || isAnswer(item);

async function* asUpdates(entries: readonly JournalEntry[]): AsyncGenerator<NewUpdate, void> {
  for (const update of updatesOf(entries)) yield { update };
}

/** Returns the run and the turn whose response has this id. */
function placeIn(id: string): { readonly runId: string; readonly turn: number } {
  const [, number = '', runId = ''] = /^resp(\d{0,4})_(.+)$/su.exec(id) ?? [];
  const turn = number === '' ? 1 : Number(number);
  if (turn < 1 || responseIdOf(runId, turn) !== id) throw unknownRun();
  return { runId, turn };
}

const requestIn = (entries: readonly JournalEntry[]): ResponseRequest =>
  requestSchema.safeParse(runStartOf(entries).product.host?.['response']).data ?? NO_REQUEST;

function contentOf(
  entries: readonly JournalEntry[],
  text: string,
  attachments: readonly Attachment[] = [],
): InputMessage['content'] {
  const files = attachments.map((attachment) => {
    const { data, mediaType, name } = fileIn(entries, attachment);
    return { type: 'file', data, mediaType, filename: name ?? undefined } as const;
  });
  return [{ type: 'text', text }, ...files];
}
