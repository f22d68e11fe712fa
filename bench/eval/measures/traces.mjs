import { stepsOf } from '../fitting/samples.mjs';
import { balancedAccuracy } from './balanced-accuracy.mjs';
import { message } from './messages.mjs';

/**
 * At each step of a run: does the chart complete it, and is it complete? The whole decision counts: the assessment of the model's reply
 * and the rules on confidence and task completion. The policies see the question, the text gathered before the step, and the thought
 * and action of the step, but no gold data. The data has no confidences: a model is assumed that reports 0.95 with each claim of
 * completion, and 0.5 otherwise. Steps that claim completion are also measured on their own.
 *
 * @typedef {import('postchain/machines').GradingInput} Claim
 * @typedef {{ claim: Claim, complete: boolean }} Step
 */

/** The baseline rule rejects answers with more words. */
const SHORT_WORDS = 5;
const CLAIMED_CONFIDENCE = 0.95;
const OTHER_CONFIDENCE = 0.5;

export const measure = {
  /** The data file's name up to its first dot. */
  file: 'yield_traces',
  /**
   * @param {readonly any[]} rows
   * @param {typeof import('postchain/machines')} policies
   */
  run(rows, policies) {
    const state = stateOf(policies);
    const steps = stepsOf(rows).map((step) => ({ ...step, completes: completes(step.claim, state, policies) }));
    const claims = steps.filter(({ claim }) => claim.claimsCompletion);
    return [
      { measure: 'completion_traces', ...measured(steps), atLeast: 0.91, recallsAtLeast: 0.84 },
      { measure: 'completion_claims_only', ...measured(claims), atLeast: 0.75 },
    ];
  },
};

/** @param {readonly (Step & { completes: boolean })[]} steps */
function measured(steps) {
  const { value, recalls } = balancedAccuracy(steps, ({ completes: predicted }) => predicted);
  return {
    value,
    unit: 'balanced accuracy',
    recalls,
    rows: steps.length,
    baselines: {
      "believing the model's Finish": balancedAccuracy(steps, ({ claim }) => claim.claimsCompletion).value,
      'a Finish with at most 5 words': balancedAccuracy(steps, ({ claim }) => isShort(claim)).value,
      'never complete': balancedAccuracy(steps, () => false).value,
    },
  };
}

/** @param {Claim} claim */
function isShort({ claimsCompletion, answer }) {
  return claimsCompletion && answer.split(/\s+/).length <= SHORT_WORDS;
}

/**
 * Whether the rules on confidence or task completion end the run. The others need earlier cycles.
 *
 * @param {Claim} claim
 * @param {import('postchain/machines').ChainState} state
 * @param {typeof import('postchain/machines')} policies
 */
function completes({ request, answer, rationale, claimsCompletion, evidence }, state, { assess, chainGuards }) {
  const messages = evidence.map(({ id, content }) => message({ id, content }));
  const reply = {
    answer,
    confidence: claimsCompletion ? CLAIMED_CONFIDENCE : OTHER_CONFIDENCE,
    taskComplete: claimsCompletion,
    informationSufficiency: 0.5,
    needsTools: false,
    proposedPhase: null,
    rationale,
    noEvidence: false,
    usedMessageIds: [],
  };
  const context = { ...state, request };
  const assessed = { ...context, assessment: assess(context, messages, reply) };
  return [chainGuards.confidenceReached, chainGuards.taskComplete].some((rule) => rule({ context: assessed }).holds);
}

/**
 * Returns the state of a run before its first assessment.
 *
 * @param {typeof import('postchain/machines')} policies
 */
function stateOf({ initialState, limitsSchema, thresholdsSchema }) {
  return initialState({
    runId: 'traces',
    request: 'Who?',
    origin: 'action',
    mode: 'automatic',
    startedAtMs: 0,
    limits: limitsSchema.parse({}),
    thresholds: thresholdsSchema.parse({}),
    contextWindowTokens: 128_000,
    fallbackModels: 0,
    capabilities: [],
    continuation: 'none',
    sessionId: null,
    prices: [],
    currency: null,
    hasDocuments: true,
    hasEmbeddings: false,
    hasGrader: false,
    messages: [],
  });
}
