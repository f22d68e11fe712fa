import type { Citation } from '../../../machines/contracts/synthesis.ts';
import { explanationOf } from '../../../machines/contracts/synthesis.ts';
import { firstChars } from '../../../machines/text/clip.ts';
import type { Question, RunUpdate, ServedAnswer } from '../updates.ts';
import { noticeOf, secondsOf, type Thought, Thoughts, urlCitation } from './openai-answer.ts';
import { type AnswerReply, type ReplyRequest, replyOf } from './openai-reply.ts';
import { asClientCall, type CallName, callIdOf, type TurnEnd, type TurnUsage } from './openai-turns.ts';
import { waitNoticeOf } from './questions.ts';

/** The members of a request that its response repeats. They are stored with the run. */
export interface ResponseRequest extends ReplyRequest {
  /** As the request has them; absent if it does not. */
  readonly text?: unknown;
  readonly tool_choice?: unknown;
  readonly background: boolean;
  readonly instructions: string | null;
  readonly previous_response_id: string | null;
  readonly parallel_tool_calls: boolean;
  readonly metadata: Readonly<Record<string, string>>;
}

/** An event of the Responses API. `sequence_number` increases, and is the same each time the response is read. */
export interface ResponseEvent {
  readonly type: string;
  readonly sequence_number: number;
  readonly [member: string]: unknown;
}

/** Returns the id of the response to a turn of a run. */
export const responseIdOf = (runId: string, turn = 1): string => `resp${turn === 1 ? '' : turn}_${runId}`;
export const messageIdOf = (runId: string): string => `msg_${runId}`;

interface SummaryPart {
  readonly type: 'summary_text';
  text: string;
}
interface ReasoningItem {
  readonly id: string;
  readonly type: 'reasoning';
  readonly summary: SummaryPart[];
}
type OutputItem = ReasoningItem | ReturnType<typeof messageOf> | ReturnType<typeof functionCallOf>;

/** Computes a response and its events from the updates of a turn of a run. */
export class ResponseEvents {
  readonly #model: string;
  readonly #request: ResponseRequest;
  readonly #turn: number;
  readonly #thoughts = new Thoughts();
  readonly #output: OutputItem[] = [];
  readonly #questions = new Map<string, Question>();
  /** The line of the last update if it says what the run waits for. */
  #wait: string | null = null;
  #start = { runId: '', startedAt: '' };
  #answer: ServedAnswer | null = null;
  #usage: TurnUsage | null = null;
  #hasCalls = false;
  /** Whether the text is longer than `max_output_tokens`. */
  #isCut = false;
  /** The reasoning item that is being written. */
  #reasoning: ReasoningItem | null = null;
  /** The last part of that item, if more text may follow. */
  #openPart: SummaryPart | null = null;
  #number = 0;

  constructor(model: string, request: ResponseRequest, turn = 1) {
    this.#model = model;
    this.#request = request;
    this.#turn = turn;
  }

