import type { ChainState } from '../../contracts/chain-state.ts';
import type { Message } from '../../contracts/message.ts';
import type { IntentionReply, IntentionResult } from '../../contracts/phases/intention.ts';
import { conflictsIn } from '../../heuristics/intent-conflict/intent-conflict.ts';
import { operationsOfStep } from '../operations.ts';
import { draftMessage, type PhaseOutput } from './phase-output.ts';

/** Intention [C6]: what serves the goal is given priority, what does not is tagged; the goal is kept, and what it contradicts is told. */
export function makeIntention(
  state: ChainState,
  messages: readonly Message[],
  reply: IntentionReply,
  atMs: number,
): PhaseOutput<IntentionResult> {
  const { step } = state.recursion;
  const { alignment, lowAlignment } = state.thresholds;
  const list = operationsOfStep(step);
  const there = new Set(messages.map(({ id }) => id));
  for (const { messageId, score } of reply.alignment) {
    if (!there.has(messageId)) continue;
    const numbers = { alignment: score };
    if (score > alignment)
      list.push('PRIORITIZE', messageId, { importance: score }, `alignment ${score} is above ${alignment}`, numbers);
    else if (score < lowAlignment)
      list.push('TAG', messageId, { tags: ['low_relevance'] }, `alignment ${score} is below ${lowAlignment}`, numbers);
  }
  if (reply.goal !== '')
    list.add(
      draftMessage(state, 'intention', atMs, { role: 'assistant', content: `Goal: ${reply.goal}` }),
      'the goal as understood',
    );
  // The request is the same in every cycle.
  const conflicts = state.results.intention?.conflicts ?? conflictsIn(state.request);
  return { result: { phase: 'intention', step, reply, conflicts }, content: reply.goal, operations: list.all };
}

/** The intent is unclear where the model says so, and where the request contradicts itself [C6]. */
export function isUnclear({ intention }: ChainState['results']): boolean {
  return intention !== null && (intention.reply.unclearIntent || intention.conflicts.length > 0);
}
