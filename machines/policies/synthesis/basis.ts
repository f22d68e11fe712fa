import type { CapabilityResult, StopReason } from '../../contracts/capability.ts';
import type { ChainState } from '../../contracts/chain-state.ts';
import type { Decision, Interruption } from '../../contracts/decision.ts';
import type { PhaseFailure } from '../../contracts/failure.ts';
import { type Thresholds, thresholdsSchema } from '../../contracts/limits.ts';
import type { Passage } from '../../contracts/passage.ts';
import { PHASES } from '../../contracts/phase.ts';
import {
  type AnswerMaterial,
  type Draft,
  hasVisibleText,
  type ReadSynthesisInput,
  type Step,
} from '../../contracts/synthesis.ts';
import type { Usage } from '../../contracts/usage.ts';
import { preview } from '../../text/summary.ts';
import { stemsOf, termWeights } from '../../text/terms.ts';
import { wasDenied } from '../failures.ts';
import { visibleMessages } from '../progress.ts';
import { deadlines, NO_USAGE } from '../usage.ts';
import { hasConverged } from '../yield-rules.ts';

type LimitNames = 'maxCycles' | 'maxModelCalls' | 'maxTokens' | 'maxCost' | 'synthesisReserveTokens' | 'totalMs';

/** Everything that the final answer is made from: the material, which a model may see, and what the engine knows of the run. */
export interface AnswerBasis {
  readonly material: AnswerMaterial;
  /** Yield's last answer; null if no cycle produced one; undefined if there is no Yield. */
  readonly answer: string | null | undefined;
  /** The phases of a complete cycle. */
  readonly phases: readonly string[];
  readonly mode: 'automatic' | 'manual';
  readonly interruption: Interruption | null;
  readonly decision: Decision | null;
  readonly cyclesLeft: number;
  /** Null: unknown. `phasesMs` is the part of `totalMs` that the phases may take; the rest is reserved for the answer and the session. */
  readonly limits: { readonly [Name in LimitNames | 'phasesMs']: number | null };
  /** Whether there were documents to search, and how much of an answer they must support. */
  readonly hasDocuments: boolean;
  readonly thresholds: Pick<Thresholds, 'confidence' | 'grounding' | 'ungroundedConfidence' | 'change'>;
  /** The grounding of Yield's answer by the user's grader, 0..1 or null; undefined without a grader. */
  readonly graded: number | null | undefined;
  /** The confidence in Yield's last answer, if the engine reduced it; null if it is the model's own. */
  readonly reducedConfidence: number | null;
  /** Usage before synthesis, and its cost by task. */
  readonly usage: Usage;
  readonly costs: Readonly<Record<string, number>>;
  readonly currency: string | null;
  /** From the start to the last recorded event. */
  readonly elapsedMs: number | null;
  /** By how many tokens the context exceeds its limit. */
  readonly excessTokens: number;
  /** Whether Yield's answer only says that nothing was found. */
  readonly noEvidence: boolean;
  readonly sourceFailure: string | null;
  /** The phases whose newest reply is prose instead of JSON. */
  readonly prosePhases: readonly string[];
  readonly deciderProblem: string | null;
  readonly sessionProblem: string | null;
  readonly failures: readonly PhaseFailure[];
  readonly failedRuns: readonly PhaseFailure[];
  /** The capabilities that did not succeed later, and why they failed. */
  readonly failedCapabilities: readonly {
    readonly name: string;
    readonly error: string;
    /** Whether it was denied or not approved in time. */
    readonly isDenied?: boolean;
  }[];
  /** The capability runs so far if the model asked for another round that did not run; otherwise null. */
  readonly endedRounds: { readonly runs: number; readonly limit: number; readonly stopReason: StopReason } | null;
  readonly stepOfMessage: ReadonlyMap<string, string>;
  /** Identifies the execution for its caller; null if it has no such id. */
  readonly correlationId: string | null;
}

