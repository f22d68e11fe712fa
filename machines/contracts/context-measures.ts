import type { Message } from './message.ts';

export interface MeasureContextInput {
  readonly request: string;
  readonly messages: readonly Message[];
}

/**
 * What it takes a tokenizer or an embedding model to know, of each message in order: its tokens, and how similar it is to the
 * request, 0..1; `similarity` is null without embeddings. `estimated`: the tokens are characters / 4. `failure` says in one line
 * what could not be measured.
 */
export interface ContextMeasures {
  readonly tokens: readonly number[];
  readonly estimated: boolean;
  readonly similarity: readonly number[] | null;
  readonly failure: string | null;
}

export interface CompareAnswersInput {
  readonly previous: string;
  readonly current: string;
}
