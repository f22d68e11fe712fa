import type { AnswerGrades, EvidenceText, GradingInput } from '../contracts/grading.ts';
import { type ClosingFeature, closingFeatures, isGreetingOrThanks } from './closing.ts';
import { type Conflict, conflictsIn } from './conflict.ts';
import { contradictionsIn } from './contradiction.ts';
import {
  type Compared,
  type CompletionFeature,
  checkSentences,
  compare,
  completionFeatures,
  type Grounding,
  type GroundingCheck,
  groundingOf,
  type SentenceCheck,
  type SentenceSupport,
  sentenceSupport,
  supportOf,
} from './grounding.ts';
import { isNoAnswer } from './no-answer.ts';
import { type Features, type Reading, readEvidence, readStart, START_CHARS } from './reading.ts';
import { type SufficiencyFeature, shareInOneSentence, sufficiencyFeatures } from './sufficiency.ts';

/**
 * Grades an answer without a model: a pure function, for any language. Reads the first 20,000 characters of request and
 * answer, and the first 50,000 of each distinct text.
 */
export function gradeByDefault(input: GradingInput, compared?: Compared): AnswerGrades {
  const { request, answer } = input;
  const readings = readInput(input);
  const grounding = groundingOf(comparisonIn(request, readings, compared));
  const { completion, sufficiency, closing } = featuresOf(input, readings, grounding);
  return {
    grounding: supportOf(grounding),
    completion: isNoAnswer(answer) ? 0 : probability(COMPLETION_WEIGHTS, completion),
    sufficiency: sufficiencyOf(readings, sufficiency),
    satisfaction: closing === null ? 0 : probability(CLOSING_WEIGHTS, closing),
    contradictions: contradictionsIn(request),
  };
}

export interface AnswerFeatures {
  readonly completion: Features<CompletionFeature>;
  readonly sufficiency: Features<SufficiencyFeature>;
  /** Null if the assistant has not answered before the user's last turn. */
  readonly closing: Features<ClosingFeature> | null;
}

/** Returns the features of an answer: what `npm run eval -- folds` fits the weights of the default grader to. */
export function answerFeatures(input: GradingInput): AnswerFeatures {
  const readings = readInput(input);
  return featuresOf(input, readings, groundingOf(comparisonIn(input.request, readings)));
}

interface Readings {
  readonly request: Reading;
  readonly answer: Reading;
  readonly texts: readonly Reading[];
}

function readInput({ request, answer, evidence }: GradingInput): Readings {
  return { request: readStart(request), answer: readAnswer(answer), texts: readEvidence(evidence) };
}

const readAnswer = (answer: string): Reading => readStart(withoutNumbering(answer));

/** The numbers of a list are not part of what it says. Everything else keeps its place. */
const withoutNumbering = (text: string): string =>
  text.replace(/^[^\S\n]*\d{1,3}[.)](?=\s)/gmu, (marker) => ' '.repeat(marker.length));

function featuresOf(
  { evidence, dialogue }: GradingInput,
  { request, answer, texts }: Readings,
  grounding: Grounding,
): AnswerFeatures {
  return {
    completion: completionFeatures(answer, request, grounding, texts.length < evidence.length),
    sufficiency: sufficiencyFeatures(request, texts),
    closing: closingFeatures(dialogue),
  };
}

/** Asks for a text that needs no source. */
const INVENTION =
  /^\W*(?:please |bitte )?(?:write|compose|draft|invent|imagine|translate|rewrite|paraphrase|schreib|verfasse|dichte|übersetze|écri[st]|rédige|traduis|escribe|redacta|traduce|scrivi|escreva|写|翻译|書いて)/iu;

/** In the answer to a greeting or thanks, only names and numbers can be checked against the texts. */
const comparedFor = (request: string, compared?: Compared): Compared | undefined =>
  isGreetingOrThanks(request) ? 'names' : compared;

const asksForInvention = (request: string): boolean => INVENTION.test(request.slice(0, 100));

/** Without texts if the request asks for an invention: then there is nothing to check. */
const comparisonIn = (asked: string, { request, answer, texts }: Readings, compared?: Compared): GroundingCheck =>
  compare(answer, request, asksForInvention(asked) ? [] : texts, comparedFor(asked, compared));

