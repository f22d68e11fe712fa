import type { GuardResult } from '../contracts/decision.ts';
import type { Thresholds } from '../contracts/limits.ts';
import type { Message } from '../contracts/message.ts';
import { PHASES, type Phase } from '../contracts/phase.ts';
import { roundDown } from '../text/clip.ts';
import { isBelow } from './comparison.ts';

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

export interface Selection {
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

/** Whether the proposal is this phase. */
export function proposes(proposal: string, phase: Phase): GuardResult {
  return { holds: proposal === phase, inputs: { proposal, phase } };
}

export function isPhase(name: string): name is Phase {
  return (PHASES as readonly string[]).includes(name);
}

/** Returns the next phase of a cycle; null after Yield. */
export function phaseAfter(phase: Phase): Phase | null {
  return PHASES[PHASES.indexOf(phase) + 1] ?? null;
}
