import type { Message } from '../../machines/contracts/message.ts';
import type { RunLog } from '../wire/run-log.ts';
import type { RunFold } from './run-fold.ts';
import { excerpt, sourceText } from './text.ts';

export interface Origin {
  readonly seq: number;
  readonly kind: 'request' | 'earlier turn' | 'passage' | 'result' | 'reply' | 'answer';
  /** Its location: a file with its lines, a phase, or a capability. */
  readonly place: string;
  readonly excerpt: string;
  readonly content: string;
}

const EXCERPT_CHARS = 160;
/** Characters before the phrase in an excerpt. */
const LEAD_CHARS = 50;

/**
 * Returns the texts that contain a phrase, in the order in which the run received them. The first need not be the source: a model may
 * have taken the phrase from a later one. Ignores case, accents, spacing and punctuation; without an exact match, all words must occur. Linear in the texts.
 */
export function originsOf(log: RunLog, fold: RunFold, phrase: string): readonly Origin[] {
  const words = wordsIn(phrase);
  if (words.length === 0) return [];
  const texts = textsOf(log, fold).map((text) => ({ ...text, folded: ` ${wordsIn(text.content).join(' ')} ` }));
  const exact = texts.filter(({ folded }) => folded.includes(` ${words.join(' ')} `));
  const found =
    exact.length > 0 ? exact : texts.filter(({ folded }) => words.every((word) => folded.includes(` ${word} `)));
  return found
    .map((text) => ({ ...text, excerpt: around(text.content, words) }))
    .toSorted((one, other) => one.seq - other.seq);
}

type Text = Omit<Origin, 'excerpt'>;

function textsOf(log: RunLog, fold: RunFold): readonly Text[] {
  const messages = fold.context.arrivals.map(({ from, message }) => ({ seq: from, ...aboutMessage(message) }));
  const results = fold.entries.of('capability-end').flatMap((seq): readonly Text[] => {
    const entry = log.entry(seq);
    if (entry.type !== 'capability-end') return [];
    const { capability, success, output, error } = entry.result;
    return [{ seq, kind: 'result', place: capability, content: success ? output : (error ?? '') }];
  });
  const answers = fold.entries.of('answer').flatMap((seq): readonly Text[] => {
    const entry = log.entry(seq);
    return entry.type === 'answer'
      ? [{ seq, kind: 'answer', place: 'the answer', content: entry.answer.answerText }]
      : [];
  });
  return [...messages, ...results, ...answers];
}

function aboutMessage({ role, phase, source, tags, content }: Message): Omit<Text, 'seq'> {
  if (source !== null) return { kind: 'passage', place: sourceText(source), content };
  if (role === 'search') return { kind: 'passage', place: phase ?? 'search', content };
  if (tags.includes('request')) return { kind: 'request', place: 'the user', content };
  if (phase === null) return { kind: 'earlier turn', place: role, content };
  return { kind: 'reply', place: phase, content };
}

/** Folded words, in order. */
const wordsIn = (text: string): readonly string[] =>
  text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .match(/[\p{L}\p{N}]+/gu) ?? [];

function around(content: string, words: readonly string[]): string {
  const start = Math.max(0, (placesOf(content, words)[0]?.from ?? 0) - LEAD_CHARS);
  return `${start > 0 ? '…' : ''}${excerpt(content.slice(start), EXCERPT_CHARS)}`;
}

interface Place {
  readonly from: number;
  readonly to: number;
}

/** Returns where a phrase occurs in a text; if it does not occur as a whole, where its words do. */
function placesOf(text: string, words: readonly string[]): readonly Place[] {
  if (words.length === 0) return [];
  const tokens = [...text.matchAll(/[\p{L}\p{M}\p{N}]+/gu)].map(({ 0: token, index }) => ({
    place: { from: index, to: index + token.length },
    word: wordsIn(token).join(' '),
  }));
  const whole = tokens.flatMap(({ place: { from } }, at): readonly Place[] => {
    const last = tokens[at + words.length - 1];
    return last !== undefined && words.every((word, nth) => tokens[at + nth]?.word === word)
      ? [{ from, to: last.place.to }]
      : [];
  });
  return whole.length > 0 ? whole : tokens.flatMap(({ word, place }) => (words.includes(word) ? [place] : []));
}

const NAMES: Readonly<Record<Origin['kind'], string>> = {
  request: 'the request',
  'earlier turn': 'an earlier turn',
  passage: 'a passage',
  result: 'a tool result',
  reply: 'a reply',
  answer: 'the answer',
};

/** What is known about the origin of a phrase, in one sentence. */
export function originText(origins: readonly Origin[]): string {
  const [first] = origins;
  if (first === undefined) return 'No text of the run contains these words.';
  const documents = new Set(origins.filter(({ kind }) => kind === 'passage').map(({ place }) => place)).size;
  const several =
    documents > 1 ? ` ${documents} passages contain these words; the journal does not say which one was used.` : '';
  return `First mentioned in ${NAMES[first.kind]}, of ${origins.length === 1 ? '1 text' : `${origins.length} texts`} with these words.${several}`;
}

/** Splits a text into parts that match the phrase and parts that do not. */
export function markedParts(
  text: string,
  phrase: string,
): readonly { readonly text: string; readonly isMatch: boolean }[] {
  let end = 0;
  const parts = placesOf(text, wordsIn(phrase)).flatMap(({ from, to }) => {
    const before = { text: text.slice(end, from), isMatch: false };
    end = to;
    return [before, { text: text.slice(from, to), isMatch: true }];
  });
  return [...parts, { text: text.slice(end), isMatch: false }].filter((part) => part.text !== '');
}
