import type { AttemptExecution } from '../contracts/attempt.ts';
import type { CapabilityFailure, StopReason } from '../contracts/capability.ts';
import type { ChainInput, ChainState, InFlight } from '../contracts/chain-state.ts';
import type { ContextDocument, ContextOperation, Envelope } from '../contracts/context.ts';
import type { GuardResult } from '../contracts/decision.ts';
import type { Failure, FailureStage, PhaseFailure } from '../contracts/failure.ts';
import type { Thresholds } from '../contracts/limits.ts';
import type { Message } from '../contracts/message.ts';
import { newModels } from '../contracts/model-status.ts';
import { PHASES, type Phase } from '../contracts/phase.ts';
import type { PhaseResult } from '../contracts/phase-io.ts';
import { clipped, roundDown } from '../text/clip.ts';
import { append, applyOperations, contextDocument, contextOf, REQUEST } from './context.ts';
import { failureOf, isOverBudget } from './failures.ts';
import { addCost, addUsage, NO_USAGE, NOTHING_USED, tokensPerCharOf } from './usage.ts';
import { isBelow } from './yield-rules.ts';

/**
 * What a phase produces from a validated reply: its result, the content for the next phase, and the operations it
 * proposes.
 */
export interface PhaseOutput<Result extends PhaseResult = PhaseResult> {
  readonly result: Result;
  readonly content: string;
  readonly operations: readonly ContextOperation[];
}

const KEPT_FAILURES = 16;
const KEPT_STEPS = 64;
const STEP_CHARS = 4_000;

export const NOTHING_IN_FLIGHT: InFlight = { usage: NOTHING_USED, loop: null };

/** Returns the context that a run begins with: the earlier turns, then the request. */
export function initialMessages({ attachments = [], ...input }: ChainInput): readonly Message[] {
  const request: Message = {
    id: REQUEST,
    role: 'user',
    phase: null,
    content: input.request,
    createdAtMs: input.startedAtMs,
    cycle: 1,
    tags: [REQUEST],
    importance: 1,
    links: [],
    references: [],
    source: null,
    ...(attachments.length > 0 && { attachments }),
  };
  return [...asEarlier(input.messages), request];
}

export function initialState(input: ChainInput): ChainState {
  const messages = initialMessages(input);
  // Spreading an object before this many members is thirty times slower in V8.
  return Object.assign({}, input, {
    models: input.models ?? newModels(input.fallbackModels),
    messages,
    envelope: { phase: null, content: '', operations: [] },
    received: '',
    recursion: {
      mode: input.mode,
      cycle: 1,
      completedCycles: 0,
      step: 0,
      origin: input.origin,
      continuationPrompt: null,
      history: [],
    },
    results: { action: null, experience: null, intention: null, observation: null, understanding: null, yield: null },
    steps: [],
    applied: [],
    history: contextDocument(messages),
    overrides: 0,
    costs: {},
    shared: null,
    early: null,
    search: null,
    retrieval: null,
    sourceRetry: null,
    question: null,
    consentAsked: false,
    detour: false,
    measures: null,
    tokensPerChar: tokensPerCharOf(messages.map(({ content }) => content)),
    evaluation: null,
    assessment: null,
    decision: null,
    decisions: [],
    phase: input.origin,
    direction: input.origin,
    newPrompt: false,
    phaseRetries: 0,
    failure: null,
    failures: [],
    failedRuns: [],
    usage: NO_USAGE,
    inFlight: NOTHING_IN_FLIGHT,
    session: null,
    sessionProblem: null,
    corrections: 0,
    lastMessageAtMs: input.startedAtMs,
    interruption: null,
    written: null,
    stated: null,
    answer: null,
  } satisfies Omit<ChainState, Exclude<keyof ChainInput, 'messages' | 'models'>>);
}

/**
 * Returns messages of earlier runs with ids that no step of this run uses and that do not grow from run to run. They
 * belong to cycle 0, and answers of Yield become assistant turns of the conversation. A machine that runs without an
 * engine gets unvalidated input, so content that is not a string becomes empty.
 */
function asEarlier(messages: readonly Message[]): readonly Message[] {
  const ids = new Map<string, string>();
  const taken = new Set<string>();
  const counts = new Map<string, number>();
  for (const { id } of messages) {
    const preferred = id.startsWith(EARLIER) ? id : `${EARLIER}${id}`;
    let count = counts.get(preferred) ?? 1;
    let free = preferred;
    for (; taken.has(free); count += 1) free = `${preferred}.${count + 1}`;
    counts.set(preferred, count);
    taken.add(free);
    if (!ids.has(id)) ids.set(id, free);
  }
  const fresh = [...taken];
  const idOf = (id: string): string => ids.get(id) ?? (id.startsWith(EARLIER) ? id : `${EARLIER}${id}`);
  return messages.map((message, at) => ({
    ...message,
    id: fresh[at] ?? message.id,
    phase: message.phase === 'yield' ? null : message.phase,
    cycle: 0,
    content: typeof message.content === 'string' ? message.content : '',
    tags: (message.tags ?? []).filter((tag) => tag !== REQUEST),
    references: (message.references ?? []).map(idOf),
    links: (message.links ?? []).map((link) => ({ ...link, to: idOf(link.to) })),
    source: message.source ?? null,
  }));
}

