import type { ChainState } from '../contracts/chain-state.ts';
import type { Phase } from '../contracts/phase.ts';

/** What each phase is asked for when a cycle begins with it. */
const ASKED: Record<Phase, string> = {
  action: 'Answer again with what is known now.',
  experience: 'Find what is still missing.',
  intention: 'Make clear what is wanted.',
  observation: 'Take in the insights not yet used.',
  understanding: 'Clean up the context: keep what matters.',
  yield: 'Look at the answer again.',
};

/** The prompt of the next cycle [Y6]: the request, what is asked now, and what was missing. It never grows with the cycles. */
export function continuationPrompt(state: ChainState, phase: Phase): string {
  const missing = state.results.experience?.reply.missing.slice(0, 8) ?? [];
  const lines = [state.request, ASKED[phase]];
  const conflicts = phase === 'intention' ? (state.results.intention?.conflicts ?? []) : [];
  if (conflicts.length > 0) lines.push(`The request contradicts itself: ${conflicts.slice(0, 4).join('; ')}.`);
  if (missing.length > 0) lines.push(`Still missing: ${missing.join(', ')}.`);
  return lines.join('\n');
}
