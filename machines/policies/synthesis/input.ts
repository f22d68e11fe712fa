import type { ChainState } from '../../contracts/chain-state.ts';
import type { Passage } from '../../contracts/passage.ts';
import { PHASES } from '../../contracts/phase.ts';
import { type Draft, hasVisibleText, type SynthesisInput } from '../../contracts/synthesis.ts';
import { preview } from '../../text/summary.ts';
import { deadlines } from '../limits.ts';
import { visibleMessages } from '../progress.ts';
import { hasConverged } from '../yield-rules.ts';
import { NO_DRAFT } from './read-input.ts';

type Readers<View> = { readonly [Field in keyof View]-?: (state: ChainState) => View[Field] };

const RUN: Readers<SynthesisInput['run']> = {
  answer: ({ assessment }) => assessment?.answer ?? null,
  draft: draftIn,
  messages: visibleMessages,
  phases: () => PHASES,
  mode: ({ recursion }) => recursion.mode,
  interruption: ({ interruption }) => interruption,
  decision: ({ decision }) => decision,
  limits: (state) => {
    const { maxCycles, maxModelCalls, maxTokens, synthesisReserveTokens, totalMs } = state.limits;
    return {
      maxCycles,
      maxModelCalls,
      maxTokens,
      synthesisReserveTokens,
      totalMs,
      phasesMs: deadlines(state).runMs,
    };
  },
  hasDocuments: ({ hasDocuments }) => hasDocuments,
  thresholds: ({ thresholds: { grounding, ungroundedConfidence } }) => ({ grounding, ungroundedConfidence }),
  usage: ({ usage }) => usage,
  costs: ({ costs }) => costs,
  currency: ({ currency }) => currency,
  elapsedMs,
  excess: ({ results: { understanding } }) => ({
    tokens: understanding?.statistics.tokensOver ?? 0,
    messages: understanding?.statistics.messagesOver ?? 0,
  }),
  noEvidence: ({ results }) => results.yield?.reply.noEvidence ?? false,
  sourceFailure: ({ results: { experience } }) => experience?.sourceFailure ?? null,
  prosePhases: ({ results }) => PHASES.filter((phase) => results[phase]?.prose),
  deciderProblem: ({ results: { action } }) =>
    action?.stopReason === 'decider_failed' ? (action.problem ?? 'no reason given') : null,
  sessionProblem: (state) => state.sessionProblem,
  failures: ({ failures }) => failures,
};

const INPUT: Readers<SynthesisInput> = {
  request: ({ request }) => request,
  executionResults: ({ steps }) => steps,
  planState: ({ results: { intention } }) => ({
    goal: intention?.reply.goal ?? null,
    alternatives: intention?.reply.alternatives ?? [],
  }),
  convergenceAssessment: ({ assessment, decision }) => ({
    rationale: decision?.rationale ?? 'no decision was reached',
    confidence: assessment?.confidence ?? 0,
    change: assessment?.change ?? null,
  }),
  executionPasses: ({ decisions }) =>
    decisions.map(({ cycle, rule, nextPhase, rationale }) => ({ cycle, rule, nextPhase, rationale })),
  semanticValidation: ({ results: { intention, observation } }) => ({
    contradictions: [...(intention?.conflicts ?? []), ...(observation?.conflicts ?? [])],
  }),
  taskProfile: ({ recursion, results: { intention } }) => ({
    currentTask: recursion.continuationPrompt,
    clarity: intention?.reply.clarity ?? null,
  }),
  correlationId: ({ runId }) => runId,
  executionStartTimestamp: ({ startedAtMs }) => new Date(startedAtMs).toISOString(),
  convergenceStatus: hasConverged,
  totalPasses: ({ recursion }) => recursion.completedCycles,
  totalRefinements: ({ corrections }) => corrections,
  ttlRemaining: ({ limits, recursion }) => Math.max(0, limits.maxCycles - recursion.completedCycles),
  run: (state) => read(RUN, state),
};

/**
 * Returns the input of synthesis for a run. Never throws: a field that cannot be read from a broken state gets an
 * invalid value, which is reported when the input is read.
 */
export function synthesisInput(state: ChainState): SynthesisInput {
  return read(INPUT, state);
}

/** A value that no field of the contract accepts. */
const UNREADABLE = Number.NaN;

function read<View>(readers: Readers<View>, state: ChainState): View {
  const fields = Object.entries<(state: ChainState) => unknown>(readers).map(([field, readOne]) => {
    try {
      return [field, readOne(state)];
    } catch {
      return [field, UNREADABLE];
    }
  });
  return Object.fromEntries(fields) as View;
}

/**
 * Returns the time until the end of the last call, in milliseconds; if the run exceeded its deadline, at least the time
 * until that deadline.
 */
function elapsedMs(state: ChainState): number {
  const { lastMessageAtMs, startedAtMs, interruption } = state;
  const least = interruption?.kind === 'deadline' ? deadlines(state).runMs : 0;
  return Math.max(least, lastMessageAtMs - startedAtMs);
}

/** Returns the best text of a run so far, from the most finished source; it may be empty. */
function draftIn({ results, retrieval, envelope, assessment }: ChainState): Draft {
  const answer = results.yield?.reply;
  const action = results.action?.reply;
  const passages = results.experience?.retrieval.passages ?? retrieval?.found.passages ?? [];
  const found = results.experience?.reply;
  const drafts: readonly Omit<Draft, 'notes'>[] = [
    {
      text: answer?.answer ?? '',
      confidence: assessment?.confidence ?? 0,
      usedMessageIds: answer?.usedMessageIds ?? [],
      ...(answer && { notes: answer.notes }),
    },
    {
      text: results.understanding?.reply.integrated ?? '',
      confidence: 0,
      usedMessageIds: found?.relevantPassageIds ?? [],
    },
    { text: found?.summary ?? '', confidence: found?.confidence ?? 0, usedMessageIds: found?.relevantPassageIds ?? [] },
    { text: action?.response ?? '', confidence: action?.confidence ?? 0, usedMessageIds: [] },
    { text: listed(passages), confidence: 0, usedMessageIds: passages.map(({ id }) => id) },
    { text: envelope.content, confidence: 0, usedMessageIds: [] },
  ];
  return { ...NO_DRAFT, ...drafts.find(({ text }) => hasVisibleText(text)) };
}

function listed(passages: readonly Passage[]): string {
  if (passages.length === 0) return '';
  return ['Passages found:', ...passages.slice(0, 3).map(({ text }) => `- ${preview(text, 300)}`)].join('\n');
}
