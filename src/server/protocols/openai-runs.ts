import * as z from 'zod/mini';
import { describeValue } from '../../internal/describe-value.ts';
import { idempotencyKeyOf, invalid, type ServerContext, type ServerRequest } from '../context.ts';
import { HttpError, unknownRun } from '../http-error.ts';
import type { Owner } from '../owners.ts';
import type { ServedRuns, StoredRun } from '../served-runs.ts';
import { type AnswerRequest, type Returned, requireSupported, withToolErrors } from './openai-parameters.ts';
import { type AnswerReply, replyOf } from './openai-reply.ts';
import { callText, conversationOf, type InputItem, type InputMessage, resultAsHistory } from './openai-requests.ts';
import { messageIdOf, type ResponseRequest, responseIdOf } from './openai-responses.ts';
import { type CallName, type CallOutput, callIdOf, callsOfTurns, resultsOf, runOfOutput } from './openai-turns.ts';
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
export const NO_REQUEST: ResponseRequest = requestSchema.parse({});

/** A response: a turn of a run. */
export interface RunPlace {
  readonly runId: string;
  readonly turn: number;
  readonly request: ResponseRequest;
  /** The name of the chain or agent. */
  readonly model: string;
}

interface Body {
  readonly model?: string | null | undefined;
  readonly [member: string]: unknown;
}

/** The runs of a server as the clients of OpenAI's APIs see them: a response is a turn of a run, and results of the client's calls continue it. */
export class OpenAIRuns {
  readonly #runs: ServedRuns;
  readonly #names: readonly string[];
  readonly #default: string | null;

  constructor({ runs, offers, defaultName }: ServerContext) {
    this.#runs = runs;
    this.#names = offers.map(({ name }) => name);
    this.#default = defaultName;
  }

