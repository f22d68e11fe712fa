import type { Message } from '../../machines/contracts/message.ts';
import type { Retrieval } from '../../machines/contracts/passage.ts';
import { replyValue } from '../../src/chain/journal/phase-finding.ts';
import type { RunLog } from '../wire/run-log.ts';
import { answerUpTo } from './answer.ts';
import { phaseOf } from './call-index.ts';
import { capitalize, pluralize } from './format.ts';
import type { RunFold } from './run-fold.ts';
import { RETRIEVAL } from './selection.ts';
import { lastStartedBy } from './sorted.ts';
import { excerpt, sourceText } from './text.ts';

export interface Origin {
  readonly seq: number;
  readonly kind: 'request' | 'earlier turn' | 'passage' | 'result' | 'reply' | 'answer';
  /** Its location: a file with its lines, a model call with its phase, or a capability; of the answer, who wrote it. */
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
  const { spans, entries, context } = fold;
  const passages = spans.calls.flatMap(({ source: name, to }): readonly Text[] => {
    const entry = name === RETRIEVAL && to !== null ? log.entry(to) : null;
    if (entry?.type !== 'activity-event' || entry.event.type !== 'done') return [];
    const { passages: all } = Object(entry.event.output) as Partial<Retrieval>;
    return (Array.isArray(all) ? (all as Retrieval['passages']) : []).map(({ source, text }) => ({
      seq: entry.seq,
      kind: 'passage',
      place: sourceText(source),
      content: text,
    }));
  });
  const known = new Set(passages.map(({ content }) => content));
  // What a phase adds to the context repeats its reply, or a passage.
  const messages = context.arrivals.flatMap(({ from, message }): readonly Text[] => {
    const isReply = message.phase !== null && lastStartedBy(spans.phases, from)?.source != null;
    const isPassage = message.source !== null || message.role === 'search';
    const isKnown = known.has(message.content) || known.has(withoutHeadings(message.content));
    return isKnown || (isReply && !isPassage) ? [] : [{ seq: from, ...aboutMessage(message) }];
  });
  const results = entries.of('capability-end').flatMap((seq): readonly Text[] => {
    const entry = log.entry(seq);
    if (entry.type !== 'capability-end') return [];
    const { capability, success, output, error } = entry.result;
    return [{ seq, kind: 'result', place: capability, content: success ? output : (error ?? '') }];
  });
  const answer = answerUpTo(log, fold, log.count - 1);
  const isWritten = answer?.answer.metadata.synthesis.writtenBy === 'model';
  const writer = isWritten
    ? spans.attempts.findLastIndex(({ task, reply }) => task === 'synthesis' && reply !== null)
    : -1;
  const replies = spans.attempts.flatMap((span, index): readonly Text[] => {
    const { reply, phases, task, failure } = span;
    if (reply === null || index === writer) return [];
    const cycle = phaseOf(spans, span)?.cycle;
    const isDraft = task === 'yield' || phases?.includes('yield') === true;
    const name = `${capitalize(phases?.join(', ') ?? task)}${cycle === undefined ? '' : `, cycle ${cycle}`}`;
    const notes = `${isDraft ? ' (draft)' : ''}${failure === null ? '' : ' (discarded)'}`;
    return [{ seq: reply, kind: 'reply', place: `Call ${index + 1} · ${name}${notes}`, content: textIn(log, reply) }];
  });
  const end: readonly Text[] =
    answer === null
      ? []
      : [
          {
            seq: answer.seq,
            kind: 'answer',
            place: writer < 0 ? 'the engine' : `call ${writer + 1}`,
            content: answer.answer.answerText,
          },
        ];
  return [...messages, ...passages, ...results, ...replies, ...end];
}

/** The message of a passage has its headings in the first line. */
const withoutHeadings = (content: string): string => content.slice(content.indexOf('\n') + 1);

/** The texts in a reply, without the names of its fields. */
function textIn(log: RunLog, seq: number): string {
  const entry = log.entry(seq);
  if (entry.type !== 'activity-event') return '';
  const value = replyValue(entry);
  if (typeof value === 'object' && value !== null) return stringsIn(value).join('\n');
  return entry.event.type === 'reply.ended' ? entry.event.reply.text : '';
}

const stringsIn = (value: unknown): readonly string[] =>
  typeof value === 'string' ? [value] : Object.values(Object(value)).flatMap(stringsIn);

function aboutMessage({ role, phase, source, tags, content }: Message): Omit<Text, 'seq'> {
  if (source !== null) return { kind: 'passage', place: sourceText(source), content };
  if (role === 'search') return { kind: 'passage', place: phase ?? 'search', content };
  if (tags.includes('request')) return { kind: 'request', place: 'the user', content };
  if (phase === null) return { kind: 'earlier turn', place: role, content };
  return { kind: 'reply', place: `${capitalize(phase)}, without a model call`, content };
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

/** Where a text is, in words: `Call 6 · Observation, cycle 1`. */
export function originName({ kind, place }: Pick<Origin, 'kind' | 'place'>): string {
  if (kind === 'reply') return place;
  if (kind === 'request') return 'The request';
  if (kind === 'answer') return `The answer, written by ${place}`;
  return `${capitalize(kind === 'result' ? 'tool result' : kind)} · ${place}`;
}

/** What is known about the origin of a phrase, in one or two sentences. */
export function originText(origins: readonly Origin[]): string {
  const [first] = origins;
  if (first === undefined) return 'No text of the run contains these words.';
  if (first.kind === 'answer')
    return `In no passage, tool result or earlier reply: ${first.place === 'the engine' ? 'the engine wrote it' : `the model wrote it in ${first.place}`}.`;
  const documents = new Set(origins.filter(({ kind }) => kind === 'passage').map(({ place }) => place)).size;
  const several =
    documents > 1 ? ` ${documents} passages contain these words; the journal does not say which one was used.` : '';
  return `Found in ${pluralize(origins.length, 'text')}. First in ${firstName(first)}.${several}`;
}

/** The name within a sentence: `call 6, Observation, cycle 1`. */
function firstName(origin: Origin): string {
  const name = originName(origin).replace(' · ', ', ');
  return `${name.charAt(0).toLowerCase()}${name.slice(1)}`;
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
