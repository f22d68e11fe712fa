import type { ChainState } from '../contracts/chain-state.ts';
import type { Assessment } from '../contracts/decision.ts';
import type { Message } from '../contracts/message.ts';
import type { YieldReply } from '../contracts/phases/yield.ts';
import { changeBetween } from './convergence.ts';
import { fingerprint } from './fingerprint.ts';
import { countRepeats } from './loop-detection.ts';
import { isPhase, selectNextPhase } from './phase-selection.ts';
import { tokensAllowed } from './phases/understanding.ts';
import { tokensOf } from './retention-limits.ts';

/** Everything that the guards of `deciding` look at, computed once [Y8]. */
export function assess(state: ChainState, messages: readonly Message[], reply: YieldReply): Assessment {
  const previous = state.assessment?.answer ?? null;
  const selection = selectNextPhase(
    {
      informationSufficiency: reply.informationSufficiency,
      unclearIntent: state.results.intention?.reply.unclearIntent ?? false,
      needsTools: reply.needsTools,
      undigestedInsights: state.results.observation?.reply.undigested ?? false,
      messages,
      tokens: tokensOf(messages),
      tokensAllowed: tokensAllowed(state),
      modelProposal: reply.proposedPhase,
    },
    state.thresholds,
  );
  const print = fingerprint(reply.answer);
  const target = isPhase(selection.proposal) ? selection.proposal : 'action';
  return {
    answer: reply.answer,
    confidence: reply.confidence,
    change: previous === null ? null : changeBetween(previous, reply.answer),
    taskComplete: reply.taskComplete,
    informationSufficiency: reply.informationSufficiency,
    fingerprint: print,
    repeats: countRepeats(state.recursion.history, { target, fingerprint: print }),
    proposal: selection.proposal,
    proposedBy: selection.by,
    rationale: selection.rationale,
  };
}
