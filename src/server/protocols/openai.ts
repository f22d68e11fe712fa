import * as z from 'zod/mini';
import type { Attachment } from '../../../machines/contracts/attachment.ts';
import type { JournalEntry } from '../../../machines/contracts/journal.ts';
import { runStartOf } from '../../chain/journal/journal-format.ts';
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
import type { Updates } from '../feeds.ts';
import { HttpError, unknownRun } from '../http-error.ts';
import type { Owner } from '../owners.ts';
import type { ClientRequest } from '../run-service.ts';
import type { ServerSentEvent } from '../sse.ts';
import { type RunUpdate, updatesOf } from '../updates.ts';
import type { RunEnd } from './openai-answer.ts';
import { ChatCompletion } from './openai-chat.ts';
import {
  chatRequestSchema,
  conversationOf,
  type InputItem,
  type InputMessage,
  requireSupported,
  responseRequestSchema,
} from './openai-requests.ts';
import { messageIdOf, ResponseEvents, type ResponseRequest, responseIdOf } from './openai-responses.ts';
import { untilQuestions } from './questions.ts';

const hostSchema = z.object({
  response: z.object({
    background: z.boolean(),
    instructions: z.nullable(z.string()),
    previous_response_id: z.nullable(z.string()),
    metadata: z.record(z.string(), z.string()),
  }),
});