export function basisOf(state: ChainState): AnswerBasis {
  const { limits, recursion, assessment, decision, thresholds } = state;
  const { action, experience, intention, observation, understanding } = state.results;
  return {
    material: {
      request: state.request,
      draft: draftIn(state),
      steps: state.steps,
      messages: visibleMessages(state),
      converged: hasConverged(state),
      cycles: recursion.completedCycles,
      corrections: state.corrections,
      notes: {
        ending: linesOf({
          rationale: decision?.rationale ?? 'no decision was reached',
          confidence: assessment?.confidence ?? 0,
          change: assessment?.change,
        }),
        plan: linesOf({ goal: intention?.reply.goal, alternatives: intention?.reply.alternatives }),
        task: linesOf({ currentTask: recursion.continuationPrompt, clarity: intention?.reply.clarity }),
        passes: rowsOf(
          state.decisions.map(({ cycle, rule, nextPhase, rationale }) => ({ cycle, rule, nextPhase, rationale })),
        ),
        validation: linesOf({ contradictions: [...(intention?.conflicts ?? []), ...(observation?.conflicts ?? [])] }),
      },
    },
    answer: assessment?.answer ?? null,
    phases: PHASES,
    mode: recursion.mode,
    interruption: state.interruption,
    decision,
    cyclesLeft: Math.max(0, limits.maxCycles - recursion.completedCycles),
    limits: { ...limits, phasesMs: deadlines(state).runMs },
    hasDocuments: state.hasDocuments,
    thresholds,
    graded: state.hasGrader ? assessment?.evidence.grounding : undefined,
    reducedConfidence:
      assessment !== null && assessment.confidence < assessment.evidence.modelConfidence ? assessment.confidence : null,
    usage: state.usage,
    costs: state.costs,
    currency: state.currency,
    elapsedMs: elapsedMs(state),
    excessTokens: understanding?.statistics.tokensOver ?? 0,
    noEvidence: state.results.yield?.reply.noEvidence ?? false,
    sourceFailure: experience?.sourceFailure ?? null,
    prosePhases: PHASES.filter((phase) => state.results[phase]?.prose),
    deciderProblem: action?.stopReason === 'decider_failed' ? (action.problem ?? 'no reason given') : null,
    sessionProblem: state.sessionProblem,
    failures: state.failures,
    failedRuns: state.failedRuns,
    failedCapabilities: failedCapabilities(action?.results ?? []),
    endedRounds: endedRounds(state),
    stepOfMessage: stepOfMessage(state),
    correlationId: null,
  };
}

/** Returns the step that added each message: the ids of its operations begin with its own. */
function stepOfMessage({ history, envelope }: ChainState): ReadonlyMap<string, string> {
  const steps = new Map<string, string>();
  for (const { operation, id, target } of [...history.operations, ...envelope.operations])
    if (operation === 'ADD') steps.set(target, id.slice(0, id.indexOf('.')));
  return steps;
}

/**
 * Returns the capabilities whose failure no later run corrected. The success of a run of the same capability that began afterwards corrects
 * a failure. The success of any later run corrects a call that could not run, because its name may have been wrong.
 */
function failedCapabilities(results: readonly CapabilityResult[]): AnswerBasis['failedCapabilities'] {
  const failed = new Map<string, AnswerBasis['failedCapabilities'][number]>();
  for (const [at, result] of results.entries()) {
    const { capability, success, synthesized, error, id, startedAtMs, durationMs, code } = result;
    if (success || synthesized) continue;
    const isRecovered = results.slice(at + 1).some((later) => {
      const isAfter = startedAtMs === null || (later.startedAtMs ?? startedAtMs) >= startedAtMs + durationMs;
      return (later.success || later.synthesized) && isAfter && (id === null || later.capability === capability);
    });
    if (isRecovered) continue;
    const isDenied = wasDenied(code);
    failed.set(capability, { name: capability, error: error ?? 'no reason given', ...(isDenied && { isDenied }) });
  }
  return [...failed.values()];
}

