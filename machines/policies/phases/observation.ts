import type { ChainState } from '../../contracts/chain-state.ts';
import type { Message } from '../../contracts/message.ts';
import type { ObservationReply, ObservationResult } from '../../contracts/phases/observation.ts';
import { operationsOfStep } from '../operations.ts';
import { draftMessage, type PhaseOutput } from './phase-output.ts';

/** Observation [C7]: links and marks what is worth keeping. A connection that contradicts a link that stands is reported. */
export function makeObservation(
  state: ChainState,
  messages: readonly Message[],
  reply: ObservationReply,
  atMs: number,
): PhaseOutput<ObservationResult> {
  const { step } = state.recursion;
  const { link, persist } = state.thresholds;
  const list = operationsOfStep(step);
  const byId = new Map(messages.map((message) => [message.id, message]));
  const relations = new Map(
    messages.flatMap(({ id, links }) => links.map(({ to, relation }) => [pair(id, to), relation])),
  );
  const conflicts: string[] = [];
  for (const { from, to, relation, strength } of reply.connections) {
    if (!byId.has(from) || !byId.has(to) || from === to || strength <= link) continue;
    const standing = relations.get(pair(from, to));
    if (standing === undefined) {
      relations.set(pair(from, to), relation);
      list.push('LINK', from, { to, relation, strength }, `strength ${strength} is above ${link}`, { strength });
    } else if (standing !== relation) {
      conflicts.push(`${from} → ${to}: "${standing}" stands, "${relation}" was proposed`);
    }
  }
  for (const { messageId, score } of reply.importance) {
    if (score <= persist || !byId.has(messageId)) continue;
    const tags = ['important', 'persist'];
    list.push('TAG', messageId, { tags }, `importance ${score} is above ${persist}`, { importance: score });
  }
  const content = reply.insights.join('\n');
  const references = [...new Set(reply.entities.flatMap((entity) => entity.messageIds))].filter((id) => byId.has(id));
  if (content !== '')
    list.add(draftMessage(state, 'observation', atMs, { role: 'assistant', content, references }), 'what was observed');
  return { result: { phase: 'observation', step, reply, conflicts }, content, operations: list.all };
}

const pair = (from: string, to: string): string => JSON.stringify([from, to]);