/** For a run that was started through another API. */
const NO_REQUEST: ResponseRequest = {
  background: false,
  instructions: null,
  previous_response_id: null,
  metadata: {},
};

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
    const request: ResponseRequest = {
      background: body.background === true,
      instructions: body.instructions ?? null,
      previous_response_id: body.previous_response_id ?? null,
      metadata: body.metadata ?? {},
    };
    const earlier = await previousTurns(c.var.owner, request.previous_response_id);
    const messages: InputMessage[] = [{ role: 'system', content: request.instructions ?? '' }, ...earlier];
    for (const item of body.input) messages.push(...(await messagesOf(c.var.owner, item)));
    const runId = await start(c, body, messages, 'input', { response: { ...request } });
    const events = new ResponseEvents(modelName, request);
    if (body.stream === true) return streamed(c, runId, events);
    return respond(c, runId, events, (updates) =>
      request.background ? first(updates) : steps(c.var.owner, runId, updates),
    );
  });

  app.get('/v1/responses/:id', async (c) => {
    const after = c.req.query('starting_after') ?? '-1';
    if (!/^-?\d{1,9}$/u.test(after)) throw invalid('starting_after', 'expected a sequence_number', after);
    const { runId, request, response } = await stored(c);
    if (c.req.query('stream') !== 'true') return c.json(response);
    return streamed(c, runId, new ResponseEvents(modelName, request), Number(after));
  });

  app.post('/v1/responses/:id/cancel', async (c) => {
    const { runId, request, response } = await stored(c);
    if (response.completed_at !== null) return c.json(response);
    await runs.send(c.var.owner, runId, { type: 'run.cancelled' });
    return respond(c, runId, new ResponseEvents(modelName, request), (updates) => updates);
  });

  app.post('/v1/chat/completions', async (c) => {
    const body = await bodyOf(c, chatRequestSchema);
    const runId = await start(c, body, body.messages, 'messages');
    const chat = new ChatCompletion(modelName, body.stream_options?.include_usage === true);
    if (body.stream !== true) {
      const end = await server.read(c, runId, async (updates) => {
        for await (const { update, end } of steps(c.var.owner, runId, updates)) {
          for (const _ of chat.take(update));
          if (end !== null) return end;
        }
        return null;
      });
      // A retry would start another run.
      const headers = { 'x-should-retry': 'false' };
      if (end === null)
        throw new HttpError(503, 'closing', `The server is stopping. Later, see GET /runs/${runId}.`, headers);
      return c.json(chat.completion(end));
    }
    return server.stream(c, runId, async function* (updates) {
      for await (const { update, end } of steps(c.var.owner, runId, updates)) {
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
    body: { readonly model?: string | null | undefined; readonly [member: string]: unknown },
    messages: readonly InputMessage[],
    param: string,
    host: ClientRequest['host'] = {},
  ): Promise<string> {
    requireModel(body.model);
    requireSupported(body);
    const asked = { ...conversationOf(messages, param), host, ...idempotencyKeyOf(c) };
    return (await runs.start(c.var.owner, asked)).runId;
  }

  /** Yields the updates until the answer or an open question. */
  async function* steps(owner: Owner, runId: string, updates: Updates) {
    for await (const { update, questions } of untilQuestions(runs, owner, runId, updates))
      yield { update, end: update.type === 'answer' || questions !== null ? (update as RunEnd) : null };
  }

  /** Returns the response after the updates that `select` yields. */
  function respond(
    c: ServerRequest,
    runId: string,
    events: ResponseEvents,
    select: (updates: Updates) => AsyncIterable<{ readonly update: RunUpdate }>,
  ): Promise<Response> {
    return server.read(c, runId, async (updates) => {
      for await (const { update } of select(updates)) for (const _ of events.take(update));
      return c.json(events.response);
    });
  }

  /** Streams the events whose `sequence_number` is greater than `after`. */
  function streamed(c: ServerRequest, runId: string, events: ResponseEvents, after = -1): Promise<Response> {
    return server.stream(c, runId, async function* (updates) {
      for await (const { update, end } of steps(c.var.owner, runId, updates)) {
        const next = [...events.take(update), ...(end?.type === 'question' ? [events.waiting] : [])];
        for (const event of next)
          if (event.sequence_number > after) yield { event: event.type, data: JSON.stringify(event) };
        if (end !== null) yield DONE;
      }
    });
  }

  /** Returns the response so far of the run in the path. */
  async function stored(c: ServerRequest) {
    const runId = runIdIn(c.req.param('id') ?? '', responseIdOf);
    const entries = await runs.journal(c.var.owner, runId);
    const request = hostSchema.safeParse(runStartOf(entries).host).data?.response ?? NO_REQUEST;
    const events = new ResponseEvents(modelName, request);
    for (const update of updatesOf(entries)) for (const _ of events.take(update));
    return { runId, request, response: events.response };
  }

  /** Returns the messages of an input item: none for reasoning. */
  async function messagesOf(owner: Owner, item: InputItem): Promise<readonly InputMessage[]> {
    if (item.type === 'message') return [item];
    if (item.type === 'reasoning' || item.id.startsWith('rs_')) return [];
    const { answer } = await runs.view(owner, runIdIn(item.id, messageIdOf));
    return [{ role: 'assistant', content: answer?.answerText ?? '' }];
  }

  /** Returns the conversation of an earlier response, with its answer. */
  async function previousTurns(owner: Owner, id: string | null): Promise<readonly InputMessage[]> {
    if (id === null) return [];
    const entries = await runs.journal(owner, runIdIn(id, responseIdOf));
    const { messages, request, attachments } = runStartOf(entries);
    const answer = entries.find((entry) => entry.type === 'answer');
    if (answer === undefined) throw invalid('previous_response_id', 'expected a response that has ended');
    return [
      ...messages.flatMap(({ role, content, attachments }): InputMessage[] =>
        role === 'search' ? [] : [{ role, content: contentOf(entries, content, attachments) }],
      ),
      { role: 'user', content: contentOf(entries, request, attachments) },
      { role: 'assistant', content: answer.answer.answerText },
    ];
  }
}

const DONE: ServerSentEvent = { data: '[DONE]' };

async function* first(updates: Updates) {
  for await (const update of updates) {
    yield update;
    return;
  }
}

/** Returns the id of the run whose response or message has this id. */
function runIdIn(id: string, idOf: (runId: string) => string): string {
  const runId = id.slice(idOf('').length);
  if (idOf(runId) !== id) throw unknownRun();
  return runId;
}

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
