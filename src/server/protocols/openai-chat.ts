import type { RunUpdate } from '../updates.ts';
import { noticeOf, secondsOf, Thoughts, urlCitation } from './openai-answer.ts';
import { type AnswerReply, type ReplyRequest, replyOf } from './openai-reply.ts';
import { callIdOf, type TurnEnd } from './openai-turns.ts';
import { waitNoticeOf } from './questions.ts';

/** Computes a chat completion and its chunks from the updates of a turn of a run. */
export class ChatCompletion {
  readonly #model: string;
  readonly #hasUsage: boolean;
  readonly #request: ReplyRequest;
  readonly #turn: number;
  readonly #thoughts = new Thoughts();
  #start = { runId: '', startedAt: '' };
  #reasoning = '';

  constructor(model: string, hasUsage: boolean, request: ReplyRequest, turn = 1) {
    this.#turn = turn;
    this.#model = model;
    this.#hasUsage = hasUsage;
    this.#request = request;
  }

  *take(update: RunUpdate): Generator<object, void> {
    if (update.type === 'run') {
      this.#start = update;
      yield this.#chunk({ role: 'assistant', content: '' });
    }
    for (const { kind, text } of this.#thoughts.take(update)) {
      const piece = kind === 'more' || this.#reasoning === '' ? text : `\n\n${text}`;
      this.#reasoning += piece;
      yield this.#chunk({ reasoning_content: piece });
    }
  }

  /** Yields the last chunks. */
  *end(end: TurnEnd): Generator<object, void> {
    const { reasoning_content: _, role: __, tool_calls: calls, ...delta } = this.#message(end);
    yield this.#chunk(calls ? { tool_calls: calls.map((call, index) => ({ index, ...call })) } : delta);
    yield { ...this.#chunk({}, this.#finishReason(end)), postchain: this.#details(end) };
    if (this.#hasUsage) yield { ...this.#chunk({}), choices: [], usage: chatUsage(end) };
  }

  completion(end: TurnEnd): object {
    const choice = { index: 0, message: this.#message(end), logprobs: null, finish_reason: this.#finishReason(end) };
    return {
      ...this.#base('chat.completion'),
      choices: [choice],
      usage: chatUsage(end),
      postchain: this.#details(end),
    };
  }

  #base(object: 'chat.completion' | 'chat.completion.chunk') {
    const { runId, startedAt } = this.#start;
    const id = `chatcmpl${this.#turn === 1 ? '' : this.#turn}-${runId}`;
    return { id, object, created: secondsOf(startedAt), model: this.#model };
  }

  #chunk(delta: object, finish_reason: string | null = null) {
    return {
      ...this.#base('chat.completion.chunk'),
      choices: [{ index: 0, delta, logprobs: null, finish_reason }],
      ...(this.#hasUsage && { usage: null }),
    };
  }

  #replyTo(end: TurnEnd): AnswerReply | null {
    return end.type === 'answer' ? replyOf(end.answer, this.#request) : null;
  }

  #message(end: TurnEnd) {
    const common = { role: 'assistant', refusal: null, reasoning_content: this.#reasoning };
    const reply = this.#replyTo(end);
    const calls = end.type === 'calls' ? end.calls : reply?.type === 'call' ? [reply.call] : null;
    if (calls !== null) {
      const tool_calls = calls.map((call) => ({
        id: callIdOf(this.#start.runId, call),
        type: 'function',
        function: { name: call.capability, arguments: JSON.stringify(call.arguments) },
      }));
      return { ...common, content: null, annotations: [], tool_calls };
    }
    if (reply?.type === 'refusal')
      return { ...common, content: null, refusal: reply.refusal, annotations: [], tool_calls: undefined };
    const content = reply?.type === 'text' ? reply.text : this.#notice(end);
    const annotations = (end.type === 'answer' ? end.answer.sources : []).flatMap((source) => {
      const citation = urlCitation(source, content);
      if (citation === null) return [];
      const { type, ...url_citation } = citation;
      return [{ type, url_citation }];
    });
    return { ...common, content, annotations, tool_calls: undefined };
  }

  #notice(end: TurnEnd): string {
    const { runId } = this.#start;
    if (end.type === 'progress') return waitNoticeOf(this.#model, runId, end.text);
    return end.type === 'question' ? noticeOf(runId, end.question) : '';
  }

  /** A completion without an answer ends like a truncated one. */
  #finishReason(end: TurnEnd): string {
    const reply = this.#replyTo(end);
    if (end.type === 'calls' || reply?.type === 'call') return 'tool_calls';
    return end.type !== 'answer' || (reply?.type === 'text' && reply.isCut) ? 'length' : 'stop';
  }

  #details(end: TurnEnd) {
    const { runId } = this.#start;
    if (end.type === 'calls' || end.type === 'progress') return { runId, status: 'waiting' };
    if (end.type === 'question') return { runId, status: 'waiting', question: end.question };
    const { status, reasons, confidence, sources } = end.answer;
    return { runId, status, reasons, confidence, sources };
  }
}

function chatUsage({ usage }: TurnEnd) {
  return {
    prompt_tokens: usage.inputTokens,
    completion_tokens: usage.outputTokens,
    total_tokens: usage.totalTokens,
    prompt_tokens_details: { cached_tokens: usage.cachedInputTokens },
    completion_tokens_details: { reasoning_tokens: usage.reasoningTokens },
  };
}
