import { gathered } from '../measures/gathered.mjs';

/**
 * The rows of a data set as samples: their source, whether they are complete, and the features of the default grader.
 *
 * @typedef {import('./logistic-regression.mjs').Sample} Sample
 * @typedef {typeof import('postchain/machines').answerFeatures} AnswerFeatures
 */

/** The action of a ReAct step that ends a run and contains its answer. */
const FINISH = /^\s*finish\s*\[([\s\S]*)/i;
const INPUT = { request: '', answer: '', rationale: '', claimsCompletion: false, evidence: [], dialogue: [] };

/**
 * Returns each step of each run as the policy sees it.
 *
 * @param {readonly any[]} rows
 */
export function stepsOf(rows) {
  return rows.flatMap((row) =>
    claimsOf(row).map((claim, at) => ({ source: row.source, claim, complete: row.step_complete[at] === true })),
  );
}

/**
 * Returns what each step of a run claims: the question, the text gathered before the step, and the thought and the answer of the step.
 *
 * @param {any} row
 */
export function claimsOf({ question, steps }) {
  const observed = steps.map((/** @type {any} */ { observation }, /** @type {number} */ at) => ({
    id: `step ${at + 1}`,
    content: observation,
  }));
  return /** @type {any[]} */ (steps).map(({ thought, action }, at) => {
    const finish = FINISH.exec(action);
    return {
      ...INPUT,
      request: question,
      answer: finish?.[1]?.replace(/\]\s*$/, '') ?? '',
      claimsCompletion: finish !== null,
      evidence: observed.slice(0, at).filter((/** @type {any} */ { content }) => content.trim() !== ''),
      rationale: thought,
    };
  });
}

/**
 * Returns the steps that claim completion. Steps without a claim are decided; they count as weight of the wrong claims,
 * so that both classes of all steps count the same.
 *
 * @param {readonly any[]} rows
 * @param {AnswerFeatures} featuresOf
 * @returns {readonly Sample[]}
 */
export function completionSamples(rows, featuresOf) {
  const steps = stepsOf(rows);
  const claims = steps.filter(({ claim }) => claim.claimsCompletion);
  const share = (/** @type {readonly any[]} */ of) => of.filter(({ complete }) => !complete).length;
  const wrong = share(claims) / share(steps);
  return claims.map(({ source, claim, complete }) => ({
    source,
    complete,
    features: featuresOf(claim).completion,
    weight: complete ? 1 : wrong,
    outOf: 1,
  }));
}

/**
 * Returns the rows on sufficiency, and every state of the shortest path to the evidence of each question, alone and
 * among three other paragraphs, at half the weight.
 *
 * @param {readonly any[]} rows
 * @param {readonly any[]} questions
 * @param {AnswerFeatures} featuresOf
 * @returns {readonly Sample[]}
 */
export function sufficiencySamples(rows, questions, featuresOf) {
  const features = (/** @type {string} */ request, /** @type {any} */ evidence) =>
    featuresOf({ ...INPUT, request, evidence }).sufficiency;
  const given = rows.map(({ question, source, gathered: paragraphs, complete }) => ({
    source,
    complete,
    features: features(question, paragraphs.map(gathered)),
    weight: 1,
  }));
  const onPath = questions.flatMap((row) => {
    const { gold, others } = pathOf(row);
    return [[], others].flatMap((around) =>
      gold.map((_, at) => ({
        source: row.source,
        complete: at === gold.length - 1,
        features: features(row.question, [...around, ...gold.slice(0, at + 1)]),
        weight: 0.5,
      })),
    );
  });
  return [...given, ...onPath];
}

/** Distractor paragraphs that are present from the start. */
const OTHERS = 3;

/**
 * Returns the gold paragraphs of a question in the order of its hops, and three others.
 *
 * @param {any} row
 */
export function pathOf({ messages, hops, gold: goldIds }) {
  const ids = [...new Set(hops?.map((/** @type {any} */ { gold }) => gold) ?? goldIds)];
  const gold = ids.flatMap((id) => messages.filter((/** @type {any} */ one) => one.id === id).map(gathered));
  const others = messages.filter((/** @type {any} */ { id }) => !ids.includes(id)).slice(0, OTHERS);
  return { gold, others: others.map(gathered) };
}

/**
 * Returns the user turns that follow an answer. The source is the first service of the dialogue.
 *
 * @param {readonly any[]} rows
 * @param {AnswerFeatures} featuresOf
 * @returns {readonly Sample[]}
 */
export function closingSamples(rows, featuresOf) {
  return rows.flatMap(({ history, services, complete }) => {
    const features = featuresOf({ ...INPUT, dialogue: history }).closing;
    return features === null ? [] : [{ source: services?.[0] ?? 'all', complete, features, weight: 1 }];
  });
}
