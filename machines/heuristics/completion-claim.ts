import { requestTerms } from '../text/terms.ts';
import { formOf, isBrief, type RequestKind, requestKind } from './answer-fit.ts';
import { againstDates, type Bearing, bearingOf, type Grounding, ground } from './grounding.ts';
import { type EvidenceText, isTerse, type ParsedText, parseEvidence, parseStart } from './parsed-text.ts';

export interface ClaimInputs {
  readonly request: string;
  readonly answer: string;
  /** The model says that its task is done. */
  readonly claims: boolean;
  readonly gathered: readonly EvidenceText[];
  /** Why it says so, in its own words, where it does. */
  readonly rationale?: string;
}

export interface ClaimVerdict {
  readonly complete: boolean;
  /** How far the answer bears a claim out, 0..1, whether it is made or not. */
  readonly score: number;
  readonly inputs: Readonly<Record<string, number | string | boolean | null>>;
}

/** A claim is believed from this score on: two doubts leave it (0.8 x 0.8), three do not. */
const BELIEVED = 0.55;
/** What one doubt leaves of the score: they add up as in a noisy-and (J. Pearl, 1988). */
const DOUBTED = 0.8;

/**
 * Whether a claimed completion is believed. It is not where the answer's form does not fit the request, where the answer
 * stands in what was gathered only in part, where the texts' own dates go against it, where the model says that it guesses or
 * that it has not solved the task, or where three lesser doubts come together. Without a claim nothing is complete, whatever
 * the texts say; with nothing gathered only form and rationale count. Reads the first 20,000 characters of request and
 * answer, the first 50,000 of each text and the last 400 of the rationale.
 */
export function claimedCompletion({ request, answer, claims, gathered, rationale = '' }: ClaimInputs): ClaimVerdict {
  const asked = parseStart(request);
  const said = parseStart(answer);
  const texts = parseEvidence(gathered);
  const terse = isTerse(said);
  const asks = requestKind(request);
  const form = formOf(asks, asked, answer, said);
  const grounding = ground(said, asked, texts, form.kind);
  const certainty = certaintyOf(rationale);
  const bearing = texts.length === 0 ? null : bearingOf(subjectOf(request), addedBy(said, asked), texts);
  const doubts = negativeSignals({ ...form, terse, certainty, bearing });
  const grounded = trustInGrounding(grounding, form.kind, terse, bearing);
  const dates = asks === 'choice' && againstDates(request, answer, texts);
  const least = Math.min(form.score, grounded, trustInRationale(certainty, grounding), dates ? DISBELIEVED : 1);
  const score = least * DOUBTED ** doubts.length;
  return {
    complete: claims && score >= BELIEVED,
    score,
    inputs: {
      claims,
      kind: form.kind,
      fit: form.score,
      support: grounding.support,
      span: grounding.span,
      grounded,
      certainty,
      againstDates: dates,
      coverage: bearing?.coverage ?? null,
      doubts: doubts.join(', '),
      believedFrom: BELIEVED,
    },
  };
}

const subjectOf = (request: string): readonly string[] => requestTerms(request).map(({ stem }) => stem);

/** The stems that an answer adds to the request, or all where it adds none. */
function addedBy(said: ParsedText, asked: ParsedText): readonly string[] {
  const all = [...said.stems];
  const added = all.filter((stem) => !asked.stems.has(stem));
  return added.length > 0 ? added : all;
}

/** What one reason not to believe an answer leaves of its score. */
const DISBELIEVED = 0.3;
/** With as much of the request's content as this, texts speak of nearly all of it. */
const WELL_COVERED = 0.6;
/** An open answer of which less than this stands anywhere was not made from what was gathered. */
const OPEN_SUPPORT = 0.25;
/** What may be right without standing anywhere: a number is counted or summed, a choice stands in the request, a text is made up. */
const DERIVED: ReadonlySet<RequestKind> = new Set(['number', 'choice', 'writing']);

/**
 * How far an answer is trusted for where it stands, 0..1. A short answer that stands in part but not word for word was put
 * together or changed. One that stands nowhere may be what the model knows, where the texts speak of a part of the request
 * only; a date never is. A sentence is trusted as far as it is supported.
 */
