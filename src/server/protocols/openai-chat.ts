import type { RunUpdate } from '../updates.ts';
import { noticeOf, secondsOf, Thoughts, urlCitation } from './openai-answer.ts';
import { callIdOf, type TurnEnd } from './openai-turns.ts';

/** Computes a chat completion and its chunks from the updates of a turn of a run. */
export class ChatCompletion {
  readonly #model: string;
  readonly #hasUsage: boolean;
  readonly #turn: number;
  readonly #thoughts = new Thoughts();
  #start = { runId: '', startedAt: '' };
  #reasoning = '';

  constructor(model: string, hasUsage: boolean, turn = 1) {
    this.#turn = turn;
    this.#model = model;
    this.#hasUsage = hasUsage;
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
    yield { ...this.#chunk({}, finishReason(end)), postchain: this.#details(end) };
    if (this.#hasUsage) yield { ...this.#chunk({}), choices: [], usage: chatUsage(end) };
  }

  completion(end: TurnEnd): object {
    const choice = { index: 0, message: this.#message(end), logprobs: null, finish_reason: finishReason(end) };
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

  #message(end: TurnEnd) {
    const common = { role: 'assistant', refusal: null, reasoning_content: this.#reasoning };
    if (end.type === 'calls') {
      const tool_calls = end.calls.map((call) => ({
        id: callIdOf(this.#start.runId, call),
        type: 'function',
        function: { name: call.capability, arguments: JSON.stringify(call.arguments) },
      }));
      return { ...common, content: null, annotations: [], tool_calls };
    }
    const isAnswer = end.type === 'answer';
    const content = isAnswer ? end.answer.answerText : noticeOf(this.#start.runId, end.question);
    const annotations = (isAnswer ? end.answer.sources : []).flatMap((source) => {
      const citation = urlCitation(source, content);
      if (citation === null) return [];
      const { type, ...url_citation } = citation;
      return [{ type, url_citation }];
    });
    return { ...common, content, annotations, tool_calls: undefined };
  }

  #details(end: TurnEnd) {
    const { runId } = this.#start;
    if (end.type === 'calls') return { runId, status: 'waiting' };
    if (end.type === 'question') return { runId, status: 'waiting', question: end.question };
    const { status, reasons, confidence, sources } = end.answer;
    return { runId, status, reasons, confidence, sources };
  }
}

/** A completion without an answer ends like a truncated one. */
const finishReason = ({ type }: TurnEnd): string => ({ answer: 'stop', calls: 'tool_calls', question: 'length' })[type];

function chatUsage({ usage }: TurnEnd) {
  return {
    prompt_tokens: usage.inputTokens,
    completion_tokens: usage.outputTokens,
    total_tokens: usage.totalTokens,
    prompt_tokens_details: { cached_tokens: usage.cachedInputTokens },
    completion_tokens_details: { reasoning_tokens: usage.reasoningTokens },
  };
}
