import type { GuardResult } from '../contracts/decision.ts';
import type { Thresholds } from '../contracts/limits.ts';
import type { Message } from '../contracts/message.ts';
import { PHASES, type Phase } from '../contracts/phase.ts';
import { roundDown } from '../text/clip.ts';

export const DEFAULT_PHASE: Phase = 'action';

export interface SelectionInputs {
  readonly informationSufficiency: number;
  readonly unclearIntent: boolean;
  readonly needsTools: boolean;
  readonly undigestedInsights: boolean;
  /** Whether Understanding found anything to remove or summarize when it last ran; true before its first run. */
  readonly mayShrink: boolean;
  readonly messages: readonly Message[];
  readonly tokens: number;
  readonly tokensAllowed: number;
  readonly modelProposal: string | null;
}

export interface Selection {
  readonly proposal: string;
  readonly by: 'policy' | 'model';
  readonly rationale: string;
}

/**
 * Returns the phase to begin the next cycle with: the first row that applies. If none does, it returns the model's proposal, valid
 * or not, or the default if there is no proposal.
 */
export function selectNextPhase(seen: SelectionInputs, thresholds: Thresholds): Selection {
  const choose = (proposal: Phase, rationale: string): Selection => ({ proposal, by: 'policy', rationale });
  const { informationSufficiency, messages, tokens, tokensAllowed } = seen;
  if (informationSufficiency < thresholds.sufficiency)
    return choose(
      'experience',
      `information sufficiency ${roundDown(informationSufficiency)} is below ${thresholds.sufficiency}`,
    );
  if (seen.unclearIntent) return choose('intention', 'the intent is unclear');
  if (seen.needsTools) return choose('action', 'a tool is needed');
  if (seen.undigestedInsights) return choose('observation', 'there are insights not yet taken in');
  if (seen.mayShrink && tokens > tokensAllowed)
    return choose('understanding', `the context holds ${tokens} tokens, over its ${tokensAllowed}`);
  if (seen.mayShrink && messages.length > thresholds.crowdedMessages)
    return choose('understanding', `${messages.length} messages are more than ${thresholds.crowdedMessages}`);
  if (seen.modelProposal !== null)
    return { proposal: seen.modelProposal, by: 'model', rationale: 'the model proposed it' };
  return choose(DEFAULT_PHASE, 'nothing in particular is missing');
}

/** Whether a proposal names this phase. */
export function proposes(proposal: string, phase: Phase): GuardResult {
  return { holds: proposal === phase, inputs: { proposal, phase } };
}

export function isPhase(name: string): name is Phase {
  return (PHASES as readonly string[]).includes(name);
}

/** The phase after this one in a cycle; nothing comes after Yield. */
export function phaseAfter(phase: Phase): Phase | null {
  return PHASES[PHASES.indexOf(phase) + 1] ?? null;
}
