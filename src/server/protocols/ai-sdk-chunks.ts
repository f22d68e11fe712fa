import type { Citation } from '../../../machines/contracts/synthesis.ts';
import type { Question, RunUpdate, ServedAnswer } from '../updates.ts';

type Update<Type extends RunUpdate['type']> = Omit<Extract<RunUpdate, { type: Type }>, 'type'>;

/** The data parts of a message, by type without the prefix `data-`: for `useChat<UIMessage<ChatMetadata, ChatData>>`. */
export type ChatData = {
  phase: Update<'phase'>;
  tool: Update<'tool'>;
  decision: Update<'decision'>;
  /** `closed` is true once the question needs no answer. */
  question: Question & { readonly closed: boolean };
};

/** The metadata of a message, available after its answer. */
export type ChatMetadata = Pick<ServedAnswer, 'status' | 'reasons' | 'confidence' | 'notes' | 'grounding'>;

type Chunk = Readonly<Record<string, unknown>> & { readonly type: string };

/**
 * Computes the chunks of the AI SDK's UI message stream from the updates of a run. Text parts contain only the answer. Until then,
 * the provisional text is a reasoning part, because a stream cannot withdraw a text part (AI SDK 6).
 */
export class UiMessageChunks {
  readonly #questions = new Map<string, Question>();
  #phases = 0;
  #decisions = 0;
  #drafts = 0;
  #isDrafting = false;
  #hasProgress = false;

  /** Returns the chunks of the next update. */
  *take(update: RunUpdate): Generator<Chunk, void> {
    switch (update.type) {
      case 'run':
        return yield { type: 'start', messageId: update.runId };
      case 'phase': {
        const { type: _, ...phase } = update;
        if (phase.state === 'started') this.#phases += 1;
        return yield data('phase', `phase-${this.#phases}`, phase);
      }
      case 'tool': {
        const { type: _, ...tool } = update;
        return yield data('tool', `tool-${tool.index}`, tool);
      }
      case 'decision': {
        const { type: _, ...decision } = update;
        this.#decisions += 1;
        return yield data('decision', `decision-${this.#decisions}`, decision);
      }
      case 'progress':
        if (!this.#hasProgress) yield { type: 'reasoning-start', id: 'progress' };
        this.#hasProgress = true;
        return yield { type: 'reasoning-delta', id: 'progress', delta: `${update.text}\n` };
      case 'text':
        if (!this.#isDrafting) yield { type: 'reasoning-start', id: this.#draft, ...about({ draft: true }) };
        this.#isDrafting = true;
        return yield { type: 'reasoning-delta', id: this.#draft, delta: update.delta };
      case 'text-void':
        return yield* this.#endDraft(about({ draft: true, void: update.reason }));
      case 'question': {
        const { question } = update;
        this.#questions.set(question.questionId, question);
        return yield data('question', question.questionId, { ...question, closed: false });
      }
      case 'question-closed': {
        const question = this.#questions.get(update.questionId);
        if (question !== undefined) yield data('question', update.questionId, { ...question, closed: true });
        return;
      }
      default:
        yield* this.#endDraft({});
        if (this.#hasProgress) yield { type: 'reasoning-end', id: 'progress' };
        yield* chunksOf(update.answer);
    }
  }

  get #draft(): string {
    return `draft-${this.#drafts}`;
  }

  *#endDraft(about: object): Generator<Chunk, void> {
    if (this.#isDrafting) yield { type: 'reasoning-end', id: this.#draft, ...about };
    if (this.#isDrafting) this.#drafts += 1;
    this.#isDrafting = false;
  }
}

function data<Name extends keyof ChatData & string>(name: Name, id: string, value: ChatData[Name]): Chunk {
  return { type: `data-${name}`, id, data: value };
}

const about = (facts: object): object => ({ providerMetadata: { postchain: facts } });

function* chunksOf(answer: ServedAnswer): Generator<Chunk, void> {
  const { answerText, sources, status, reasons, confidence, notes, grounding } = answer;
  const metadata: ChatMetadata = { status, reasons, confidence, notes, grounding };
  yield { type: 'text-start', id: 'answer' };
  yield { type: 'text-delta', id: 'answer', delta: answerText };
  yield { type: 'text-end', id: 'answer' };
  for (const [index, source] of sources.entries()) yield sourceChunk(source, `source-${index}`);
  yield { type: 'finish', finishReason: status === 'completed' ? 'stop' : 'other', messageMetadata: metadata };
}

function sourceChunk({ path, ...rest }: Citation, sourceId: string): Chunk {
  const facts = about(rest);
  if (/^https?:/u.test(path) && URL.canParse(path))
    return { type: 'source-url', sourceId, url: path, title: path, ...facts };
  return { type: 'source-document', sourceId, mediaType: 'text/plain', title: path, filename: path, ...facts };
}
