import { type AttemptPolicy, DEFAULT_POLICY } from '../contracts/attempt-policy.ts';
import type { Limits } from '../contracts/budget.ts';
import type { ChainState } from '../contracts/chain-state.ts';
import { PHASES, type Phase } from '../contracts/phase.ts';
import type { PhaseInput } from '../contracts/phases/input.ts';
import { isUnclear } from './phases/intention.ts';
import { promptMessages } from './prompt-window.ts';

type InputOf<P extends Phase> = Extract<PhaseInput, { phase: P }>;

/** What a phase is given [C1]. */
export function phaseInput<P extends Phase>(state: ChainState, phase: P): InputOf<P> {
  return INPUTS[phase](state) as InputOf<P>;
}

/** One phase, one input: what all are given and what is its own. */
const INPUTS: { readonly [P in Phase]: (state: ChainState) => InputOf<P> } = {
  action: (state) => ({ phase: 'action', ...common(state), capabilities: state.capabilities }),
  experience: (state) => ({
    phase: 'experience',
    ...common(state),
    passages: state.retrieval?.found.passages ?? [],
  }),
  intention: (state) => ({ phase: 'intention', ...common(state) }),
  observation: (state) => ({ phase: 'observation', ...common(state) }),
  understanding: (state) => ({ phase: 'understanding', ...common(state) }),
  yield: (state) => ({
    phase: 'yield',
    ...common(state),
    previousAnswer: state.assessment?.answer ?? '',
    flags: flags(state),
    phases: PHASES,
  }),
};

function common(state: ChainState) {
  const { runId, request, recursion, envelope } = state;
  return {
    runId,
    request,
    prompt: recursion.continuationPrompt ?? request,
    cycle: recursion.cycle,
    step: recursion.step,
    content: envelope.content,
    messages: promptMessages(state),
  };
}

function flags({ results, retrieval }: ChainState): readonly string[] {
  const raised: string[] = [];
  if (isUnclear(results)) raised.push('unclear_intent');
  if (results.observation?.reply.undigested) raised.push('undigested_insights');
  if (retrieval?.failure || results.experience?.sourceFailure) raised.push('source_failed');
  return raised;
}

/** What to search for: the request, and what the last search left missing. */
export function searchQuery({ request, results }: ChainState): string {
  const missing = results.experience?.reply.missing.slice(0, 8) ?? [];
  return [request, ...missing].join(' ');
}

/** The bounds of one phase's model calls: never more calls than the run has left. */
export function attemptPolicy({ limits, usage }: ChainState): AttemptPolicy {
  return { ...callLimits(limits), maxCalls: Math.max(1, limits.maxModelCalls - usage.modelCalls) };
}

/** The bounds of the final answer's calls, paid from the reserve: at most one correction and one transport retry. */
export function synthesisPolicy({ limits }: ChainState): AttemptPolicy {
  return {
    ...callLimits(limits),
    maxCorrections: Math.min(1, limits.maxCorrections),
    maxTransportRetries: Math.min(1, limits.maxTransportRetries),
    maxCalls: 3,
  };
}

/** What of a run's limits bounds each of its calls. The rest is as it is by default: one model, and waits without jitter. */
function callLimits(limits: Limits): AttemptPolicy {
  const { maxCorrections, maxTransportRetries, firstChunkMs, chunkMs, totalMs } = limits;
  const { backoffBaseMs, backoffMaxMs, maxReplyChars } = limits;
  return {
    ...DEFAULT_POLICY,
    maxCorrections,
    maxTransportRetries,
    firstChunkMs,
    chunkMs,
    totalMs,
    backoffBaseMs,
    backoffMaxMs,
    maxReplyChars,
  };
}

/** The id of one execution: the step it belongs to and its task. */
export function executionId({ recursion }: ChainState, task: string): string {
  return `s${recursion.step}.${task}`;
}
