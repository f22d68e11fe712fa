import type { Citation } from '../../../machines/contracts/synthesis.ts';
import type { Question, RunUpdate } from '../updates.ts';
import { questionText } from './questions.ts';

/** A piece of text that shows the user what a run does before it answers. */
export interface Thought {
  /** A `line` is complete. A `draft` starts a text that may be withdrawn; `more` continues it. */
  readonly kind: 'line' | 'draft' | 'more';
  readonly text: string;
}

const WITHDRAWN = {
  attempt_failed: 'the attempt failed',
  next_cycle: 'another cycle follows',
  rewritten: 'it is being rewritten',
} as const;

/**
 * Computes the thoughts of a run from its updates. The provisional answer is a thought, because clients of these APIs concatenate all answer
 * text that they receive, and none of it can be withdrawn.
 */
export class Thoughts {
  #held = '';
  #isDraft = false;

  *take(update: RunUpdate): Generator<Thought, void> {
    // The last piece is held until the next update: if that is the answer, it contains the piece.
    if (this.#held !== '' && update.type !== 'answer') {
      yield this.#isDraft ? { kind: 'more', text: this.#held } : { kind: 'draft', text: `Draft: ${this.#held}` };
      this.#isDraft = true;
    }
    this.#held = update.type === 'text' ? update.delta : '';
    const text = lineOf(update);
    if (text === null) return;
    this.#isDraft = false;
    yield { kind: 'line', text };
  }
}

function lineOf(update: RunUpdate): string | null {
  switch (update.type) {
    case 'progress':
      return update.text;
    case 'phase':
      // The summary of Yield is the draft.
      return update.state === 'ended' && update.summary && update.phase !== 'yield'
        ? `${update.phase[0]?.toUpperCase()}${update.phase.slice(1)}: ${update.summary}`
        : null;
    case 'text-void':
      return `Draft withdrawn: ${WITHDRAWN[update.reason]}`;
    default:
      return null;
  }
}

/** Returns the question of a run, and how its user can answer. */
export function noticeOf(runId: string, question: Question): string {
  const what = {
    approval:
      question.kind === 'approval' && question.description === undefined
        ? `approval of ${question.capability}`
        : 'approval',
    consent: 'consent to change its context',
    direction: 'a direction',
  }[question.kind];
  return `This run is waiting for ${what}.\n\n${questionText(question)}\n\nAnswer with POST /runs/${runId}/events; GET /runs/${runId} returns the ids to send.`;
}

/** Returns the citation of a source with a web address; null for a file or a record. */
export function urlCitation({ path }: Citation, text: string) {
  if (!/^https?:\/\//iu.test(path)) return null;
  return { type: 'url_citation', url: path, title: path, start_index: 0, end_index: text.length } as const;
}

export const secondsOf = (startedAt: string): number => Math.floor(Date.parse(startedAt) / 1_000);