/** Prefix of the ids of messages from earlier runs. */
export const EARLIER = 'earlier.';

/** The latest view of each envelope, because a phase requests the same view several times. */
const views = new WeakMap<Envelope, Pick<ChainState, 'messages'> & { readonly view: readonly Message[] }>();

/** Returns the context as a phase sees it, with the operations of the phase before applied. */
export function visibleMessages({ messages, envelope }: Pick<ChainState, 'messages' | 'envelope'>): readonly Message[] {
  const known = views.get(envelope);
  if (known?.messages === messages) return known.view;
  const view = applyOperations(messages, envelope.operations);
  views.set(envelope, { messages, view });
  return view;
}

export function enterPhase({ recursion }: ChainState, phase: Phase): Partial<ChainState> {
  return {
    phase,
    recursion: { ...recursion, step: recursion.step + 1 },
    measures: null,
    evaluation: null,
    sourceRetry: null,
    failure: null,
  };
}

/** Completes the phase: applies the incoming operations and puts its own into the envelope. */
export function completePhase(
  state: ChainState,
  output: PhaseOutput,
  attemptId: string | null = null,
): Partial<ChainState> {
  const { phase, step } = output.result;
  const done = { stepId: `s${step}`, phase, content: clipped(output.content, STEP_CHARS) };
  return {
    messages: visibleMessages(state),
    applied: state.envelope.operations,
    history: newestOf(append(state.history, state.envelope.operations)),
    received: state.envelope.content,
    envelope: { phase, content: output.content, operations: output.operations },
    results: withRoundsEnded({ ...state.results, [phase]: { ...output.result, attemptId } }, state),
    failedRuns: [...state.failedRuns, ...failedRunsOf(state, output.result)].slice(-KEPT_FAILURES),
    steps: [...state.steps.slice(1 - KEPT_STEPS), done],
    retrieval: null,
    measures: null,
    evaluation: null,
    newPrompt: state.newPrompt && phase !== 'action',
    phaseRetries: 0,
  };
}

/** Returns the results with the stop reason of a loop that no model continues: `rounds_ended` if Yield asked for tools after it. */
function withRoundsEnded(
  results: ChainState['results'],
  { capabilities, continuation }: ChainState,
): ChainState['results'] {
  const { action, yield: last } = results;
  if (action === null || last === null || continuation === 'model' || capabilities.length === 0) return results;
  if (!ROUND_ENDS.has(action.stopReason)) return results;
  const settled = action.results.length === 0 ? 'nothing_to_run' : 'one_round';
  const stopReason = last.reply.needsTools ? 'rounds_ended' : settled;
  return stopReason === action.stopReason ? results : { ...results, action: { ...action, stopReason } };
}

const ROUND_ENDS: ReadonlySet<StopReason> = new Set(['nothing_to_run', 'one_round', 'rounds_ended']);

/** Returns the failed capability runs of an Action, without those of earlier Actions. */
function failedRunsOf(state: ChainState, result: PhaseResult): readonly PhaseFailure[] {
  if (result.phase !== 'action') return [];
  return result.results
    .slice(state.results.action?.results.length ?? 0)
    .flatMap(({ capability, code, error, success }) => {
      if (success) return [];
      const message = `${capability}: ${error ?? 'no reason given'}`;
      return phaseFailure(state, 'action', failureOf(stageOf(code), code ?? 'threw', message, { retryable: false }));
    });
}

function stageOf(code: CapabilityFailure | null): FailureStage {
  if (code === 'timed_out') return 'deadline';
  if (code === 'aborted') return 'aborted';
  return code === null || code === 'threw' || code === 'result_too_long' ? 'unexpected' : 'schema';
}

/** The newest operations can be undone; older ones become part of the messages that they resulted in. */
const UNDOABLE_OPERATIONS = 500;

function newestOf(history: ContextDocument): ContextDocument {
  const { initial, operations, undone } = history;
  if (operations.length <= UNDOABLE_OPERATIONS) return history;
  const older = operations.slice(0, -UNDOABLE_OPERATIONS);
  return {
    initial: contextOf({ initial, operations: older, undone }),
    operations: operations.slice(older.length),
    undone,
  };
}

