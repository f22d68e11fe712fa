import type * as z from 'zod/mini';
import { bodyOf, invalid, type ServerApp, type ServerContext, type ServerRequest } from '../context.ts';
import { FINAL, HttpError } from '../http-error.ts';
import type { Owner } from '../owners.ts';
import type { ServerSentEvent } from '../sse.ts';
import type { RunUpdate } from '../updates.ts';
import { ChatCompletion } from './openai-chat.ts';
import { inputItemsOf, itemPageOf } from './openai-input-items.ts';
import { answerRequestOf, type Returned } from './openai-parameters.ts';
import {
  callText,
  chatRequestSchema,
  type InputItem,
  type InputMessage,
  outputsIn,
  responseRequestSchema,
  resultAsHistory,
  withResults,
} from './openai-requests.ts';
import { messageIdOf, ResponseEvents, type ResponseRequest, UNUSED } from './openai-responses.ts';
import { NO_REQUEST, OpenAIRuns, type RunPlace, requestIn } from './openai-runs.ts';
import { turnOf } from './openai-turns.ts';

/** Adds OpenAI's Responses API, Chat Completions API and list of models. */
export function addOpenAI(app: ServerApp, server: ServerContext): void {
  const openai = new OpenAIRuns(server);
  const created = Math.floor(server.clock.now() / 1_000);
  const described = (id: string) => ({ id, object: 'model', created, owned_by: 'postchain' });

  app.get('/v1/models', (c) => c.json({ object: 'list', data: server.offers.map(({ name }) => described(name)) }));

  app.get('/v1/models/:id', (c) => c.json(described(openai.modelOf(c.req.param('id')))));

  addResponses(app, server, openai);
  addChatCompletions(app, server, openai);
}

function addResponses(app: ServerApp, server: ServerContext, openai: OpenAIRuns): void {
  const { runs } = server;

  app.post('/v1/responses', async (c) => {
    const body = await bodyOf(c, responseRequestSchema);
    const { returned, asked } = answerRequestOf(body);
    const request = responseRequestOf(body, returned);
    const { owner } = c.var;
    const outputs = outputsIn(body.input, isTurn, (item) =>
      item.type === 'function_call_output' ? { callId: item.call_id, output: item.output } : null,
    );
    if (await openai.continues(owner, outputs, returned)) {
      const { runId, turn } = await openai.resume(c, body, outputs, 'input', request.previous_response_id);
      const run = await runs.stored(owner, runId);
      return answered(c, server, { runId, turn, request: requestIn(run), model: run.name }, body);
    }
    const earlier = await openai.previousTurns(owner, request.previous_response_id, outputs.length > 0);
    const messages: InputMessage[] = [{ role: 'system', content: request.instructions ?? '' }, ...earlier.messages];
    const lastAnswerAt = body.input.findLastIndex(isAnswer);
    const calls = new Map(earlier.calls);
    for (const [at, item] of body.input.slice(0, body.input.length - outputs.length).entries()) {
      if (item.type === 'function_call') calls.set(item.call_id, callText(item));
      messages.push(...(await openai.messagesOf(owner, item, at > lastAnswerAt)));
    }
    const runId = await openai.start(c, body, asked, withResults(messages, outputs, calls), 'input', request);
    return answered(c, server, { runId, turn: 1, request, model: openai.modelOf(body.model) }, body);
  });

  app.get('/v1/responses/:id', async (c) => {
    const after = c.req.query('starting_after') ?? '-1';
    if (!/^-?\d{1,9}$/u.test(after)) throw invalid('starting_after', 'expected a sequence_number', after);
    const place = await openai.placeOf(c.var.owner, c.req.param('id'));
    return c.req.query('stream') === 'true'
      ? streamed(c, server, place, Number(after))
      : c.json(await stored(c, server, place));
  });

  app.get('/v1/responses/:id/input_items', async (c) => {
    const { run, runId, turn } = await openai.placeOf(c.var.owner, c.req.param('id'));
    return c.json(itemPageOf(inputItemsOf(runId, turn, run), c.req.query()));
  });

  app.delete('/v1/responses/:id', async (c) => {
    const id = c.req.param('id');
    await runs.delete(c.var.owner, (await openai.placeOf(c.var.owner, id)).runId);
    return c.json({ id, object: 'response', deleted: true });
  });

  app.post('/v1/responses/:id/cancel', async (c) => {
    const place = await openai.placeOf(c.var.owner, c.req.param('id'));
    const { runId, run } = place;
    if (!run.updates.some(({ type }) => type === 'answer')) {
      await runs.send(c.var.owner, runId, { type: 'run.cancelled' });
      await server.read(c, runId, async (updates) => {
        for await (const _ of updates);
      });
    }
    return c.json(await stored(c, server, place));
  });
}