/** How far evidence supports a text, 0..1, which of its sentences it does not support, and the ids of the texts that contradict it. */
export interface TextCheck {
  readonly support: number;
  readonly unsupported: SentenceCheck['unsupported'];
  readonly contradictedBy: readonly string[];
  /** Texts that contradict each other where the answer follows one of them. */
  readonly conflicts: readonly Conflict[];
}

export interface CheckedAnswer {
  /** How far the evidence supports it, 0..1; null if there is nothing to check. */
  readonly support: number | null;
  /** Compares each of its sentences, too; null if there is nothing to check. `required`: the least support, 0..1. */
  readonly check: (required: number) => TextCheck | null;
  /** The support of each of its sentences. */
  readonly sentences: () => readonly SupportedSentence[];
}

/** A sentence of an answer with the texts that support it, the best first; each has its support by that text alone, 0..1. */
export interface SupportedSentence extends Omit<SentenceSupport, 'byText'> {
  readonly by: readonly { readonly id: string; readonly support: number }[];
}

/** Returns what compares an answer with evidence; request and answer are read once. */
export function checkAnswer(
  asked: string,
  given: string,
  compared: Compared = 'words',
): (evidence: readonly EvidenceText[]) => CheckedAnswer {
  const [request, answer] = [readStart(asked), readAnswer(given)];
  return (evidence) => {
    const comparison = comparisonIn(asked, { request, answer, texts: readEvidence(evidence) }, compared);
    const support = supportOf(groundingOf(comparison));
    const text = withoutNumbering(given.slice(0, START_CHARS));
    return {
      support,
      sentences: () =>
        sentenceSupport(comparison, text).map(({ byText, ...sentence }) => ({
          ...sentence,
          by: comparison.texts
            .map((one, at) => ({ id: idOf(evidence, one), support: byText[at] ?? 0 }))
            .filter((one) => one.support > 0)
            .sort((one, other) => other.support - one.support),
        })),
      check(required) {
        if (support === null) return null;
        const { unsupported, contradicting } = checkSentences(comparison, text, required);
        const ids = evidence.filter((one) => contradicting.some((other) => readEvidence([one])[0] === other));
        const conflicts = conflictsIn(comparison, evidence);
        return { support, unsupported, contradictedBy: ids.map(({ id }) => id), conflicts };
      },
    };
  };
}

const idOf = (evidence: readonly EvidenceText[], text: Reading): string =>
  evidence.find((one) => readEvidence([one])[0] === text)?.id ?? '';

/** Returns how far evidence suffices, 0..1: several texts together, or one sentence, of which missing words count twice. */
function sufficiencyOf({ request, texts }: Readings, features: AnswerFeatures['sufficiency']): number {
  const isRelated = texts.some(({ terms }) => [...request.terms].some((term) => terms.has(term)));
  return isRelated ? Math.max(probability(SUFFICIENCY_WEIGHTS, features), shareInOneSentence(request, texts) ** 2) : 0;
}

/** A logistic model: the log-odds are `bias` plus the sum of each feature times its weight. */
interface Weights<Feature extends string> {
  readonly bias: number;
  readonly weights: Features<Feature>;
}

function probability<Feature extends string>(model: Weights<Feature>, features: Features<Feature>): number {
  let odds = model.bias;
  for (const name of Object.keys(model.weights) as Feature[]) odds += model.weights[name] * features[name];
  return 1 / (1 + Math.exp(-odds));
}

/**
 * The weights of the default grader. `npm run eval -- folds` fits them to the data sets named in `bench/README.md`
 * (logistic regression, both classes weighted alike) and prints what each feature adds on a source left out.
 */
const COMPLETION_WEIGHTS: Weights<CompletionFeature> = {
  bias: 0.15,
  weights: { long: -3.21, recombined: -3.92, repeatedResults: -3.45 },
};

/** The bias includes the odds of 0.7, the default threshold of sufficiency. */
const SUFFICIENCY_WEIGHTS: Weights<SufficiencyFeature> = {
  bias: -2.93,
  weights: { together: 4.35, names: 2.31, apart: 7.01, chained: 1 },
};

const CLOSING_WEIGHTS: Weights<ClosingFeature> = {
  bias: -2.39,
  weights: { closes: 5.05, declines: 5.02, thanks: 2.93, asks: -3.09, numbers: -3.93, long: -2.08 },
};
