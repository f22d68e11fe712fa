import type { ChainState } from '../contracts/chain-state.ts';
import { PHASES, type Phase } from '../contracts/phase.ts';
import type { Replies } from '../contracts/phase-io.ts';
import type { CallMode } from '../contracts/profile.ts';
import { contradictionsIn } from '../heuristics/contradiction.ts';
import { NOT_RATED } from './understanding.ts';

export function callModeOf({ profile }: Pick<ChainState, 'profile'>, phase: Phase): CallMode {
  return phase === 'action' || phase === 'yield' ? 'own' : profile[phase];
}

/**
 * Returns the later phases that share the call of a phase: up to the first that makes its own call, without those that run by policy or
 * already have a reply. A phase that is retried asks only for its own reply, because a weak model is more likely to manage that.
 */
export function phasesSharedWith(state: ChainState, phase: Phase): readonly Phase[] {
  if (callModeOf(state, phase) !== 'shared' || state.phaseRetries > 0) return [];
  const later = PHASES.slice(PHASES.indexOf(phase) + 1);
  const next = later.slice(
    0,
    later.findIndex((each) => callModeOf(state, each) === 'own'),
  );
  return next.filter((each) => callModeOf(state, each) === 'shared' && sharedReply(state, each) === undefined);
}

/** Returns the reply that an earlier call of the cycle gave to a phase; undefined if there is none. */
export function sharedReply({ shared, recursion }: ChainState, phase: Phase): unknown {
  return shared?.cycle === recursion.cycle ? shared.replies[phase] : undefined;
}

/** The replies of phases that run by policy, without a model. */
const POLICY_REPLIES: { readonly [P in Phase]?: (state: ChainState) => Replies[P] } = {
  experience: ({ retrieval }) => {
    const passages = retrieval?.found.passages ?? [];
    const confidence = Math.max(0, ...passages.map(({ relevance }) => relevance));
    return { summary: '', relevantPassageIds: passages.map(({ id }) => id), missing: [], confidence };
  },
  intention: ({ request }) => {
    const unclearIntent = contradictionsIn(request).length > 0;
    return { goal: '', alternatives: [], clarity: unclearIntent ? 0 : 1, unclearIntent, alignment: [] };
  },
  observation: () => ({ insights: [], undigested: false, entities: [], connections: [], importance: [] }),
  understanding: () => NOT_RATED,
};

/** Returns the reply of a phase that runs by policy; undefined for any other. */
export function policyReply(state: ChainState, phase: Phase): unknown {
  return callModeOf(state, phase) === 'policy' ? POLICY_REPLIES[phase]?.(state) : undefined;
}
