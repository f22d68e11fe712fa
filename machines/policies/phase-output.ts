import type { CapabilityResult } from '../contracts/capability.ts';
import type { ChainState } from '../contracts/chain-state.ts';
import type { Message } from '../contracts/message.ts';
import type { Passage, Retrieval } from '../contracts/passage.ts';
import type { Phase } from '../contracts/phase.ts';
import type {
  ActionResult,
  ExperienceReply,
  ExperienceResult,
  IntentionReply,
  IntentionResult,
  ObservationReply,
  ObservationResult,
  YieldReply,
  YieldResult,
} from '../contracts/phase-io.ts';
import { defaultAnswerGrader } from '../heuristics/answer-grader.ts';
import { FAILED_TAG, operationsOfStep } from './context.ts';
import { type PhaseOutput, visibleMessages } from './progress.ts';
import { makeUnderstanding } from './understanding.ts';

/** Turns the validated reply of a phase into its result, content and operations. */
export function phaseOutput(state: ChainState, phase: Phase, value: unknown): PhaseOutput {
  const atMs = state.lastMessageAtMs;
  switch (phase) {
    case 'action':
      return makeAction(state, value as Omit<ActionResult, 'phase' | 'step'>, atMs);
    case 'experience':
      return makeExperience(state, value as ExperienceReply, atMs);
    case 'intention':
      return makeIntention(state, visibleMessages(state), value as IntentionReply, atMs);
    case 'observation':
      return makeObservation(state, visibleMessages(state), value as ObservationReply, atMs);
    case 'understanding':
      return makeUnderstanding(state, visibleMessages(state));
    case 'yield':
      return makeYield(state, visibleMessages(state), value as YieldReply, atMs);
    default: {
      const never: never = phase;
      return never;
    }
  }
}

/** Experience: adds every new passage under its own id, and tags those that the model found relevant. */
function makeExperience(state: ChainState, reply: ExperienceReply, atMs: number): PhaseOutput<ExperienceResult> {
  const { step } = state.recursion;
  const list = operationsOfStep(step);
  const retrieval = withOwnIds(state.retrieval?.found ?? { query: '', passages: [], widened: false });
  const there = new Set(state.messages.map((message) => message.id));
  const found = new Set(retrieval.passages.map((passage) => passage.id));
  for (const passage of retrieval.passages) {
    if (there.has(passage.id)) continue;
    const given = {
      id: passage.id,
      content: contentOf(passage),
      source: passage.source,
      importance: passage.relevance,
    };
    list.add(draftMessage(state, 'experience', atMs, { role: 'search', ...given }), 'a passage for the request');
  }
  const references = reply.relevantPassageIds.filter((id) => found.has(id));
  for (const id of references) list.push('TAG', id, { tags: ['relevant'] }, 'rated relevant by the model');
  if (reply.summary !== '')
    list.add(
      draftMessage(state, 'experience', atMs, { role: 'assistant', content: reply.summary, references }),
      'summary of the passages',
    );
  const sourceFailure = state.retrieval?.failure ?? null;
  return {
    result: { phase: 'experience', step, reply, retrieval, sourceFailure },
    content: reply.summary,
    operations: list.all,
  };
}

/** Ids that the engine generates: of the request, and of the messages of a step. */
const ENGINE_ID = /^(?:request|s\d+\.m\d+)$/;

/** Renames passage ids that collide with the engine's own: a source is user code. */
function withOwnIds(retrieval: Retrieval): Retrieval {
  if (!retrieval.passages.some(({ id }) => ENGINE_ID.test(id))) return retrieval;
  const passages = retrieval.passages.map((one) =>
    ENGINE_ID.test(one.id) ? { ...one, id: `passage.${one.id}` } : one,
  );
  return { ...retrieval, passages };
}

/** The passage with its headings as the first line. */
function contentOf({ heading, text }: Passage): string {
  return heading.length === 0 ? text : `${heading.join(' > ')}\n${text}`;
}

/** Observation: links and tags what is worth keeping. A connection that contradicts an existing link is reported. */
function makeObservation(
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
    const existing = relations.get(pair(from, to));
    if (existing === undefined) {
      relations.set(pair(from, to), relation);
      list.push('LINK', from, { to, relation, strength }, `strength ${strength} is above ${link}`, { strength });
    } else if (existing !== relation) {
      conflicts.push(`${from} → ${to}: existing relation "${existing}", proposed "${relation}"`);
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
    list.add(
      draftMessage(state, 'observation', atMs, { role: 'assistant', content, references }),
      'insights of Observation',
    );
  return { result: { phase: 'observation', step, reply, conflicts }, content, operations: list.all };
}

const pair = (from: string, to: string): string => JSON.stringify([from, to]);

/** Yield: keeps the current answer with its references. The chart decides. */
function makeYield(
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
      'the current answer',
    );
  return { result: { phase: 'yield', step, reply }, content: reply.answer, operations: list.all };
}

/** Action: adds the response as an assistant message and each capability result as a search message. */
function makeAction(
  state: ChainState,
  value: Omit<ActionResult, 'phase' | 'step'>,
  atMs: number,
): PhaseOutput<ActionResult> {
  const { step } = state.recursion;
  const list = operationsOfStep(step);
  const references = value.results.map((result) => {
    const content = describe(result);
    const isEvidence = result.success || result.synthesized;
    const importance = isEvidence ? 0.7 : 0.3;
    return list.add(
      draftMessage(state, 'action', atMs, {
        role: 'search',
        content,
        importance,
        tags: isEvidence ? [] : [FAILED_TAG],
      }),
      'result of a capability',
    );
  });
  const { response } = value.reply;
  if (response !== '')
    list.add(
      draftMessage(state, 'action', atMs, { role: 'assistant', content: response, references }),
      'response of Action',
    );
  const content = [response, ...value.results.map(describe)].filter((text) => text !== '').join('\n\n');
  return { result: { phase: 'action', step, ...value }, content, operations: list.all };
}

function describe({ capability, success, synthesized, output, error }: CapabilityResult): string {
  return success || synthesized ? `${capability}: ${output}` : `${capability} failed: ${error ?? 'no reason given'}`;
}

/**
 * Intention: raises the priority of messages that serve the goal, tags those that do not, and keeps the goal and
 * contradictions in the request.
 */
function makeIntention(
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
    list.add(draftMessage(state, 'intention', atMs, { role: 'assistant', content: `Goal: ${reply.goal}` }), 'the goal');
  const conflicts = state.results.intention?.conflicts ?? defaultAnswerGrader.intentConflicts(state.request);
  return { result: { phase: 'intention', step, reply, conflicts }, content: reply.goal, operations: list.all };
}

/** Whether the intent is unclear: the model reports it, or the request contradicts itself. */
export function isUnclear({ intention }: ChainState['results']): boolean {
  return intention !== null && (intention.reply.unclearIntent || intention.conflicts.length > 0);
}

/** A new message of a phase, without an id. */
function draftMessage(
  state: ChainState,
  phase: Phase,
  atMs: number,
  given: Pick<Message, 'role' | 'content'> & Partial<Message>,
): Omit<Message, 'id'> & { readonly id?: string } {
  return {
    phase,
    createdAtMs: atMs,
    cycle: state.recursion.cycle,
    tags: [],
    importance: 0.5,
    links: [],
    references: [],
    source: null,
    ...given,
  };
}
