import { requestTerms } from '../text/terms.ts';
import { formOf, isBrief, type RequestKind, requestKind } from './answer-fit.ts';
import { type Bearing, bearingOf, contradictsDates, type Grounding, ground } from './grounding.ts';
import { type EvidenceText, isTerse, type ParsedText, parseEvidence, parseStart } from './parsed-text.ts';

export interface ClaimInputs {
  readonly request: string;
  readonly answer: string;
  /** Whether the model claims that its task is done. */
  readonly claims: boolean;
  readonly gathered: readonly EvidenceText[];
  /** The model's explanation, if any. */
  readonly rationale?: string;
}

export interface ClaimAssessment {
  readonly complete: boolean;
  /** How far the answer supports the claim, 0..1, whether it is made or not. */
  readonly score: number;
  readonly inputs: Readonly<Record<string, number | string | boolean | null>>;
}

/** A claim is believed at this score or above: two negative signals (0.8 × 0.8) stay above it, three do not. */
const BELIEVED = 0.55;
/** What one negative signal leaves of the score: they combine as in a noisy-and (J. Pearl, 1988). */
const NEGATIVE_SIGNAL_FACTOR = 0.8;

/**
 * Whether to believe a claimed completion. It is not believed if the answer's form does not fit the request, the
 * evidence supports the answer only in part, the dates in the evidence contradict it, the model guesses or reports that
 * it has not solved the task, or three weaker negative signals come together. Without a claim nothing is complete;
 * without evidence only form and rationale count. Reads the first 20,000 characters of request and answer, the first
 * 50,000 of each text and the last 400 of the rationale.
 */
export function claimedCompletion({ request, answer, claims, gathered, rationale = '' }: ClaimInputs): ClaimAssessment {
  const parsedRequest = parseStart(request);
  const parsedAnswer = parseStart(answer);
  const texts = parseEvidence(gathered);
  const terse = isTerse(parsedAnswer);
  const requested = requestKind(request);
  const form = formOf(requested, parsedRequest, answer, parsedAnswer);
  const grounding = ground(parsedAnswer, parsedRequest, texts, form.kind);
  const certainty = certaintyOf(rationale);
  const bearing =
    texts.length === 0 ? null : bearingOf(subjectOf(request), addedBy(parsedAnswer, parsedRequest), texts);
  const doubts = negativeSignals({ ...form, terse, certainty, bearing });
  const grounded = trustInGrounding(grounding, form.kind, terse, bearing);
  const dates = requested === 'choice' && contradictsDates(request, answer, texts);
  const least = Math.min(form.score, grounded, trustInRationale(certainty, grounding), dates ? DISBELIEVED : 1);
  const score = least * NEGATIVE_SIGNAL_FACTOR ** doubts.length;
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

/** Returns the stems that an answer adds to the request, or all if it adds none. */
function addedBy(parsedAnswer: ParsedText, parsedRequest: ParsedText): readonly string[] {
  const all = [...parsedAnswer.stems];
  const added = all.filter((stem) => !parsedRequest.stems.has(stem));
  return added.length > 0 ? added : all;
}

/** What one strong reason to disbelieve an answer leaves of its score. */
const DISBELIEVED = 0.3;
/** If the evidence contains at least this share of the request's content, it covers nearly all of it. */
const WELL_COVERED = 0.6;
/** With less support than this, an open answer was not made from the evidence. */
const OPEN_SUPPORT = 0.25;
/**
 * Kinds that may be right without support: a number is counted or summed, a choice is in the request, a text is
 * invented.
 */
const DERIVED: ReadonlySet<RequestKind> = new Set(['number', 'choice', 'writing']);

/**
 * Returns how far grounding supports trust in an answer, 0..1. A short answer found in part but not verbatim was
 * combined or changed. One found nowhere may be the model's own knowledge if the evidence covers only part of the
 * request, except for dates. A sentence is trusted as far as it is supported.
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

/**
 * Returns how far the model's rationale supports trust in the answer, 0..1. An admission that the task is not solved
 * weighs less if the answer is found verbatim.
 */
function trustInRationale(certainty: Certainty, { span }: Grounding): number {
  if (certainty === 'guessed') return DISBELIEVED;
  return certainty === 'unsolved' && !span ? DISBELIEVED : 1;
}

/**
 * A weak sign against an answer to a question for one thing: it repeats words of the request, is longer than a name,
 * the evidence hardly covers the request, no text with the answer does, texts repeat each other (the search went in
 * circles), or the model reports that it has not solved the task.
 */
type NegativeSignal = 'restating' | 'wordy' | 'off the subject' | 'unlinked' | 'repetitive' | 'unsolved';

interface SignalInputs {
  readonly kind: RequestKind;
  readonly terse: boolean;
  readonly words: number;
  /** Distinct content words of the answer, and how many of them the request does not have (`added`). */
  readonly content: number;
  readonly added: number;
  readonly certainty: Certainty;
  /** Null without evidence. */
  readonly bearing: Bearing | null;
}

/** More words than most names have. */
const WORDY = 3;
/** With less of the request's content than this, the evidence hardly covers it. */
const ON_SUBJECT = 0.25;

/** Returns the negative signals of an answer. One means little: they count together. */
function negativeSignals({
  kind,
  terse,
  words,
  content,
  added,
  certainty,
  bearing,
}: SignalInputs): readonly NegativeSignal[] {
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

/**
 * How a model explains that it is done: it found the answer, it guesses (hedges, after K. Hyland, 1998), or it has not
 * solved the task.
 */
type Certainty = 'certain' | 'guessed' | 'unsolved';

/** Characters to read from the end of a rationale, where its conclusion is. */
const CONCLUSION_CHARS = 400;
const UNSOLVED =
  /\b(?:have|has|had|did|could|can|do|does|is|are|was|were) ?(?:not|n't) (?:yet )?(?:been able to |able to )?(?:solved?|find|found|finish(?:ed)?|answer(?:ed)?|determined?|know|clear|established?)\b|\bcannot (?:find|answer|determine|solve|know)\b|\bunable to\b|\bout of (?:steps|time|tries)\b/;
const GUESSED =
  /\b(?:likely|probably|perhaps|maybe|possibly|presumably|apparently|seems?|appears? to|suggests?|might|could be|may be|uncertain|guess(?:ing|ed)?|i (?:suppose|assume|think|believe)|(?:will|would|let's|let us) assume|not (?:entirely |completely |quite )?sure)\b/;

/** Returns how certain the end of a rationale is. An empty one counts as certain. */
function certaintyOf(rationale: string): Certainty {
  const conclusion = rationale.slice(-CONCLUSION_CHARS).toLowerCase().replace(/’/g, "'");
  if (UNSOLVED.test(conclusion)) return 'unsolved';
  return GUESSED.test(conclusion) ? 'guessed' : 'certain';
}