/** Returns the run's usage including a phase's calls, whether they succeeded or not, and when the last one ended. */
export function chargeExecution(
  state: ChainState,
  execution: AttemptExecution,
): Pick<ChainState, 'usage' | 'costs' | 'inFlight' | 'corrections' | 'lastMessageAtMs'> {
  const last = execution.attempts.at(-1);
  return {
    usage: addUsage(state.usage, execution.usage),
    costs: addCost(state.costs, execution.task, execution.usage),
    inFlight: NOTHING_IN_FLIGHT,
    corrections: state.corrections + execution.corrections,
    lastMessageAtMs:
      last === undefined || last.startedAtMs === null ? state.lastMessageAtMs : last.startedAtMs + last.durationMs,
  };
}

/** Whether a phase has started and neither completed nor failed. */
export function phaseInProgress({ phase, recursion, results, failure }: ChainState): boolean {
  return recursion.step > 0 && failure === null && results[phase]?.step !== recursion.step;
}

export function phaseFailure({ recursion }: ChainState, phase: Phase, failure: Failure): PhaseFailure {
  return { phase, cycle: recursion.cycle, failure };
}

export function failPhase(state: ChainState, phase: Phase, failure: Failure): Partial<ChainState> {
  const entry = phaseFailure(state, phase, failure);
  // The run ends because its budget is spent: the phase has not failed.
  const failures = isOverBudget(failure) ? state.failures : remember(state.failures, entry);
  return { failure: entry, failures, direction: phase };
}

export function repeatPhase(state: ChainState): Partial<ChainState> {
  return { phaseRetries: state.phaseRetries + 1 };
}

export function skipPhase(state: ChainState): Partial<ChainState> {
  return { direction: phaseAfter(state.direction) ?? DEFAULT_PHASE, phaseRetries: 0 };
}

function remember(failures: readonly PhaseFailure[], failure: PhaseFailure): readonly PhaseFailure[] {
  return [...failures.slice(-(KEPT_FAILURES - 1)), failure];
}

export const DEFAULT_PHASE: Phase = 'action';

export interface SelectionInputs {
  readonly informationSufficiency: number;
  readonly unclearIntent: boolean;
  readonly needsTools: boolean;
  readonly undigestedInsights: boolean;
  /** Whether Understanding can shrink the context; true before its first run. */
  readonly mayShrink: boolean;
  readonly messages: readonly Message[];
  readonly tokens: number;
  readonly tokensAllowed: number;
  readonly modelProposal: string | null;
}

interface Selection {
  readonly proposal: string;
  readonly by: 'policy' | 'model';
  readonly rationale: string;
}

/**
 * Returns the phase to begin the next cycle with: that of the first condition that applies, or else the model's proposal
 * (valid or not), or else the default.
 */
export function selectNextPhase(inputs: SelectionInputs, thresholds: Thresholds): Selection {
  const choose = (proposal: Phase, rationale: string): Selection => ({ proposal, by: 'policy', rationale });
  const { informationSufficiency, messages, tokens, tokensAllowed } = inputs;
  if (isBelow(informationSufficiency, thresholds.sufficiency))
    return choose(
      'experience',
      `information sufficiency ${roundDown(informationSufficiency)} is below ${thresholds.sufficiency}`,
    );
  if (inputs.unclearIntent) return choose('intention', 'the intent is unclear');
  if (inputs.needsTools) return choose('action', 'a tool is needed');
  if (inputs.undigestedInsights) return choose('observation', 'some insights are not used yet');
  if (inputs.mayShrink && tokens > tokensAllowed)
    return choose('understanding', `the context has ${tokens} tokens, more than the limit of ${tokensAllowed}`);
  if (inputs.mayShrink && messages.length > thresholds.crowdedMessages)
    return choose(
      'understanding',
      `the context has ${messages.length} messages, more than ${thresholds.crowdedMessages}`,
    );
  if (inputs.modelProposal !== null)
    return { proposal: inputs.modelProposal, by: 'model', rationale: 'the model proposed it' };
  return choose(DEFAULT_PHASE, 'no phase has open work');
}

export function proposes(proposal: string, phase: Phase): GuardResult {
  return { holds: proposal === phase, inputs: { proposal, phase } };
}

export function isPhase(name: string): name is Phase {
  return (PHASES as readonly string[]).includes(name);
}

export function phaseAfter(phase: Phase): Phase | null {
  return PHASES[PHASES.indexOf(phase) + 1] ?? null;
}

/** Whether the cycle has not come to this phase yet. A detour to Understanding does not count. */
export function skipsAhead({ recursion, detour, direction, phase: current }: ChainState, phase: Phase): boolean {
  const next = recursion.step === 0 ? 0 : detour ? PHASES.indexOf(direction) : PHASES.indexOf(current) + 1;
  return PHASES.indexOf(phase) >= next;
}
