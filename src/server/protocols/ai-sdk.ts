import * as z from 'zod/mini';
import type { ContentPart } from '../../llm/content.ts';
import {
  bodyOf,
  idempotencyKeyOf,
  invalid,
  pathsAt,
  type ServerApp,
  type ServerContext,
  type ServerRequest,
} from '../context.ts';
import { HttpError } from '../http-error.ts';
import type { ServerSentEvent } from '../sse.ts';
import type { Updates } from '../updates.ts';
import { UiMessageChunks } from './ai-sdk-chunks.ts';

const partSchema = z.union([
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({
    type: z.literal('file'),
    /** A `data:` URL: the server downloads nothing. */
    url: z.string(),
    mediaType: z.optional(z.string()),
    filename: z.optional(z.string()),
  }),
  /** Ignored: tools, approvals, reasoning and data. */
  z.object({ type: z.string().check(z.refine((type) => type !== 'text' && type !== 'file')) }),
]);
type Part = z.infer<typeof partSchema>;

const ofServer = z.optional(z.never('set by the server; leave it out'));

/** The body that `useChat` sends. Other members are ignored. */
const chatSchema = z.object({
  /** The chat's id. */
  id: z.optional(z.string().check(z.minLength(1), z.maxLength(200))),
  messages: z
    .array(
      z.object({
        id: z.optional(z.string()),
        role: z.enum(['user', 'assistant'], 'expected "user" or "assistant"; the server sets the instructions'),
        parts: z.array(partSchema).check(z.maxLength(1_000)),
      }),
    )
    .check(z.maxLength(1_000)),
  /** A message that is regenerated gets another run. */
  trigger: z.optional(z.string()),
  tools: ofServer,
  system: ofServer,
  instructions: ofServer,
});

/** `WorkflowChatTransport` sends no Content-Type, so its JSON arrives as plain text. Pages of other sites are rejected by their Origin. */
const ACCEPTED = ['application/json', 'text/plain'];

/** Adds the chat endpoints for `useChat` of the AI SDK, with its own transports or `WorkflowChatTransport`. */
export function addAiSdk(app: ServerApp, server: ServerContext): void {
  const { runs } = server;

  const answerWith = (agent?: string) => async (c: ServerRequest) => {
    const { id: conversation, messages, trigger } = await bodyOf(c, chatSchema, ACCEPTED);
    const last = messages.at(-1);
    if (last?.role !== 'user')
      throw invalid('messages', 'expected the last role to be "user" (questions: POST /runs/:id/events)', last?.role);
    const history = messages.slice(0, -1).map(({ role, parts }) => ({ role, content: contentOf(parts, role) }));
    const asked = {
      request: contentOf(last.parts, 'user'),
      history: history.filter(({ content }) => content.length > 0),
      ...(conversation !== undefined && { conversation }),
    };
    // A message that is sent twice, for example by a retry, is one request.
    const isRepeatable = last.id !== undefined && trigger !== 'regenerate-message';
    const idempotencyKey = JSON.stringify(['ai-sdk', last.id, asked]);
    const { runId } = await runs.start(c.var.owner, {
      ...asked,
      agent,
      ...(isRepeatable && { idempotencyKey }),
      ...idempotencyKeyOf(c),
    });
    return streamChunks(c, server, runId, 0);
  };
  for (const [path, agent] of pathsAt('/api/chat', server)) app.post(path, answerWith(agent));

  app.get('/api/chat/:id/stream', async (c) => {
    const { id } = c.req.param();
    const startIndex = c.req.query('startIndex') ?? '0';
    if (!/^-?\d{1,9}$/u.test(startIndex))
      throw invalid('startIndex', 'expected the index of a chunk, or a negative one to count from the end', startIndex);
    try {
      return await streamChunks(c, server, id, Number(startIndex));
    } catch (error) {
      if (!(error instanceof HttpError) || error.code !== 'unknown_run') throw error;
    }
    const [run] = await runs.list(c.var.owner, { limit: 1, conversation: id });
    return run === undefined ? c.body(null, 204) : streamChunks(c, server, run.id, Number(startIndex));
  });
}

/** Returns the texts of a message and, for a user message, its files. */
function contentOf(parts: readonly Part[], role: 'user' | 'assistant'): readonly ContentPart[] {
  return parts.flatMap((part): readonly ContentPart[] => {
    if ('text' in part) return part.text.trim() === '' ? [] : [{ type: 'text', text: part.text }];
    if (!('url' in part) || role === 'assistant') return [];
    const { url, mediaType, filename } = part;
    return [{ type: 'file', data: url, mediaType, filename }];
  });
}

/** Streams the chunks from an index, which is the same in any process. A negative index counts from the end of the stored chunks. */
async function streamChunks(c: ServerRequest, server: ServerContext, runId: string, index: number): Promise<Response> {
  const headers = { 'x-vercel-ai-ui-message-stream': 'v1', 'x-workflow-run-id': runId };
  if (index >= 0) return server.stream(c, runId, (updates) => eventsFrom(index, updates), headers);
  const stored = await storedChunks(c, server, runId);
  return server.stream(c, runId, (updates) => eventsFrom(Math.max(0, stored + index), updates), {
    ...headers,
    'x-workflow-stream-tail-index': String(stored - 1),
  });
}

async function* eventsFrom(first: number, updates: Updates): AsyncGenerator<ServerSentEvent, void> {
  const chunks = new UiMessageChunks();
  let index = 0;
  for await (const { update } of updates) {
    for (const chunk of chunks.take(update)) {
      if (index >= first) yield { data: JSON.stringify(chunk) };
      index += 1;
    }
    if (update.type === 'answer') yield { data: '[DONE]' };
  }
}

async function storedChunks(
  { var: { owner } }: ServerRequest,
  { runs }: ServerContext,
  runId: string,
): Promise<number> {
  const chunks = new UiMessageChunks();
  let count = 0;
  for (const update of (await runs.stored(owner, runId)).updates) for (const _ of chunks.take(update)) count += 1;
  return count;
}
