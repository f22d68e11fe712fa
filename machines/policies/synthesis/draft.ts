import type { ChainState } from '../../contracts/chain-state.ts';
import type { Passage } from '../../contracts/passage.ts';
import { hasVisibleText, type SynthesisInput } from '../../contracts/synthesis.ts';
import { preview } from '../../text/summary.ts';

export type Draft = NonNullable<SynthesisInput['run']['draft']>;

const NO_DRAFT: Draft = { text: '', confidence: 0, usedMessageIds: [] };

/** The best text of a run so far, the most finished first; it may be empty. */
export function draftIn({ results, retrieval, envelope, assessment }: ChainState): Draft {
  const answer = results.yield?.reply;
  const action = results.action?.reply;
  const passages = results.experience?.retrieval.passages ?? retrieval?.found.passages ?? [];
  const found = results.experience?.reply;
  const drafts: readonly Draft[] = [
    {
      text: answer?.answer ?? '',
      confidence: assessment?.confidence ?? 0,
      usedMessageIds: answer?.usedMessageIds ?? [],
    },
    {
      text: results.understanding?.reply.integrated ?? '',
      confidence: 0,
      usedMessageIds: found?.relevantPassageIds ?? [],
    },
    { text: found?.summary ?? '', confidence: found?.confidence ?? 0, usedMessageIds: found?.relevantPassageIds ?? [] },
    { text: action?.response ?? '', confidence: action?.confidence ?? 0, usedMessageIds: [] },
    { text: listed(passages), confidence: 0, usedMessageIds: passages.map(({ id }) => id) },
    { text: envelope.content, confidence: 0, usedMessageIds: [] },
  ];
  return drafts.find(({ text }) => hasVisibleText(text)) ?? NO_DRAFT;
}

function listed(passages: readonly Passage[]): string {
  if (passages.length === 0) return '';
  return ['Passages found:', ...passages.slice(0, 3).map(({ text }) => `- ${preview(text, 300)}`)].join('\n');
}

/** The draft; if it is empty, Yield's answer, or else the step closest to an answer, or else the last step. */
export function bestDraft({ run, executionResults, convergenceAssessment }: SynthesisInput): Draft {
  if (run.draft !== null && hasVisibleText(run.draft.text)) return run.draft;
  const steps = executionResults.filter(({ phase, content }) => hasVisibleText(content) && !NON_ANSWERS.has(phase));
  const nearest = NEAREST.flatMap((phase) => steps.findLast((step) => step.phase === phase) ?? []);
  const texts = [run.answer ?? '', nearest[0]?.content ?? '', steps.at(-1)?.content ?? ''];
  const text = texts.find(hasVisibleText);
  if (text === undefined) return NO_DRAFT;
  return { text, confidence: run.draft === null ? convergenceAssessment.confidence : 0, usedMessageIds: [] };
}

/** Phases by how close their result is to an answer. */
const NEAREST = ['yield', 'understanding', 'experience', 'action'];

/** A goal or a list of insights is not an answer. */
const NON_ANSWERS: ReadonlySet<string> = new Set(['intention', 'observation']);
