import type { RecordedState } from '../../machines/contracts/chain-state.ts';
import type { Message } from '../../machines/contracts/message.ts';
import type { Retrieval } from '../../machines/contracts/passage.ts';
import type { FinalAnswer } from '../../machines/contracts/synthesis.ts';
import { checkAnswer } from '../../machines/heuristics/default-grader.ts';
import { sentencesInContext } from '../../machines/policies/evidence.ts';
import { visibleMessages } from '../../machines/policies/progress.ts';
import { sentencesOf } from '../../machines/text/sentences.ts';
import { eachRun, foldWord, isUnspaced, stemOfFolded } from '../../machines/text/words.ts';
import { replyValue } from '../../src/chain/journal/phase-finding.ts';
import type { RunLog } from '../wire/run-log.ts';
import { phaseOf } from './call-index.ts';
import { answerUpTo, entriesIn, entryAt, runStart } from './entry-index.ts';
import { capitalize, formatScore, pluralize } from './format.ts';
import type { RunFold } from './run-fold.ts';
import { RETRIEVAL, type Selection, selectionOf } from './selection.ts';
import { lastStartedBy } from './sorted.ts';
import { answerAttempt } from './summary.ts';
import { excerpt, lowerFirst, sourceText } from './text.ts';

export interface Origin {
  readonly seq: number;
  readonly kind: 'request' | 'earlier turn' | 'passage' | 'result' | 'reply' | 'answer';
  /** Its location: a file with its lines, a model call with its phase, or a capability; of the answer, who wrote it. */
  readonly place: string;
  readonly excerpt: string;
  readonly content: string;
  /** How far it supports the phrase, 0..1, as the engine scores it; null if it contains the phrase. */
  readonly support: number | null;
}

const EXCERPT_CHARS = 240;
const MAX_CLOSEST = 5;

/**
 * Returns the texts that contain a phrase, in the order in which the run received them. The first need not be the source: a model may
 * have taken the phrase from a later one. Ignores case, accents, endings, spacing and punctuation. If only models wrote it, the given texts that
 * support the phrase follow, the best first. Linear in the texts.
 */
export function originsOf(log: RunLog, fold: RunFold, phrase: string): readonly Origin[] {
  const stems = stemsIn(phrase);
  if (stems.length === 0) return [];
  const texts = textsOf(log, fold);
  const words = ` ${stems.join(' ')} `;
  const exact = texts
    .filter(({ content }) => ` ${stemsIn(content).join(' ')} `.includes(words))
    .map((text) => ({ ...text, support: null, excerpt: around(text, phrase) }))
    .toSorted((one, other) => one.seq - other.seq);
  if (exact.some(isGiven)) return exact;
  const given = texts.filter(isGiven);
  const evidence = given.map(({ content }, at) => ({ id: String(at), content }));
  const supporting = checkAnswer(
    runStart(log)?.input.request ?? '',
    phrase,
  )(evidence)
    .sentences()
    .flatMap(({ by }) => by)
    .flatMap(({ id, support }) => {
      const text = given[Number(id)];
      return text === undefined ? [] : [{ ...text, support, excerpt: around(text, phrase) }];
    });
  return [...exact, ...closest(supporting)];
}

/** The texts that support something best. Of equal ones, a passage comes before the tool result that contains it. */
const closest = (origins: readonly (Origin & { readonly support: number })[]): readonly Origin[] =>
  origins
    .toSorted(
      (one, other) => other.support - one.support || Number(other.kind === 'passage') - Number(one.kind === 'passage'),
    )
    .slice(0, MAX_CLOSEST);

const isGiven = ({ kind }: Pick<Origin, 'kind'>): boolean => kind !== 'reply' && kind !== 'answer';

export type CheckedSentence = ReturnType<typeof checkedSentences>[number];

/** Returns the sentences of an answer with their support, as the engine computed it; empty if it was not checked or the state is unknown. */
export function checkedSentences(fold: RunFold, seq: number, answer: FinalAnswer) {
  const { grounding, answerText } = answer;
  const state = fold.states.at(seq) as RecordedState | null;
  if (grounding === null || state === null) return [];
  const unsupported = new Set(grounding.unsupported.map(({ start }) => start));
  return sentencesInContext(state, visibleMessages(state), answerText).map(({ text, start, support, by }) => ({
    text,
    start,
    support,
    isSupported: !unsupported.has(start),
    /** The texts in the context that support it, the best first. */
    origins: closest(
      by.flatMap(({ id, support }) => {
        const arrival = fold.context.arrivals.find(({ message }) => message.id === id);
        if (arrival === undefined) return [];
        const about = aboutMessage(arrival.message);
        return [{ seq: arrival.from, ...about, support, excerpt: around(about, text) }];
      }),
    ),
  }));
}

