import * as z from 'zod/mini';
import type { ContentPart } from '../../llm/content.ts';
import {
  bodyOf,
  invalid,
  pathsAt,
  type ServerApp,
  type ServerContext,
  type ServerRequest,
  type ToJsonSchema,
} from '../context.ts';
import type { Owner } from '../owners.ts';
import type { ClientRequest } from '../served-runs.ts';
import type { Question, RunUpdate, ServedAnswer, Updates } from '../updates.ts';
import { clientToolsOf, withToolErrors } from './openai-parameters.ts';
import { outputsIn } from './openai-requests.ts';
import { asClientCall, callIdOf, resultsOf } from './openai-turns.ts';
import { type Answers, answerSchemas, questionText, sendAnswers, untilQuestions } from './questions.ts';

const id = z.string().check(z.minLength(1), z.maxLength(200));
const sourceSchema = z.object({
  type: z.enum(['data', 'url', 'file']),
  value: z.string(),
  mimeType: z.optional(z.string()),
});
const partSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({ type: z.enum(['image', 'audio', 'video', 'document']), source: sourceSchema }),
]);
const messageSchema = z.looseObject({
  id,
  role: z.string(),
  /** Of a tool message: the call of its result. */
  toolCallId: z.nullish(z.string()),
  /** Of an assistant message: calls of the client's tools. */
  toolCalls: z.nullish(z.array(z.looseObject({ id: z.string() }))),
});
const inputSchema = z.object({
  threadId: id,
  runId: id,
  messages: z.array(messageSchema).check(z.maxLength(10_000)),
  tools: z.optional(z.array(z.unknown())),
  context: z.optional(z.array(z.object({ description: z.string(), value: z.string() }))),
  forwardedProps: z.catch(z.object({ mode: z.optional(z.enum(['automatic', 'manual'])) }), {}),
  resume: z.optional(
    z.array(
      z.object({
        interruptId: z.string(),
        status: z.enum(['resolved', 'cancelled']),
        payload: z.optional(z.unknown()),
      }),
    ),
  ),
});
type Input = z.infer<typeof inputSchema>;

type Message = Input['messages'][number];
type AgUiEvent = { readonly type: string } & Readonly<Record<string, unknown>>;

/** Adds the chain and the agents of the server as agents of the AG-UI protocol, version 1.0. */
export function addAgUi(app: ServerApp, server: ServerContext): void {
  const { runs } = server;

  const answerWith = (agent?: string) => async (c: ServerRequest) => {
    const input = await bodyOf(c, inputSchema);
    const { owner } = c.var;
    const resumed = answersIn(input) ?? (await resultsIn(input, owner));
    if (resumed !== null) await sendAnswers(runs, owner, resumed.runId, resumed.answers, input.threadId);
    const runId = resumed?.runId ?? (await withToolErrors(runs.start(owner, { ...requestOf(input), agent }))).runId;

    /**
     * Returns the run whose calls have results after the last request, and the results; null without results. The messages of the assistant
     * after them may be a part of the answer, from a stream that the client lost.
     */
    async function resultsIn({ messages }: Input, owner: Owner) {
      const isRequest = ({ role }: Message): boolean => role === 'user';
      const outputs = outputsIn(messages, isRequest, ({ role, toolCallId, content }) =>
        role === 'tool' ? { callId: toolCallId ?? '', output: textOf(content) } : null,
      );
      return outputs.length === 0 ? null : resultsOf(runs, owner, outputs, 'messages');
    }

    async function* eventsOf(updates: Updates): AsyncGenerator<AgUiEvent, void> {
      const events = new AgUiEvents(input, runId, server.toJsonSchema);
      try {
        const answered = Object.keys(resumed?.answers ?? {});
        for await (const { update, isNew, questions } of untilQuestions(runs, owner, runId, updates, answered)) {
          if (isNew) yield* events.begin();
          yield* events.take(update);
          if (questions !== null) yield* events.interrupt(questions);
        }
        if (!events.isOver) yield failure('closing', 'The server is stopping. Send the same input again.');
      } catch (error) {
        const { code, message } = server.errorFor(c, error);
        yield failure(code, message);
      }
    }
    return server.stream(
      c,
      runId,
      async function* (updates) {
        for await (const event of eventsOf(updates)) yield { data: JSON.stringify(event) };
      },
      { location: `/runs/${encodeURIComponent(runId)}` },
    );
  };
  for (const [path, agent] of pathsAt('/ag-ui', server)) app.post(path, answerWith(agent));
}

const failure = (code: string, message: string): AgUiEvent => ({ type: 'RUN_ERROR', code, message });

