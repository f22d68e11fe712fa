import type { ContextOperation } from '../../../machines/contracts/context.ts';
import type { Message } from '../../../machines/contracts/message.ts';
import { applyOperations } from '../../../machines/policies/context.ts';
import { planRetention, type RetentionInputs } from '../../../machines/policies/retention.ts';
import { estimatedMeasures } from '../../../machines/policies/understanding.ts';
import { aMessage } from '../contracts/samples.ts';
import { someThresholds } from './states.ts';

/** What no friendly user sends, and what Understanding makes of it. */

export const REQUEST = 'When was the harbour bridge opened?';

export function planned(messages: readonly Message[], changes: Partial<RetentionInputs> = {}) {
  return planRetention({
    mayAsk: true,
    messages,
    ...estimatedMeasures(messages),
    request: REQUEST,
    cycle: 3,
    step: 1,
    assessments: [],
    thresholds: someThresholds(),
    maxMessages: 200,
    tokensAllowed: 100_000,
    ...changes,
  });
}

export const asks = ({ metadata }: ContextOperation): boolean => metadata['requiresConsent'] === true;

/** What is left of a context when everything that needs no consent is done to it. */
export function leftUnasked(messages: readonly Message[], changes: Partial<RetentionInputs> = {}): readonly Message[] {
  return applyOperations(
    messages,
    planned(messages, changes).operations.filter((operation) => !asks(operation)),
  );
}

/** Whether a message must stay whatever happens, by the tags that say so [U10]. */
export const mustStay = ({ tags }: Message): boolean =>
  ['pinned', 'critical', 'request', 'kept-by-user'].some((tag) => tags.includes(tag));

/** What the users of a context said, in order. */
export const saidByUsers = (messages: readonly Message[]): readonly string[] =>
  messages.filter(({ role }) => role === 'user').map(({ content }) => content);

export const user = (id: string, content: string, changes: Partial<Message> = {}): Message =>
  aMessage({ id, role: 'user', phase: null, content, tags: [], ...changes });
export const found = (id: string, content: string, changes: Partial<Message> = {}): Message =>
  aMessage({ id, role: 'search', phase: null, content, tags: [], ...changes });
export const said = (id: string, content: string, changes: Partial<Message> = {}): Message =>
  aMessage({ id, role: 'assistant', phase: null, content, tags: [], ...changes });

const filled = (piece: string, chars: number): string => piece.repeat(Math.ceil(chars / piece.length)).slice(0, chars);

/** Texts of so many characters that a careless expression or loop chokes on, by what is in them. */
export const HOSTILE_TEXTS: Readonly<Record<string, (chars: number) => string>> = {
  'one word': (chars) => filled('a', chars),
  'one number': (chars) => filled('1', chars),
  'numbers and commas': (chars) => filled('1,', chars),
  'full stops': (chars) => filled('. ', chars),
  'line breaks': (chars) => filled('\n', chars),
  apostrophes: (chars) => filled("a'", chars),
  hyphens: (chars) => filled('a-', chars),
  'capitals in the middle': (chars) => filled('aB', chars),
  'names before colons': (chars) => filled('Ab Cd: ', chars),
  negations: (chars) => filled('not no ', chars),
  'opening brackets': (chars) => filled('([{', chars),
  'lone high surrogates': (chars) => filled('\ud83c', chars),
  'lone low surrogates': (chars) => filled('\udf09', chars),
  'joined emoji': (chars) => filled('👩\u200d🚀', chars),
  'combining marks': (chars) => filled('e\u0301\u0323\u0308', chars),
  'right-to-left words': (chars) => filled('גשר الجسر ', chars),
  'direction marks': (chars) => filled('\u202eegdirb\u202c ', chars),
  'a script without spaces': (chars) => filled('港桥开放', chars),
  'ligatures that fold to many letters': (chars) => filled('ﷺ', chars),
  abbreviations: (chars) => filled('Mr. No. St. ', chars),
};