type Text = Omit<Origin, 'excerpt' | 'support'>;

function textsOf(log: RunLog, fold: RunFold): readonly Text[] {
  const { spans, entries, context } = fold;
  const passages = spans.calls.flatMap(({ source: name, to }): readonly Text[] => {
    const entry = name === RETRIEVAL ? entryAt(log, to, 'activity-event') : null;
    if (entry?.event.type !== 'done') return [];
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
  const results = entriesIn(log, entries, 'capability-end').map(({ seq, result }): Text => {
    const { capability, success, output, error } = result;
    return { seq, kind: 'result', place: capability, content: success ? output : (error ?? '') };
  });
  const answer = answerUpTo(log, fold, log.count - 1);
  const writing = answer === null ? null : answerAttempt(spans, answer.answer);
  const replies = spans.attempts.flatMap((span): readonly Text[] => {
    const { reply, phases, task, failure, number } = span;
    if (reply === null || span === writing) return [];
    const cycle = phaseOf(spans, span)?.cycle;
    const isDraft = task === 'yield' || phases?.includes('yield') === true;
    const name = `${capitalize(phases?.join(', ') ?? task)}${cycle === undefined ? '' : `, cycle ${cycle}`}`;
    const notes = `${isDraft ? ' (draft)' : ''}${failure === null ? '' : ' (discarded)'}`;
    return [{ seq: reply, kind: 'reply', place: `Call ${number} · ${name}${notes}`, content: textIn(log, reply) }];
  });
  const end: readonly Text[] =
    answer === null
      ? []
      : [
          {
            seq: answer.seq,
            kind: 'answer',
            place: writing === null ? 'the engine' : `call ${writing.number}`,
            content: answer.answer.answerText,
          },
        ];
  return [...messages, ...passages, ...results, ...replies, ...end];
}

/** The message of a passage has its headings in the first line. */
const withoutHeadings = (content: string): string => content.slice(content.indexOf('\n') + 1);

/** The texts in a reply, without the names of its fields. */
function textIn(log: RunLog, seq: number): string {
  const entry = entryAt(log, seq, 'activity-event');
  if (entry === null) return '';
  const value = replyValue(entry);
  if (typeof value === 'object' && value !== null) return stringsIn(value).join('\n');
  return entry.event.type === 'reply.ended' ? entry.event.reply.text : '';
}

const stringsIn = (value: unknown): readonly string[] =>
  typeof value === 'string' ? [value] : Object.values(Object(value)).flatMap(stringsIn);

function aboutMessage({ role, phase, source, tags, content }: Message): Omit<Text, 'seq'> {
  if (source !== null) return { kind: 'passage', place: sourceText(source), content };
  if (role === 'search') return { kind: phase === 'action' ? 'result' : 'passage', place: phase ?? 'search', content };
  if (tags.includes('request')) return { kind: 'request', place: 'the user', content };
  if (phase === null) return { kind: 'earlier turn', place: role, content };
  return { kind: 'reply', place: `${capitalize(phase)}, without a model call`, content };
}

interface Word {
  readonly from: number;
  readonly to: number;
  readonly stem: string;
}

/** The words of a text, or the characters of a script that is written without spaces. */
function wordsIn(text: string): readonly Word[] {
  const words: Word[] = [];
  eachRun(text, (run, start) => {
    let from = start;
    for (const part of isUnspaced(run) ? run : [run]) {
      words.push({ from, to: from + part.length, stem: stemOfFolded(foldWord(part)) });
      from += part.length;
    }
  });
  return words;
}

const stemsIn = (text: string): readonly string[] => wordsIn(text).map(({ stem }) => stem);

/** The results of a search in a tool result, each with its location in the first line. */
const BREAK = '\n\n';

/** The start of the sentence that has most of a phrase. Of a tool result, the part with that sentence. */
function around({ kind, content }: Pick<Text, 'kind' | 'content'>, phrase: string): string {
  const { start = 0 } = sentenceWith(content, placesOf(content, phrase).places) ?? {};
  const lead = kind === 'result' ? (content.slice(0, start).split(BREAK).at(-1) ?? '') : '';
  const rest = kind === 'result' ? (content.slice(start).split(BREAK)[0] ?? '') : content.slice(start);
  return `${start > lead.length ? '… ' : ''}${excerpt(lead + rest, EXCERPT_CHARS)}`;
}

type Place = Pick<Word, 'from' | 'to'>;

/** The sentence of a text with most of these places; undefined if there are none. */
function sentenceWith(text: string, places: readonly Place[]) {
  const sizeIn = ({ start, end }: { readonly start: number; readonly end: number }): number =>
    places.reduce((sum, { from, to }) => sum + (from >= start && from < end ? to - from : 0), 0);
  const sized = sentencesOf(text).map((sentence) => ({ ...sentence, size: sizeIn(sentence) }));
  const most = Math.max(0, ...sized.map(({ size }) => size));
  return most === 0 ? undefined : sized.find(({ size }) => size === most);
}

/** Shorter words without a digit occur in most texts. */
const DISTINCTIVE = /.{4}|\p{N}/u;

/** Returns where a phrase occurs in a text; if it does not occur as a whole, where its longer words do. */
function placesOf(text: string, phrase: string): { readonly places: readonly Place[]; readonly isWhole: boolean } {
  const stems = stemsIn(phrase);
  if (stems.length === 0) return { places: [], isWhole: false };
  const words = wordsIn(text);
  const whole = words.flatMap(({ from }, at): readonly Place[] => {
    const last = words[at + stems.length - 1];
    return last !== undefined && stems.every((stem, nth) => words[at + nth]?.stem === stem)
      ? [{ from, to: last.to }]
      : [];
  });
  const distinctive = new Set(stems.filter((stem) => DISTINCTIVE.test(stem)));
  const isWhole = whole.length > 0;
  return { places: isWhole ? whole : words.filter(({ stem }) => distinctive.has(stem)), isWhole };
}

/** Where a text is, in words: `Call 6 · Observation, cycle 1`. */
export function originName({ kind, place }: Pick<Origin, 'kind' | 'place'>): string {
  if (kind === 'reply') return place;
  if (kind === 'request') return 'The request';
  if (kind === 'answer') return `The answer, written by ${place}`;
  return `${capitalize(kind === 'result' ? 'tool result' : kind)} · ${place}`;
}

/** What is known about the origin of a phrase, in one to three sentences. */
export function originText(origins: readonly Origin[]): string {
  const exact = origins.filter(({ support }) => support === null);
  const best = origins.find(({ support }) => support !== null);
  const supportWords =
    best === undefined
      ? ''
      : ` The best support is ${formatScore(best.support ?? 0)}, from ${best.kind === 'passage' ? best.place : firstName(best)}.`;
  const [first] = exact;
  if (first === undefined) return `No text of the run contains these words.${supportWords}`;
  if (first.kind === 'answer')
    return `Not in any passage, tool result or earlier reply: ${first.place === 'the engine' ? 'the engine wrote it' : `the model wrote it in ${first.place}`}.${supportWords}`;
  const documents = new Set(exact.filter(({ kind }) => kind === 'passage').map(({ place }) => place)).size;
  const several =
    documents > 1 ? ` ${documents} passages contain these words; the journal does not say which one was used.` : '';
  return `Found in ${pluralize(exact.length, 'text')}. First in ${firstName(first)}.${several}${supportWords}`;
}

/** The name within a sentence: `call 6, Observation, cycle 1`. */
const firstName = (origin: Origin): string => lowerFirst(originName(origin).replace(' · ', ', '));

/** Selects the search that found a passage; for other texts, or without a search, the entry with the text. */
export function foundAt({ spans }: RunFold, count: number, { seq, kind }: Pick<Origin, 'seq' | 'kind'>): Selection {
  const search =
    kind === 'passage'
      ? spans.calls.findLast(({ source, from, to }) => source === RETRIEVAL && from <= seq && to !== null)
      : undefined;
  return search === undefined ? { kind: 'entry', from: seq, to: seq } : selectionOf('retrieval', search, count);
}

/** Splits a text into parts that match the phrase and parts that do not. Without a match, the sentence with most of its words is one. */
export function markedParts(
  text: string,
  phrase: string,
): readonly { readonly text: string; readonly isMatch: boolean }[] {
  let end = 0;
  const { places, isWhole } = placesOf(text, phrase);
  const sentence = isWhole ? undefined : sentenceWith(text, places);
  const marked = sentence === undefined ? places : [{ from: sentence.start, to: sentence.end }];
  const parts = marked.flatMap(({ from, to }) => {
    const before = { text: text.slice(end, from), isMatch: false };
    end = to;
    return [before, { text: text.slice(from, to), isMatch: true }];
  });
  return [...parts, { text: text.slice(end), isMatch: false }].filter((part) => part.text !== '');
}