  /** Yields the events of an update, which ends the turn unless `end` is null. */
  *take(update: RunUpdate, end: TurnEnd | null = null): Generator<ResponseEvent, void> {
    this.#usage = end?.usage ?? null;
    if (update.type === 'run') {
      this.#start = update;
      yield this.#event('response.created', { response: this.response });
      yield this.#event('response.in_progress', { response: this.response });
    }
    // The lines between the calls say that the run waits for them.
    const isBetweenCalls = update.type === 'progress' && this.#hasCalls;
    if (!isBetweenCalls) for (const thought of this.#thoughts.take(update)) yield* this.#thought(thought);
    const call = update.type === 'question' ? asClientCall(update.question) : null;
    if (call !== null) yield* this.#call(call);
    this.#wait = update.type === 'progress' && update.isWaiting ? update.text : null;
    if ((update.type === 'question' && call === null) || this.#wait !== null) {
      if (update.type === 'question') this.#questions.set(update.question.questionId, update.question);
      yield* this.#endReasoning();
      // Reserves the number of `waiting`, which a reader receives only if the run still waits.
      this.#number += 1;
    }
    if (update.type === 'question-closed') this.#questions.delete(update.questionId);
    if (update.type === 'answer') {
      yield* this.#endReasoning();
      yield* this.#reply(update.answer);
      this.#answer = update.answer;
      const isWhole = update.answer.status !== 'cancelled' && !this.#isCut;
      yield this.#event(isWhole ? 'response.completed' : 'response.incomplete', { response: this.response });
    }
    if (end?.type === 'calls') yield this.#event('response.completed', { response: this.response });
    if (end?.type === 'question' || end?.type === 'progress') yield this.#waiting;
  }

  /** The last event for a reader, directly after an open question or a wait. */
  get #waiting(): ResponseEvent {
    return { type: 'response.incomplete', sequence_number: this.#number - 1, response: this.response };
  }

  get response() {
    const { runId, startedAt } = this.#start;
    const [question = null] = this.#questions.values();
    const wait = this.#wait === null ? null : waitNoticeOf(this.#model, runId, this.#wait);
    const notice = question === null ? wait : noticeOf(runId, question);
    const answer = this.#answer;
    const createdAt = secondsOf(startedAt);
    const usage = this.#usage;
    const { returned: _, ...request } = this.#request;
    return {
      ...UNUSED,
      ...request,
      ...(this.#turn > 1 && { previous_response_id: responseIdOf(runId, this.#turn - 1) }),
      id: responseIdOf(runId, this.#turn),
      object: 'response',
      created_at: createdAt,
      completed_at: answer && createdAt + Math.ceil((answer.metadata.budget.totalMs.used ?? 0) / 1_000),
      model: this.#model,
      status: this.#hasCalls ? 'completed' : this.#isCut ? 'incomplete' : statusOf(answer, notice),
      incomplete_details:
        answer?.status === 'cancelled'
          ? { reason: 'cancelled' }
          : this.#isCut
            ? { reason: 'max_output_tokens' }
            : notice && { reason: 'user_input_required' },
      // Not an event: the text of the question is not part of the answer that follows it.
      output: [
        ...structuredClone(this.#output),
        ...(notice === null || answer !== null
          ? []
          : [messageOf(messageIdOf(runId), textPart(notice, []), 'incomplete')]),
      ],
      usage: usage && {
        input_tokens: usage.inputTokens,
        input_tokens_details: { cached_tokens: usage.cachedInputTokens },
        output_tokens: usage.outputTokens,
        output_tokens_details: { reasoning_tokens: usage.reasoningTokens },
        total_tokens: usage.totalTokens,
      },
      metadata: { ...this.#request.metadata, ...detailsOf(runId, answer, notice) },
    };
  }

  *#thought({ kind, text }: Thought): Generator<ResponseEvent, void> {
    if (this.#reasoning === null) {
      const id = `rs_${this.#start.runId}_${this.#turn}_${this.#output.length}`;
      this.#reasoning = { id, type: 'reasoning', summary: [] };
      this.#output.push(this.#reasoning);
      yield this.#event('response.output_item.added', { ...this.#place, item: structuredClone(this.#reasoning) });
    }
    if (kind !== 'more' || this.#openPart === null) {
      yield* this.#endPart();
      this.#openPart = { type: 'summary_text', text: '' };
      this.#reasoning.summary.push(this.#openPart);
      yield this.#event('response.reasoning_summary_part.added', { ...this.#part, part: { ...this.#openPart } });
    }
    this.#openPart.text += text;
    yield this.#event('response.reasoning_summary_text.delta', { ...this.#part, delta: text });
    if (kind === 'line') yield* this.#endPart();
  }

  *#endPart(): Generator<ResponseEvent, void> {
    if (this.#openPart === null) return;
    const part = { ...this.#openPart };
    this.#openPart = null;
    yield this.#event('response.reasoning_summary_text.done', { ...this.#part, text: part.text });
    yield this.#event('response.reasoning_summary_part.done', { ...this.#part, part });
  }

  *#endReasoning(): Generator<ResponseEvent, void> {
    if (this.#reasoning === null) return;
    yield* this.#endPart();
    yield this.#event('response.output_item.done', { ...this.#place, item: structuredClone(this.#reasoning) });
    this.#reasoning = null;
  }

  *#reply(answer: ServedAnswer): Generator<ResponseEvent, void> {
    const reply = replyOf(answer, this.#request);
    if (reply.type === 'call') return yield* this.#call(reply.call);
    this.#isCut = reply.type === 'text' && reply.isCut && answer.status !== 'cancelled';
    const part = reply.type === 'text' ? textPart(reply.text, answer.sources) : reply;
    const id = messageIdOf(this.#start.runId);
    const item = messageOf(id, part, this.#isCut ? 'incomplete' : 'completed');
    this.#output.push(item);
    const place = { item_id: id, ...this.#place, content_index: 0 };
    yield this.#event('response.output_item.added', {
      ...this.#place,
      item: { ...item, status: 'in_progress', content: [] },
    });
    if (part.type === 'refusal') {
      yield this.#event('response.content_part.added', { ...place, part: { ...part, refusal: '' } });
      yield this.#event('response.refusal.delta', { ...place, delta: part.refusal });
      yield this.#event('response.refusal.done', { ...place, refusal: part.refusal });
    } else {
      const { text } = part;
      yield this.#event('response.content_part.added', { ...place, part: { ...part, text: '', annotations: [] } });
      yield this.#event('response.output_text.delta', { ...place, delta: text, logprobs: [] });
      for (const [annotation_index, annotation] of part.annotations.entries())
        yield this.#event('response.output_text.annotation.added', { ...place, annotation_index, annotation });
      yield this.#event('response.output_text.done', { ...place, text, logprobs: [] });
    }
    yield this.#event('response.content_part.done', { ...place, part });
    yield this.#event('response.output_item.done', { ...this.#place, item });
  }

  *#call(call: CallName): Generator<ResponseEvent, void> {
    yield* this.#endReasoning();
    this.#hasCalls = true;
    const item = functionCallOf(this.#start.runId, call);
    const { id: item_id, name, arguments: args } = item;
    this.#output.push(item);
    const place = { item_id, ...this.#place };
    const begun = { ...item, arguments: '', status: 'in_progress' };
    yield this.#event('response.output_item.added', { ...this.#place, item: begun });
    yield this.#event('response.function_call_arguments.delta', { ...place, delta: args });
    yield this.#event('response.function_call_arguments.done', { ...place, name, arguments: args });
    yield this.#event('response.output_item.done', { ...this.#place, item });
  }

  get #place() {
    return { output_index: this.#output.length - 1 };
  }

  get #part() {
    const { id, summary } = this.#reasoning ?? { id: '', summary: [] };
    return { item_id: id, ...this.#place, summary_index: summary.length - 1 };
  }

  #event(type: string, members: Readonly<Record<string, unknown>>): ResponseEvent {
    this.#number += 1;
    return { type, sequence_number: this.#number - 1, ...members };
  }
}

function statusOf(answer: ServedAnswer | null, notice: string | null) {
  if (answer !== null) return answer.status === 'cancelled' ? 'cancelled' : 'completed';
  return notice === null ? 'in_progress' : 'incomplete';
}

/** The maximum length of a `metadata` value. */
const MAX_CHARS = 512;

/** Returns metadata for what the API has no members for: why an answer is degraded, and what the run waits for. */
function detailsOf(runId: string, answer: ServedAnswer | null, notice: string | null): Record<string, string> {
  if (answer !== null)
    return {
      ...(answer.confidence !== undefined && { postchain_confidence: String(answer.confidence) }),
      ...(answer.status !== 'completed' && {
        postchain_status: answer.status,
        postchain_reasons: answer.reasons.map(({ code }) => code).join(', '),
        postchain_explanation: firstChars(explanationOf(answer), MAX_CHARS),
      }),
    };
  return notice === null ? {} : { postchain_run: runId, postchain_question: firstChars(notice, MAX_CHARS) };
}

function textPart(text: string, sources: readonly Citation[]) {
  const annotations = sources.map((source, index) => urlCitation(source, text) ?? fileCitation(source, index));
  return { type: 'output_text', text, annotations, logprobs: [] } as const;
}

type MessagePart = ReturnType<typeof textPart> | Extract<AnswerReply, { type: 'refusal' }>;

function messageOf(id: string, part: MessagePart, status: 'completed' | 'incomplete') {
  return { id, type: 'message', role: 'assistant', status, content: [part] } as const;
}

export function functionCallOf(runId: string, call: CallName) {
  const call_id = callIdOf(runId, call);
  return {
    id: `fc_${call_id}`,
    type: 'function_call' as const,
    status: 'completed' as const,
    call_id,
    name: call.capability,
    arguments: JSON.stringify(call.arguments),
  };
}

function fileCitation({ path, startLine, endLine }: Citation, index: number) {
  const lines = startLine === undefined ? '' : `#L${startLine}-L${endLine ?? startLine}`;
  return { type: 'file_citation', file_id: `${path}${lines}`, filename: path, index } as const;
}

/** Members that the API requires but a run does not have. */
export const UNUSED = {
  error: null,
  tools: [],
  tool_choice: 'auto',
  truncation: 'disabled',
  text: { format: { type: 'text' } },
  top_p: 1,
  presence_penalty: 0,
  frequency_penalty: 0,
  top_logprobs: 0,
  temperature: 1,
  reasoning: null,
  user: null,
  max_tool_calls: null,
  store: true,
  service_tier: 'default',
  safety_identifier: null,
  prompt_cache_key: null,
} as const;
