import type { CapabilityResult } from '../contracts/capability.ts';
import type { ChainState } from '../contracts/chain-state.ts';
import type { ReasonCode } from '../contracts/context.ts';
import type { Message } from '../contracts/message.ts';
import type { Passage } from '../contracts/passage.ts';
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
import { contradictionsIn } from '../heuristics/contradiction.ts';
import { FAILED_TAG, operationsOfStep } from './context.ts';
import { wasDenied } from './failures.ts';
import { type PhaseOutput, visibleMessages } from './progress.ts';
import { understandingOutput } from './understanding.ts';

export function phaseOutput(state: ChainState, phase: Phase, value: unknown, prose = false): PhaseOutput {
  switch (phase) {
    case 'action':
      return actionOutput(state, value as Omit<ActionResult, 'phase' | 'step'>);
    case 'experience':
      return experienceOutput(state, value as ExperienceReply, prose);
    case 'intention':
      return intentionOutput(state, value as IntentionReply, prose);
    case 'observation':
      return observationOutput(state, value as ObservationReply, prose);
    case 'understanding':
      return understandingOutput(state, visibleMessages(state));
    case 'yield':
      return yieldOutput(state, value as YieldReply, prose);
  }
}

type NewMessage = Pick<Message, 'role' | 'content'> & Partial<Message>;

/**
 * Collects the operations of a phase's step. `add` adds a message and returns its id; `addText` adds an assistant message unless its
 * text is empty.
 */
function operationsOf(state: ChainState, phase: Phase) {
  const { step, cycle } = state.recursion;
  const list = operationsOfStep(step);
  const add = (message: NewMessage, code: ReasonCode, reason: string): string =>
    list.add(
      {
        phase,
        createdAtMs: state.lastMessageAtMs,
        cycle,
        tags: [],
        importance: 0.5,
        links: [],
        references: [],
        source: null,
        ...message,
      },
      code,
      reason,
    );
  const addText = (content: string, reason: string, references: readonly string[] = []): void => {
    if (content !== '') add({ role: 'assistant', content, references }, 'phase_output', reason);
  };
  return { list, add, addText };
}

const visibleIds = (state: ChainState): ReadonlySet<string> => new Set(visibleMessages(state).map(({ id }) => id));

/**
 * Action: adds the response as an assistant message and each capability result as a search message. What earlier Actions of
 * the run added is not added again.
 */
function actionOutput(state: ChainState, value: Omit<ActionResult, 'phase' | 'step'>): PhaseOutput<ActionResult> {
  const { list, add, addText } = operationsOf(state, 'action');
  const earlier = state.results.action;
  const results = value.results.filter((result, at) => isNewResult(result, earlier?.results[at]));
  const references = results.map((result) => {
    const isEvidence = result.success || result.synthesized;
    const rating = isEvidence ? { importance: 0.7, tags: [] } : { importance: 0.3, tags: [FAILED_TAG] };
    return add(
      { role: 'search', content: describeResult(result), ...rating },
      'capability_result',
      'result of a capability',
    );
  });
  const response = earlier !== null && !state.newPrompt ? '' : value.reply.response;
  addText(response, 'response of Action', references);
  const content = [response, ...results.map(describeResult)].filter((text) => text !== '').join('\n\n');
  const { step } = state.recursion;
  return { result: { phase: 'action', step, ...value }, content, operations: list.all };
}

/** Whether a result is new since the earlier Action, or has a new output from the decider. */
function isNewResult({ synthesized, output }: CapabilityResult, earlier: CapabilityResult | undefined): boolean {
  return earlier === undefined || (synthesized && output !== earlier.output);
}

function describeResult({ capability, success, synthesized, output, code, error }: CapabilityResult): string {
  if (success || synthesized) return `${capability}: ${output}`;
  return `${capability} ${wasDenied(code) ? 'did not run' : 'failed'}: ${error ?? 'no reason given'}`;
}

/** Experience: adds every new passage under its own id, and tags those that the model found relevant. */
function experienceOutput(state: ChainState, reply: ExperienceReply, prose: boolean): PhaseOutput<ExperienceResult> {
  const { list, add, addText } = operationsOf(state, 'experience');
  const retrieval = state.retrieval?.found ?? { query: '', passages: [], widened: false };
  const existing = new Set(state.messages.map(({ id }) => id));
  const found = new Set(retrieval.passages.map(({ id }) => id));
  for (const passage of retrieval.passages) {
    const { id, source, relevance } = passage;
    if (!existing.has(id))
      add(
        { role: 'search', id, content: passageText(passage), source, importance: relevance },
        'search_result',
        'a passage for the request',
      );
  }
  const references = reply.relevantPassageIds.filter((id) => found.has(id));
  for (const id of references)
    list.push('TAG', id, { tags: ['relevant'] }, 'high_relevance', 'rated relevant by the model');
  addText(reply.summary, 'summary of the passages', references);
  const { step } = state.recursion;
  const sourceFailure = state.retrieval?.failure ?? null;
  return {
    result: { phase: 'experience', step, prose, reply, retrieval, sourceFailure },
    content: reply.summary,
    operations: list.all,
  };
}

