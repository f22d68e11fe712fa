import type { EvidenceText } from '../../contracts/evidence-text.ts';
import { requestTerms } from '../../text/terms.ts';
import { formOf } from '../answer-fit/answer-fit.ts';
import { requestKind } from '../answer-fit/request-kind.ts';
import { bearingOf } from '../grounding/bearing.ts';
import { againstDates } from '../grounding/date-order.ts';
import { readGathered } from '../grounding/gathered.ts';
import { ground } from '../grounding/grounding.ts';
import { isTerse, type Reading, readStart } from '../grounding/reading.ts';
import { certaintyOf } from './certainty.ts';
import { negativeSignals } from './negative-signals.ts';
import { DISBELIEVED, trustInGrounding, trustInRationale } from './trust.ts';

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
 * Whether a claimed completion is believed [Y1, Y12]. It is not where the answer's form does not fit the request, where the answer
 * stands in what was gathered only in part, where the texts' own dates go against it, where the model says that it guesses or
 * that it has not solved the task, or where three lesser doubts come together. Without a claim nothing is complete, whatever
 * the texts say; with nothing gathered only form and rationale count. Reads the first 20,000 characters of request and
 * answer, the first 50,000 of each text and the last 400 of the rationale.
 */
export function claimedCompletion({ request, answer, claims, gathered, rationale = '' }: ClaimInputs): ClaimVerdict {
  const asked = readStart(request);
  const said = readStart(answer);
  const texts = readGathered(gathered);
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
function addedBy(said: Reading, asked: Reading): readonly string[] {
  const all = [...said.stems];
  const added = all.filter((stem) => !asked.stems.has(stem));
  return added.length > 0 ? added : all;
}
