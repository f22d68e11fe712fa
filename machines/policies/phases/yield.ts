import type { ChainState } from '../../contracts/chain-state.ts';
import type { Message } from '../../contracts/message.ts';
import type { YieldReply, YieldResult } from '../../contracts/phases/yield.ts';
import { operationsOfStep } from '../operations.ts';
import { draftMessage, type PhaseOutput } from './phase-output.ts';

/** Yield's answer so far, kept with what it rests on; the decision is the chart's. */
export function makeYield(
  state: ChainState,
  messages: readonly Message[],
  reply: YieldReply,
  atMs: number,
): PhaseOutput<YieldResult> {
  const { step } = state.recursion;
  const list = operationsOfStep(step);
  const there = new Set(messages.map((message) => message.id));
  const references = reply.usedMessageIds.filter((id) => there.has(id));
  if (reply.answer !== '')
    list.add(
      draftMessage(state, 'yield', atMs, { role: 'assistant', content: reply.answer, references }),
      'the answer as it stands',
    );
  return { result: { phase: 'yield', step, reply }, content: reply.answer, operations: list.all };
}