/**
 * Returns the content of the message that a passage becomes: its headings as the first line, which is empty if there are none, so that the
 * first line of a text is not taken for a heading; then its text.
 */
export function passageText({ heading, text }: Pick<Passage, 'heading' | 'text'>): string {
  return `${heading.join(' > ')}\n${text}`;
}

/**
 * Intention: raises the priority of messages that serve the goal, tags those that do not, and keeps the goal and the
 * contradictions in the request.
 */
function intentionOutput(state: ChainState, reply: IntentionReply, prose: boolean): PhaseOutput<IntentionResult> {
  const { list, addText } = operationsOf(state, 'intention');
  const { alignment, lowAlignment } = state.thresholds;
  const ids = visibleIds(state);
  for (const { messageId, score } of reply.alignment) {
    if (!ids.has(messageId)) continue;
    const numbers = { alignment: score };
    if (score > alignment)
      list.push(
        'PRIORITIZE',
        messageId,
        { importance: score },
        'high_relevance',
        `alignment ${score} is above ${alignment}`,
        numbers,
      );
    else if (score < lowAlignment)
      list.push(
        'TAG',
        messageId,
        { tags: ['low_relevance'] },
        'low_relevance',
        `alignment ${score} is below ${lowAlignment}`,
        numbers,
      );
  }
  if (reply.goal !== '') addText(`Goal: ${reply.goal}`, 'the goal');
  const conflicts = state.results.intention?.conflicts ?? contradictionsIn(state.request);
  const { step } = state.recursion;
  return { result: { phase: 'intention', step, prose, reply, conflicts }, content: reply.goal, operations: list.all };
}

/** Whether the intent is unclear: the model reports it, or the request contradicts itself. */
export function isUnclear({ intention }: ChainState['results']): boolean {
  return intention !== null && (intention.reply.unclearIntent || intention.conflicts.length > 0);
}

/** Observation: links and tags what is worth keeping. A connection that contradicts an existing link is reported. */
function observationOutput(state: ChainState, reply: ObservationReply, prose: boolean): PhaseOutput<ObservationResult> {
  const { list, addText } = operationsOf(state, 'observation');
  const { link, persist } = state.thresholds;
  const ids = visibleIds(state);
  const relations = new Map(
    visibleMessages(state).flatMap(({ id, links }) => links.map(({ to, relation }) => [pair(id, to), relation])),
  );
  const conflicts: string[] = [];
  for (const { from, to, relation, strength } of reply.connections) {
    if (!ids.has(from) || !ids.has(to) || from === to || strength <= link) continue;
    const existing = relations.get(pair(from, to));
    if (existing === undefined) {
      relations.set(pair(from, to), relation);
      list.push('LINK', from, { to, relation, strength }, 'related', `strength ${strength} is above ${link}`, {
        strength,
      });
    } else if (existing !== relation) {
      conflicts.push(`${from} → ${to}: existing relation "${existing}", proposed "${relation}"`);
    }
  }
  for (const { messageId, score } of reply.importance) {
    if (score <= persist || !ids.has(messageId)) continue;
    const tags = ['important', 'persist'];
    list.push('TAG', messageId, { tags }, 'important', `importance ${score} is above ${persist}`, {
      importance: score,
    });
  }
  const content = reply.insights.join('\n');
  const references = [...new Set(reply.entities.flatMap(({ messageIds }) => messageIds))].filter((id) => ids.has(id));
  addText(content, 'insights of Observation', references);
  const { step } = state.recursion;
  return { result: { phase: 'observation', step, prose, reply, conflicts }, content, operations: list.all };
}

const pair = (from: string, to: string): string => JSON.stringify([from, to]);

/** Yield: keeps the current answer with its references. The chart decides. */
function yieldOutput(state: ChainState, reply: YieldReply, prose: boolean): PhaseOutput<YieldResult> {
  const { list, addText } = operationsOf(state, 'yield');
  const ids = visibleIds(state);
  const references = reply.usedMessageIds.filter((id) => ids.has(id));
  addText(reply.answer, 'the current answer', references);
  const { step } = state.recursion;
  return { result: { phase: 'yield', step, prose, reply }, content: reply.answer, operations: list.all };
}