function responseRequestOf(body: z.output<typeof responseRequestSchema>, returned: Returned): ResponseRequest {
  const { text, tool_choice } = body;
  return {
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
}

function addChatCompletions(app: ServerApp, server: ServerContext, openai: OpenAIRuns): void {
  const { runs } = server;

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
    const { runId, turn } = (await openai.continues(c.var.owner, outputs, returned))
      ? await openai.resume(c, body, outputs, 'messages')
      : {
          runId: await openai.start(c, body, asked, withResults(messages, outputs, calls), 'messages', request),
          turn: 1,
        };
    const chat = new ChatCompletion(
      openai.modelOf(body.model),
      body.stream_options?.include_usage === true,
      request,
      turn,
    );
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
}

/** Responds with a turn: with its first update if the request says "background". */
async function answered(
  c: ServerRequest,
  server: ServerContext,
  place: RunPlace,
  { stream, background }: { readonly stream?: unknown; readonly background?: unknown },
): Promise<Response> {
  if (stream === true) return streamed(c, server, place);
  return c.json(
    await server.read(c, place.runId, (updates) =>
      responseIn(server, c.var.owner, place, updates, background === true),
    ),
  );
}

/** Returns the response after the updates of a turn, or after the first one. */
async function responseIn(
  { runs }: ServerContext,
  owner: Owner,
  place: RunPlace,
  updates: AsyncIterable<NewUpdate>,
  isFirst = false,
) {
  const events = new ResponseEvents(place.model, place.request, place.turn);
  for await (const { update, end } of turnOf(runs, owner, place.runId, place.turn, updates)) {
    for (const _ of events.take(update, end));
    if (isFirst) break;
  }
  return events.response;
}

/** Streams the events whose `sequence_number` is greater than `after`. */
function streamed(
  c: ServerRequest,
  server: ServerContext,
  { runId, turn, request, model }: RunPlace,
  after = -1,
): Promise<Response> {
  const events = new ResponseEvents(model, request, turn);
  return server.stream(c, runId, async function* (updates) {
    for await (const { update, end } of turnOf(server.runs, c.var.owner, runId, turn, updates)) {
      for (const event of events.take(update, end))
        if (event.sequence_number > after) yield { event: event.type, data: JSON.stringify(event) };
      if (end !== null) yield DONE;
    }
  });
}

/** Returns the response so far. */
async function stored(c: ServerRequest, server: ServerContext, place: RunPlace) {
  const { updates } = await server.runs.stored(c.var.owner, place.runId);
  return responseIn(server, c.var.owner, place, asUpdates(updates));
}

const DONE: ServerSentEvent = { data: '[DONE]' };

interface NewUpdate {
  readonly update: RunUpdate;
}

type AnyMessage = InputItem | { readonly role: string; readonly content: string | readonly unknown[] };

/** Whether an item or message is an answer of the assistant. An assistant message with only tool calls has no content. */
const isAnswer = (item: AnyMessage): boolean =>
  ('role' in item && item.role === 'assistant' && item.content.length > 0) ||
  ('id' in item && item.id.startsWith(messageIdOf('')));

/** Whether an item or message is a turn of the conversation: results of tools before it are history. */
const isTurn = (item: AnyMessage): boolean =>
  ('role' in item && (item.role === 'user' || item.role === 'assistant')) || isAnswer(item);

async function* asUpdates(updates: readonly RunUpdate[]): AsyncGenerator<NewUpdate, void> {
  for (const update of updates) yield { update };
}
