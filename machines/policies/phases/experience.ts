import type { ChainState } from '../../contracts/chain-state.ts';
import type { Passage, Retrieval } from '../../contracts/passage.ts';
import type { ExperienceReply, ExperienceResult } from '../../contracts/phases/experience.ts';
import { operationsOfStep } from '../operations.ts';
import { draftMessage, type PhaseOutput } from './phase-output.ts';

/**
 * Experience [C5]: every passage that is not there yet is added under its own id, so that one found twice stands once; those
 * that the model found relevant are tagged.
 */
export function makeExperience(state: ChainState, reply: ExperienceReply, atMs: number): PhaseOutput<ExperienceResult> {
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