  /** Returns the name of the chain or agent that a request asks for. Throws an `HttpError` 404. */
  modelOf(name: string | null | undefined): string {
    const model = name ?? this.#default;
    if (model !== null && this.#names.includes(model)) return model;
    const [only, ...others] = this.#names;
    const expected =
      others.length === 0 ? `"${only}", the only model of this server` : `one of ${this.#names.join(', ')}`;
    throw new HttpError(
      404,
      'model_not_found',
      `model: expected ${expected}; received ${describeValue(name)}.`,
      {},
      'model',
    );
  }

  async start(
    c: ServerRequest,
    body: Body,
    asked: AnswerRequest['asked'],
    messages: readonly InputMessage[],
    param: string,
    request: ResponseRequest,
  ): Promise<string> {
    const agent = this.modelOf(body.model);
    requireSupported(body);
    const own = { host: { response: request as unknown as z.core.util.JSONType }, ...asked, ...idempotencyKeyOf(c) };
    const start = this.#runs.start(c.var.owner, { ...conversationOf(messages, param), ...own, agent });
    const format = body['text'] === undefined ? 'response_format' : 'text.format';
    const { runId } = await withToolErrors(start, typeof request.returned === 'object' ? 'tool_choice' : format);
    return runId;
  }

  /**
   * Whether results continue the run that waits for them. It must have been asked for the same kind of answer; nothing waits for the result of
   * a forced call, or of a call of another server. Any other results are a part of the request for a new run.
   */
  async continues(owner: Owner, outputs: readonly CallOutput[], returned: Returned): Promise<boolean> {
    const [runId = null] = outputs.flatMap((output) => runOfOutput(output) ?? []);
    if (runId === null) return false;
    const recorded = requestIn(await this.#runs.stored(owner, runId));
    return JSON.stringify(recorded.returned) === JSON.stringify(returned);
  }

  /** Sends results of the client's calls, and returns the run that continues with them, and its turn. A repeated request gets the same turn. */
  async resume(
    c: ServerRequest,
    body: Body,
    outputs: readonly CallOutput[],
    param: string,
    previous: string | null = null,
  ) {
    this.modelOf(body.model);
    requireSupported(body);
    const { runId, turn, answers } = await resultsOf(this.#runs, c.var.owner, outputs, param);
    if (previous !== null && previous !== responseIdOf(runId, turn - 1))
      throw invalid('previous_response_id', 'expected the response with the calls', previous);
    await sendAnswers(this.#runs, c.var.owner, runId, answers);
    return { runId, turn };
  }

  /** Returns the run and the turn of a response, and what is stored of the run. */
  async placeOf(owner: Owner, id: string) {
    const { runId, turn } = placeIn(id);
    const run = await this.#runs.stored(owner, runId);
    if (turn > callsOfTurns(run).length + 1) throw unknownRun();
    return { runId, turn, request: requestIn(run), model: run.name, run };
  }

  /** Returns the messages of an input item: none for items without content of their own, and outputs that an answer follows. */
  async messagesOf(owner: Owner, item: InputItem, isUnanswered: boolean): Promise<readonly InputMessage[]> {
    if (item.type === 'message') return [item];
    if (item.type === 'function_call_output') return isUnanswered ? [resultAsHistory(item.output)] : [];
    // The answers of runs contain what they found.
    if (item.type !== 'item_reference' || /^(rs|fc)_/u.test(item.id)) return [];
    const runId = item.id.slice(messageIdOf('').length);
    if (messageIdOf(runId) !== item.id) throw unknownRun();
    return answerIn(await this.#runs.stored(owner, runId)) ?? [{ role: 'assistant', content: '' }];
  }

  /**
   * Returns the conversation of an earlier response, with its answer, and its calls in words. Only a response with calls that have results may
   * still wait for its user.
   */
  async previousTurns(owner: Owner, id: string | null, hasResults: boolean) {
    if (id === null) return { messages: [], calls: [] };
    const { run, runId } = await this.placeOf(owner, id);
    const answer = answerIn(run);
    if (answer === null && !hasResults)
      throw invalid(
        'previous_response_id',
        'expected a response that has ended: first send its tool results without other messages, answer its question, or cancel it',
      );
    return {
      messages: [
        ...run.turns.map((turn): InputMessage => ({ role: turn.role, content: contentOf(turn) })),
        ...(answer ?? []),
      ],
      calls: callsIn(run).map((call): [string, string] => [
        callIdOf(runId, call),
        callText({ name: call.capability, arguments: JSON.stringify(call.arguments) }),
      ]),
    };
  }
}

/** Returns the reply to the request of a run; null before its answer. */
function replyIn(run: StoredRun): AnswerReply | null {
  const answer = run.updates.find((update) => update.type === 'answer')?.answer;
  return answer === undefined ? null : replyOf(answer, requestIn(run));
}

/** Returns the answer of a run as its client received it, as messages: none for a call. Null before the answer. */
function answerIn(run: StoredRun): readonly InputMessage[] | null {
  const reply = replyIn(run);
  if (reply === null || reply.type === 'call') return reply && [];
  return [{ role: 'assistant', content: reply.type === 'text' ? reply.text : reply.refusal }];
}

/** Returns all calls of a run that its client received, also the one that ended it. */
function callsIn(run: StoredRun): readonly CallName[] {
  const reply = replyIn(run);
  return [...callsOfTurns(run).flat(), ...(reply?.type === 'call' ? [reply.call] : [])];
}

/** Returns the run and the turn whose response has this id. */
function placeIn(id: string): { readonly runId: string; readonly turn: number } {
  const [, number = '', runId = ''] = /^resp(\d{0,4})_(.+)$/su.exec(id) ?? [];
  const turn = number === '' ? 1 : Number(number);
  if (turn < 1 || responseIdOf(runId, turn) !== id) throw unknownRun();
  return { runId, turn };
}

export const requestIn = ({ host }: StoredRun): ResponseRequest =>
  requestSchema.safeParse(host['response']).data ?? NO_REQUEST;

function contentOf({ text, files }: StoredRun['turns'][number]): InputMessage['content'] {
  const parts = files.map(
    ({ data, mediaType, name }) => ({ type: 'file', data, mediaType, filename: name ?? undefined }) as const,
  );
  return [{ type: 'text', text }, ...parts];
}