function trustInGrounding(
  { support, span }: Grounding,
  kind: RequestKind,
  terse: boolean,
  bearing: Bearing | null,
): number {
  if (support === null || span || DERIVED.has(kind)) return 1;
  if (!isBrief(kind)) return support < OPEN_SUPPORT ? DISBELIEVED : 1;
  if (support === 0) return kind !== 'date' && leavesAGap(bearing) ? 1 : DISBELIEVED;
  return terse ? DISBELIEVED : support;
}

const leavesAGap = (bearing: Bearing | null): boolean =>
  bearing !== null && bearing.coverage >= ON_SUBJECT && bearing.coverage < WELL_COVERED;

/** How far an answer is trusted for what the model says of it, 0..1. That it has not solved the task weighs less where the answer stands word for word. */
function trustInRationale(certainty: Certainty, { span }: Grounding): number {
  if (certainty === 'guessed') return DISBELIEVED;
  return certainty === 'unsolved' && !span ? DISBELIEVED : 1;
}

/**
 * A weak sign against an answer to a question for one thing: it says words of the request again, it has more words than a name,
 * the texts hardly speak of the request, no text that has the answer does, the texts repeat themselves (the search went in
 * circles), or the model says that it has not solved it.
 */
type NegativeSignal = 'restating' | 'wordy' | 'off the subject' | 'unlinked' | 'repetitive' | 'unsolved';

interface DoubtInputs {
  readonly kind: RequestKind;
  readonly terse: boolean;
  readonly words: number;
  /** How many different content words the answer has, and how many of them the request has not. */
  readonly content: number;
  readonly added: number;
  readonly certainty: Certainty;
  /** Null with nothing gathered. */
  readonly bearing: Bearing | null;
}

/** So many words are more than most names. */
const WORDY = 3;
/** With less of the request's content than this, texts hardly speak of it. */
const ON_SUBJECT = 0.25;

/** The doubts about an answer. One says little: they count together. */
function negativeSignals({
  kind,
  terse,
  words,
  content,
  added,
  certainty,
  bearing,
}: DoubtInputs): readonly NegativeSignal[] {
  if (!isBrief(kind)) return [];
  const signs: readonly (readonly [NegativeSignal, boolean])[] = [
    ['restating', terse && added < content],
    ['wordy', terse && words >= WORDY],
    ['off the subject', bearing !== null && bearing.coverage < ON_SUBJECT],
    ['unlinked', bearing !== null && !bearing.linked],
    ['repetitive', bearing !== null && bearing.repeats > 0],
    ['unsolved', certainty === 'unsolved'],
  ];
  return signs.filter(([, holds]) => holds).map(([doubt]) => doubt);
}

/** How a model tells why it is done: it has found the answer, it guesses (hedges, after K. Hyland, 1998), or it has not solved it. */
type Certainty = 'certain' | 'guessed' | 'unsolved';

/** What is read of a rationale, in characters from its end, where it comes to its conclusion. */
const CONCLUSION_CHARS = 400;
const UNSOLVED =
  /\b(?:have|has|had|did|could|can|do|does|is|are|was|were) ?(?:not|n't) (?:yet )?(?:been able to |able to )?(?:solved?|find|found|finish(?:ed)?|answer(?:ed)?|determined?|know|clear|established?)\b|\bcannot (?:find|answer|determine|solve|know)\b|\bunable to\b|\bout of (?:steps|time|tries)\b/;
const GUESSED =
  /\b(?:likely|probably|perhaps|maybe|possibly|presumably|apparently|seems?|appears? to|suggests?|might|could be|may be|uncertain|guess(?:ing|ed)?|i (?:suppose|assume|think|believe)|(?:will|would|let's|let us) assume|not (?:entirely |completely |quite )?sure)\b/;

/** What the last 400 characters of a rationale say of its conclusion. An empty one says nothing against it. */
function certaintyOf(rationale: string): Certainty {
  const said = rationale.slice(-CONCLUSION_CHARS).toLowerCase().replace(/’/g, "'");
  if (UNSOLVED.test(said)) return 'unsolved';
  return GUESSED.test(said) ? 'guessed' : 'certain';
}
