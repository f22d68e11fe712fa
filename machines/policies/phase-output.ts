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

/** What a phase makes of its value. The value was validated against the phase's schema when it came in. */
export function makePhase(state: ChainState, phase: Phase, value: unknown): PhaseOutput {
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

/**
 * Experience [C5]: every passage that is not there yet is added under its own id, so that one found twice stands once; those
 * that the model found relevant are tagged.
 */
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
  for (const id of references) list.push('TAG', id, { tags: ['relevant'] }, 'the model found it relevant');
  if (reply.summary !== '')
    list.add(
      draftMessage(state, 'experience', atMs, { role: 'assistant', content: reply.summary, references }),
      'what the passages hold',
    );
  const sourceFailure = state.retrieval?.failure ?? null;
  return {
    result: { phase: 'experience', step, reply, retrieval, sourceFailure },
    content: reply.summary,
    operations: list.all,
  };
}

/** Ids that the engine makes itself: of the request, and of the messages of a step. */
const ENGINE_ID = /^(?:request|s\d+\.m\d+)$/;

/** A source is the user's code: its ids must not take the place of the engine's own. */
function withOwnIds(retrieval: Retrieval): Retrieval {
  if (!retrieval.passages.some(({ id }) => ENGINE_ID.test(id))) return retrieval;
  const passages = retrieval.passages.map((one) =>
    ENGINE_ID.test(one.id) ? { ...one, id: `passage.${one.id}` } : one,
  );
  return { ...retrieval, passages };
}

/** The headings above a passage are its first line. */
function contentOf({ heading, text }: Passage): string {
  return heading.length === 0 ? text : `${heading.join(' > ')}\n${text}`;
}

/** Observation [C7]: links and marks what is worth keeping. A connection that contradicts a link that stands is reported. */
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

/** Yield's answer so far, kept with what it rests on; the decision is the chart's. */
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
      'the answer as it stands',
    );
  return { result: { phase: 'yield', step, reply }, content: reply.answer, operations: list.all };
}

/** Action [C4]: the response is an assistant message, what a capability gave a search message. */
function makeAction(
  state: ChainState,
  value: Omit<ActionResult, 'phase' | 'step'>,
  atMs: number,
): PhaseOutput<ActionResult> {
  const { step } = state.recursion;
  const list = operationsOfStep(step);
  const references = value.results.map((result) => {
    const content = describe(result);
    const holds = result.success || result.synthesized;
    const importance = holds ? 0.7 : 0.3;
    return list.add(
      draftMessage(state, 'action', atMs, {
        role: 'search',
        content,
        importance,
        tags: holds ? [] : [FAILED_TAG],
      }),
      'a capability ran',
    );
  });
  const { response } = value.reply;
  if (response !== '')
    list.add(
      draftMessage(state, 'action', atMs, { role: 'assistant', content: response, references }),
      'the response of Action',
    );
  const content = [response, ...value.results.map(describe)].filter((text) => text !== '').join('\n\n');
  return { result: { phase: 'action', step, ...value }, content, operations: list.all };
}

function describe({ capability, success, synthesized, output, error }: CapabilityResult): string {
  return success || synthesized ? `${capability}: ${output}` : `${capability} failed: ${error ?? 'no reason given'}`;
}

/** Intention [C6]: what serves the goal is given priority, what does not is tagged; the goal is kept, and what it contradicts is told. */
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
    list.add(
      draftMessage(state, 'intention', atMs, { role: 'assistant', content: `Goal: ${reply.goal}` }),
      'the goal as understood',
    );
  // The request is the same in every cycle.
  const conflicts = state.results.intention?.conflicts ?? defaultAnswerGrader.intentConflicts(state.request);
  return { result: { phase: 'intention', step, reply, conflicts }, content: reply.goal, operations: list.all };
}

/** The intent is unclear where the model says so, and where the request contradicts itself [C6]. */
export function isUnclear({ intention }: ChainState['results']): boolean {
  return intention !== null && (intention.reply.unclearIntent || intention.conflicts.length > 0);
}

/** A message of the engine's, before it has an id. */
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