/** Returns the request: the last user message. A session of the chain has the earlier ones. */
function requestOf({ threadId, runId, messages, tools = [], context = [], forwardedProps }: Input): ClientRequest {
  const at = messages.findLastIndex(({ role }) => role === 'user');
  const asked = messages[at];
  if (asked === undefined) throw invalid('messages', 'expected at least one with the role "user"');
  const instructions = messages.flatMap(({ role, content }) =>
    ['system', 'developer'].includes(role) ? [textOf(content)] : [],
  );
  const known = context.map(({ description, value }) => `${description}: ${value}`).join('\n');
  return {
    request: contentOf(asked['content']),
    session: threadId,
    earlier: messages.slice(0, at).flatMap(({ role, content }): NonNullable<ClientRequest['earlier']> => {
      if (role === 'user') return [{ role, content: contentOf(content) }];
      return role === 'assistant' && typeof content === 'string' && content !== '' ? [{ role, content }] : [];
    }),
    idempotencyKey: JSON.stringify(['ag-ui', threadId, runId]),
    ...(tools.length > 0 && {
      clientTools: clientToolsOf({ tools: tools.map((tool) => ({ type: 'function', function: tool })) }),
    }),
    ...(instructions.length > 0 && { instructions: instructions.join('\n\n') }),
    ...(known !== '' && { history: [{ role: 'user', content: known }] }),
    ...(forwardedProps.mode !== undefined && { mode: forwardedProps.mode }),
  };
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  throw invalid('messages', 'expected system, developer and tool messages to contain a string', content);
}

function contentOf(content: unknown): string | ContentPart[] {
  if (typeof content === 'string') return content;
  const parts = z.array(partSchema).safeParse(content);
  if (!parts.success)
    throw invalid('messages', 'expected text, images, audio, video or documents as the content', content);
  return parts.data.map((part): ContentPart => {
    if (part.type === 'text') return part;
    const { type, value, mimeType } = part.source;
    if (type === 'file')
      throw invalid('messages', 'expected the data of the file, because the server reads no stored files', type);
    const mediaType = mimeType !== undefined && { mediaType: mimeType };
    return part.type === 'image'
      ? { type: 'image', image: value, ...mediaType }
      : { type: 'file', data: value, ...mediaType };
  });
}

/** Returns the id of an interrupt. It contains the ids of the run and the question, so that the next input identifies both. */
const interruptId = (runId: string, questionId: string): string => `${runId}:${questionId}`;

function answersIn({ resume = [] }: Input): { readonly runId: string; readonly answers: Answers } | null {
  const [first] = resume;
  if (first === undefined) return null;
  const runId = first.interruptId.split(':', 1).join();
  const answers = resume.map((entry): [string, unknown] => {
    if (!entry.interruptId.startsWith(`${runId}:`))
      throw invalid('resume', `expected interrupts of the run ${runId} only`, entry.interruptId);
    return [entry.interruptId.slice(runId.length + 1), entry.status === 'resolved' ? (entry.payload ?? {}) : null];
  });
  return { runId, answers: Object.fromEntries(answers) };
}

/**
 * Computes the events of one AG-UI run from the updates of a run. An AG-UI run is the entire run, or its part after an interrupt. The same
 * updates always give the same events and ids.
 */
class AgUiEvents {
  readonly #toJsonSchema: ToJsonSchema;
  readonly #input: Input;
  readonly #runId: string;
  readonly #progressId: string;
  /** The calls of the client's tools that have results. */
  readonly #results: ReadonlySet<unknown>;
  isOver = false;
  #hasBegun = false;
  #phase: string | null = null;
  /** The text of the progress message; empty before the first line. */
  #progress = '';
  /** The answer so far, the number of discarded answers before it, and whether its message is open. */
  #text = '';
  #voids = 0;
  #isTextOpen = false;

  constructor(input: Input, runId: string, toJsonSchema: ToJsonSchema) {
    this.#toJsonSchema = toJsonSchema;
    this.#input = input;
    this.#runId = runId;
    this.#progressId = `${input.runId}-progress`;
    this.#results = new Set(input.messages.map(({ toolCallId }) => toolCallId));
  }