/**
 * Returns the capability runs if another round was requested that did not run: Yield asked for a tool at the end, more calls were requested
 * than the limit allows, or a decider continued the loop until a limit ended it.
 */
function endedRounds({ results, capabilities, continuation, limits }: ChainState): AnswerBasis['endedRounds'] {
  const { action } = results;
  if (action === null || capabilities.length === 0) return null;
  const isDecided = continuation === 'model' || continuation === 'function';
  const isCutOff = LIMITED.has(action.stopReason) && (isDecided || action.problem !== null);
  const isWanted = isCutOff || (results.yield?.reply.needsTools ?? false);
  return isWanted ? { runs: action.runs, limit: limits.maxContinuations, stopReason: action.stopReason } : null;
}

const LIMITED: ReadonlySet<StopReason> = new Set(['limit_reached', 'same_call_repeated', 'budget_exhausted']);

/**
 * Returns the time until the end of the last call, in milliseconds; if the run exceeded its deadline, at least the time
 * until that deadline.
 */
function elapsedMs(state: ChainState): number {
  const { lastMessageAtMs, startedAtMs, interruption } = state;
  const least = interruption?.kind === 'deadline' ? deadlines(state).runMs : 0;
  return Math.max(least, lastMessageAtMs - startedAtMs);
}

const NO_DRAFT: Draft = { text: '', confidence: 0, usedMessageIds: [], notes: '' };

/** Returns the best text of a run so far, from the most finished source; it may be empty. */
function draftIn({ results, retrieval, envelope, assessment }: ChainState): Draft {
  const answer = results.yield?.reply;
  const action = results.action?.reply;
  const passages = results.experience?.retrieval.passages ?? retrieval?.found.passages ?? [];
  const found = results.experience?.reply;
  const drafts: readonly Partial<Draft>[] = [
    {
      text: answer?.answer ?? '',
      confidence: assessment?.confidence ?? 0,
      usedMessageIds: answer?.usedMessageIds ?? [],
      ...(answer && { notes: answer.notes }),
    },
    { text: results.understanding?.reply.integrated ?? '', usedMessageIds: found?.relevantPassageIds ?? [] },
    { text: found?.summary ?? '', confidence: found?.confidence ?? 0, usedMessageIds: found?.relevantPassageIds ?? [] },
    { text: action?.response ?? '', confidence: action?.confidence ?? 0 },
    { text: listed(passages), usedMessageIds: passages.map(({ id }) => id) },
    { text: envelope.content },
    { text: assessment?.answer ?? '' },
  ];
  return { ...NO_DRAFT, ...drafts.find(({ text = '' }) => hasVisibleText(text)) };
}

function listed(passages: readonly Passage[]): string {
  if (passages.length === 0) return '';
  return ['Passages found:', ...passages.slice(0, 3).map(({ text }) => `- ${preview(text, 300)}`)].join('\n');
}

/**
 * Returns the draft; if it is empty, the step closest to an answer, with the confidence of the draft. If no step concerns the
 * request, the text lists the newest, and the confidence is that of an answer without support.
 */
export function bestDraft({ request, draft, steps }: Pick<AnswerMaterial, 'request' | 'draft' | 'steps'>): Draft {
  if (hasVisibleText(draft.text)) return draft;
  const usable = steps.filter(({ phase, content }) => hasVisibleText(content) && !NON_ANSWERS.has(phase));
  const [nearest] = NEAREST.flatMap((phase) => usable.findLast((step) => step.phase === phase) ?? []);
  const step = nearest ?? (usable.length === 1 ? usable[0] : mostRelevant(request, usable));
  if (step !== undefined) return { ...draft, text: step.content };
  if (usable.length === 0) return NO_DRAFT;
  const lines = usable.slice(-LISTED_STEPS).map(({ content }) => `- ${preview(content, 300)}`);
  const { ungroundedConfidence } = thresholdsSchema.parse({});
  return {
    ...draft,
    text: ['Results:', ...lines].join('\n'),
    confidence: Math.min(draft.confidence, ungroundedConfidence),
  };
}

