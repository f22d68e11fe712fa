import { PartialJsonReader } from '../chain/presentation/partial-json.ts';
import { AnswerText } from '../chain/runtime/run-events.ts';
import type { DurableEntry } from '../durable/entries.ts';
import type { ReplayedCall } from '../durable/replay.ts';
import { TextWithoutThought } from '../llm/streaming/thought.ts';
import { type RunUpdate, textIn, textUpdate } from './updates.ts';

/** A model call that writes the answer. */
interface Writing {
  readonly activity: number;
  readonly attemptId: string;
  readonly reply: ReplyText;
  isOver: boolean;
}

/** Computes the text of an agent's answer while a model writes it. */
export class AgentText {
  /** The actor whose text is the answer: `generate` or `runTools`. */
  readonly #actor: string | undefined;
  readonly #answer = new AnswerText();
  /** The calls in progress that may write the answer. */
  #calls: ReadonlyMap<number, ReplayedCall> = new Map();
  #writing: Writing | null = null;

  constructor(actor: string | undefined) {
    this.#actor = actor;
  }

  /** Takes the calls that are in progress after a step. `isWaiting`: the agent waits for a person, an event or a long delay. */
  *takeCalls(calls: readonly ReplayedCall[], isWaiting: boolean): Generator<RunUpdate, void> {
    this.#calls = new Map(calls.filter((call) => this.#isWriting(call)).map((call) => [call.activity, call]));
    if (this.#writing === null || this.#calls.has(this.#writing.activity)) return;
    // The call was stopped, or lost with its process.
    if (!this.#writing.isOver) yield* this.#discard('attempt_failed');
    // The chart did not answer with the text.
    else if (isWaiting) yield* this.#discard('next_cycle');
  }

  /** Takes the next entry. */
  *take(entry: DurableEntry): Generator<RunUpdate, void> {
    if (entry.type === 'note') yield* this.#takeNote(entry);
    const writing = this.#writing;
    if (writing === null) return;
    const { type, reply, attemptId, failure } = Object('event' in entry ? entry.event : null);
    if (entry.type === 'activity-event' && entry.activity === writing.activity && type === 'reply.ended') {
      writing.isOver = true;
      yield* this.#follow(writing);
      // Text before tool calls is not the answer.
      if (Object(Object(reply).value).calls?.length > 0) yield* this.#discard('next_cycle');
    } else if (entry.type === 'emitted' && type === 'attempt-end' && attemptId === writing.attemptId && failure)
      yield* this.#discard('attempt_failed');
  }

  /** Completes the text with that of the answer. */
  *finish(answerText: string): Generator<RunUpdate, void> {
    yield* Array.from(this.#answer.finish(answerText), textUpdate);
  }

  *#takeNote({ note, activity = -1 }: Extract<DurableEntry, { type: 'note' }>): Generator<RunUpdate, void> {
    const { type, attemptId, text, isCall } = Object(note) as Readonly<Record<string, unknown>>;
    const call = this.#calls.get(activity);
    if (type !== 'text-delta' || typeof text !== 'string' || isCall === true || call === undefined) return;
    // If several calls run at the same time, the first one is shown.
    if (this.#writing?.activity !== activity) {
      if (this.#writing?.isOver === false) return;
      const reply = new ReplyText(call.within[0] !== this.#actor);
      this.#writing = { activity, attemptId: String(attemptId), reply, isOver: false };
    }
    this.#writing.reply.push(text);
    yield* this.#follow(this.#writing);
  }

  *#follow({ activity, attemptId, reply, isOver }: Writing): Generator<RunUpdate, void> {
    const value = { answerText: reply.answer };
    const update = { type: 'partial', attemptId, attempt: activity, task: 'synthesis', value } as const;
    yield* Array.from(this.#answer.follow(update, isOver), textUpdate);
  }

  *#discard(reason: Parameters<AnswerText['discard']>[0]): Generator<RunUpdate, void> {
    this.#writing = null;
    yield* Array.from(this.#answer.discard(reason), textUpdate);
  }

  /** Whether a call is one of the actor's own: those of other actors in a child machine may write anything. */
  #isWriting({ source, within: [attempt, loop] }: ReplayedCall): boolean {
    if (this.#actor === undefined || source !== 'readReply') return false;
    return attempt === this.#actor || (attempt === 'think' && loop === this.#actor);
  }
}

/** The beginning of a reply in JSON, or of its fence. */
const MAY_BE_JSON = /^(?:`{0,3}j?s?o?n?\s*$|(?:```(?:json)?\s*)?\{)/u;

/** Only these characters are matched, because the text may be long. */
const BEGINNING_CHARS = 20;

/** The answer in a reply so far: its member in the JSON of `runTools` without native tools, otherwise the prose without reasoning. */
class ReplyText {
  readonly #prose = new TextWithoutThought();
  readonly #json: PartialJsonReader | null;

  constructor(mayBeJson: boolean) {
    this.#json = mayBeJson ? new PartialJsonReader() : null;
  }

  push(piece: string): void {
    this.#prose.add(piece);
    this.#json?.push(piece);
  }

  get answer(): string {
    const { text } = this.#prose;
    const isJson = MAY_BE_JSON.test(text.slice(0, BEGINNING_CHARS));
    return textIn(this.#json?.root ?? null, 'answer') ?? (isJson ? '' : text);
  }
}