  /** Yields the first events, unless it has begun. The client already knows the updates taken before. */
  *begin(): Generator<AgUiEvent, void> {
    if (this.#hasBegun) return;
    this.#hasBegun = true;
    this.#isTextOpen = false;
    this.#progress = '';
    const { threadId, runId, messages } = this.#input;
    yield { type: 'RUN_STARTED', threadId, runId, protocolVersion: '1.0' };
    // The client has already received some of these events, and would append them a second time.
    if (messages.some((message) => this.#isOwn(message))) yield this.#snapshot();
    if (this.#phase !== null) yield { type: 'STEP_STARTED', stepName: this.#phase };
  }

  *take(update: RunUpdate): Generator<AgUiEvent, void> {
    const events = [...this.#eventsOf(update)];
    if (this.#hasBegun) yield* events;
  }

  /** Ends with the open questions: with the calls of the client's tools, or else with an interrupt. */
  *interrupt(questions: readonly Question[]): Generator<AgUiEvent, void> {
    yield* this.begin();
    const calls = questions.flatMap((question) => asClientCall(question) ?? []);
    yield* this.#endText();
    const parentMessageId = `${this.#callsId}${calls[0]?.questionId}`;
    for (const call of calls) {
      const toolCallId = callIdOf(this.#runId, call);
      yield { type: 'TOOL_CALL_START', toolCallId, toolCallName: call.capability, parentMessageId };
      yield { type: 'TOOL_CALL_ARGS', toolCallId, delta: JSON.stringify(call.arguments) };
      yield { type: 'TOOL_CALL_END', toolCallId };
    }
    if (calls.length > 0) return yield* this.#end({ outcome: { type: 'success' } });
    const interrupts = questions.map((question) => ({
      id: interruptId(this.#runId, question.questionId),
      reason: question.kind === 'approval' ? 'confirmation' : 'input_required',
      message: questionText(question),
      responseSchema: this.#toJsonSchema(answerSchemas[question.kind]),
      metadata: { question },
    }));
    yield* this.#end({ outcome: { type: 'interrupt', interrupts } });
  }

  *#eventsOf(update: RunUpdate): Generator<AgUiEvent, void> {
    switch (update.type) {
      case 'phase': {
        const { phase, cycle, state, summary } = update;
        yield* this.#endStep({ cycle, state, ...(summary && { summary }) });
        if (state !== 'started') return;
        this.#phase = phase;
        yield { type: 'STEP_STARTED', stepName: phase, metadata: { cycle } };
        return;
      }
      case 'progress': {
        const messageId = this.#progressId;
        if (this.#progress === '') {
          yield { type: 'REASONING_START', messageId };
          yield { type: 'REASONING_MESSAGE_START', messageId, role: 'reasoning' };
        }
        this.#progress += `${update.text}\n`;
        yield { type: 'REASONING_MESSAGE_CONTENT', messageId, delta: `${update.text}\n` };
        return;
      }
      case 'text':
        yield* this.#write(update.delta);
        return;
      case 'text-void': {
        yield* this.#endText();
        const wasVisible = this.#text !== '';
        this.#text = '';
        this.#voids += 1;
        if (wasVisible) yield this.#snapshot();
        return;
      }
      case 'tool':
      case 'decision': {
        const { type: name, ...value } = update;
        yield { type: 'CUSTOM', name, value };
        return;
      }
      case 'answer':
        yield* this.#answer(update.answer);
    }
  }

  *#answer(answer: ServedAnswer): Generator<AgUiEvent, void> {
    if (this.#text === '') yield* this.#write(answer.answerText);
    if (answer.sources.length > 0) yield { type: 'CUSTOM', name: 'sources', value: answer.sources };
    const outcome = { type: answer.status === 'cancelled' ? 'cancelled' : 'success' };
    yield* this.#end({ outcome, result: answer });
  }

  *#write(delta: string): Generator<AgUiEvent, void> {
    const messageId = this.#textId;
    if (!this.#isTextOpen) yield { type: 'TEXT_MESSAGE_START', messageId, role: 'assistant' };
    this.#isTextOpen = true;
    this.#text += delta;
    yield { type: 'TEXT_MESSAGE_CONTENT', messageId, delta };
  }

  *#endText(): Generator<AgUiEvent, void> {
    if (this.#isTextOpen) yield { type: 'TEXT_MESSAGE_END', messageId: this.#textId };
    this.#isTextOpen = false;
  }

  *#endStep(metadata: object): Generator<AgUiEvent, void> {
    if (this.#phase !== null) yield { type: 'STEP_FINISHED', stepName: this.#phase, metadata };
    this.#phase = null;
  }

  *#end(how: object): Generator<AgUiEvent, void> {
    this.isOver = true;
    yield* this.#endText();
    yield* this.#endStep({});
    if (this.#progress !== '') {
      yield { type: 'REASONING_MESSAGE_END', messageId: this.#progressId };
      yield { type: 'REASONING_END', messageId: this.#progressId };
    }
    const { threadId, runId } = this.#input;
    yield { type: 'RUN_FINISHED', threadId, runId, ...how };
  }

  get #textId(): string {
    return `${this.#runId}-answer-${this.#voids}`;
  }

  get #callsId(): string {
    return `${this.#runId}-calls-`;
  }

  /** Whether this stream sends a message: the client may have received a part of it before. Calls with results were sent in an earlier turn. */
  #isOwn({ id, toolCalls }: Message): boolean {
    if (id.startsWith(this.#callsId)) return toolCalls?.some((call) => !this.#results.has(call.id)) ?? true;
    return id === this.#progressId || id.startsWith(`${this.#runId}-answer-`);
  }

  /** Returns an event that replaces the client's messages of this run, so that a discarded answer does not stay in the conversation. */
  #snapshot(): AgUiEvent {
    const others = this.#input.messages.filter((message) => !this.#isOwn(message));
    const answer = this.#text !== '' && { id: this.#textId, role: 'assistant', content: this.#text };
    const progress = { id: this.#progressId, role: 'reasoning', content: this.#progress };
    return { type: 'MESSAGES_SNAPSHOT', messages: [...others, ...(answer ? [answer] : []), progress] };
  }
}