const LISTED_STEPS = 10;

/** Returns the step that has most of the request's content words, the rare ones first, or the later of two; undefined if none has any. */
function mostRelevant(request: string, steps: readonly Step[]): Step | undefined {
  const asked = [...new Set(stemsOf(request))];
  const texts = steps.map(({ phase, content }) => new Set(stemsOf(`${phase}\n${content}`)));
  const weight = termWeights(steps.length, (stem) => texts.filter((text) => text.has(stem)).length);
  const scores = texts.map((text) => asked.reduce((sum, stem) => sum + (text.has(stem) ? weight(stem) : 0), 0));
  const best = Math.max(0, ...scores);
  return best === 0 ? undefined : steps[scores.lastIndexOf(best)];
}

/** Phases by how close their result is to an answer. */
const NEAREST = ['yield', 'understanding', 'experience', 'action'];

/** A goal or a list of insights is not an answer. */
const NON_ANSWERS: ReadonlySet<string> = new Set(['intention', 'observation']);

type Dictionary = ReadSynthesisInput['planState'];

/** Returns the basis of the answer of another program's run. What only a chain knows is absent. */
export function basisOfContract(input: ReadSynthesisInput, synthesisReserveTokens: number): AnswerBasis {
  const { confidence } = input.convergenceAssessment;
  return {
    material: {
      request: input.request,
      draft: { ...NO_DRAFT, confidence: isShare(confidence) ? confidence : 0 },
      steps: input.executionResults.map(stepOf),
      messages: [],
      converged: input.convergenceStatus,
      cycles: input.totalPasses,
      corrections: input.totalRefinements,
      notes: {
        ending: linesOf(input.convergenceAssessment),
        plan: linesOf(input.planState),
        task: linesOf(input.taskProfile ?? {}),
        passes: rowsOf(input.executionPasses ?? []),
        validation: linesOf(input.semanticValidation ?? {}),
      },
    },
    answer: undefined,
    phases: [],
    mode: 'automatic',
    interruption: null,
    decision: null,
    cyclesLeft: input.ttlRemaining,
    limits: {
      maxCycles: null,
      maxModelCalls: null,
      maxTokens: null,
      maxCost: null,
      synthesisReserveTokens,
      totalMs: null,
      phasesMs: null,
    },
    hasDocuments: false,
    thresholds: thresholdsSchema.parse({}),
    graded: undefined,
    reducedConfidence: null,
    usage: NO_USAGE,
    costs: {},
    currency: null,
    elapsedMs: null,
    excessTokens: 0,
    noEvidence: false,
    sourceFailure: null,
    prosePhases: [],
    deciderProblem: null,
    sessionProblem: null,
    failures: [],
    failedRuns: [],
    failedCapabilities: [],
    endedRounds: null,
    stepOfMessage: new Map(),
    correlationId: input.correlationId ?? null,
  };
}

const isShare = (value: unknown): value is number => typeof value === 'number' && value >= 0 && value <= 1;

/** Reads a step. One without an id is numbered; without a known member for its result, the entire dictionary is the content. */
function stepOf(step: Dictionary, at: number): Step {
  const first = (...names: readonly string[]) => names.map((name) => step[name]).find((value) => value != null);
  return {
    stepId: textOf(first('stepId', 'step_id', 'id') ?? '') || `step ${at + 1}`,
    phase: textOf(first('phase', 'tool', 'name') ?? ''),
    content: textOf(first('content', 'output', 'result') ?? step),
  };
}

function linesOf(dictionary: Dictionary): string {
  return Object.entries(dictionary)
    .filter(([, value]) => value != null && value !== '' && !(Array.isArray(value) && value.length === 0))
    .map(([name, value]) => `${name}: ${textOf(value)}`)
    .join('\n');
}

const rowsOf = (dictionaries: readonly Dictionary[]): string =>
  dictionaries.map((one) => JSON.stringify(one)).join('\n');

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));
