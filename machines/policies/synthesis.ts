import type { ChainState } from '../contracts/chain-state.ts';
import type { Message } from '../contracts/message.ts';
import type { Passage } from '../contracts/passage.ts';
import { PHASES } from '../contracts/phase.ts';
import type { Citation, FinalAnswer, SynthesisInput, SynthesisReply } from '../contracts/synthesis.ts';
import type { Verdict } from '../contracts/verdict.ts';
import { settled } from './completion.ts';
import { missingFields, shortfalls, ttlExhausted } from './degradation.ts';
import { groundedConfidence, groundingIn } from './evidence.ts';
import { visibleMessages } from './progress.ts';
import { promptMessages } from './prompt-window.ts';
import { preview } from './summary.ts';

/** Whether a model may write the final answer: one that is there, with time and a reserve to pay it from [E9]. */
export function modelMayWrite({ interruption, limits }: ChainState): Verdict {
  const kind = interruption?.kind ?? null;
  const hurried = kind === 'cancelled' || kind === 'interrupted' || kind === 'model_unavailable';
  const reserve = limits.synthesisReserveTokens;
  return { holds: !hurried && reserve > 0, inputs: { interruption: kind, synthesisReserveTokens: reserve } };
}

/** The input contract of synthesis [E1]. */
export function synthesisInput(state: ChainState): SynthesisInput {
  const { recursion, assessment, decision, results } = state;
  return {
    request: state.request,
    executionResults: stepsOf(state),
    planState: {
      goal: results.intention?.reply.goal ?? null,
      alternatives: results.intention?.reply.alternatives ?? [],
    },
    convergenceAssessment: {
      change: assessment?.change ?? null,
      confidence: assessment?.confidence ?? 0,
      rationale: decision?.rationale ?? 'no decision was reached',
    },
    executionPasses: state.decisions,
    semanticValidation: { failures: state.failures },
    taskProfile: { prompt: recursion.continuationPrompt ?? state.request },
    correlationId: state.runId,
    executionStartTimestamp: new Date(state.startedAtMs).toISOString(),
    convergenceStatus: settled(decision),
    totalPasses: recursion.completedCycles,
    totalRefinements: state.corrections,
    ttlRemaining: Math.max(0, state.limits.maxCycles - recursion.completedCycles),
    draft: draftOf(state).text,
    messages: promptMessages(state),
  };
}

/**
 * The final answer [E2, E3]: the written one where there is one, else the best that the run came to. It reads the state and
 * changes nothing [E6]; flags and reasons are computed here, after any model had its say [E5].
 */
export function composeAnswer(state: ChainState): FinalAnswer {
  const draft = draftOf(state);
  const short = shortfalls(state);
  const [first] = short;
  const explanation = short.map(({ says }) => says).join(' ');
  const written = state.written;
  const used = written?.usedMessageIds ?? draft.usedMessageIds;
  const cancelled = first?.reason === 'cancelled';
  return {
    answerText: written?.answerText ?? (draft.text || `No answer was reached. ${explanation}`.trim()),
    confidence: written === null ? draft.confidence : groundedWriting(state, written),
    usedStepIds: stepsOf(state).map(({ stepId }) => stepId),
    notes: [written?.notes ?? '', explanation].filter((text) => text !== '').join(' '),
    ttlExhausted: ttlExhausted(state),
    status: cancelled ? 'cancelled' : first === undefined ? 'completed' : 'degraded',
    sources: citations(visibleMessages(state), used),
    metadata: {
      degraded: first !== undefined,
      reason: first?.reason ?? null,
      explanation,
      missingFields: missingFields(state),
      writtenBy: written === null ? 'engine' : 'model',
      decision: state.decision,
      cycles: state.recursion.completedCycles,
      usage: state.usage,
      failures: state.failures,
    },
  };
}

/** What a model wrote is as sure as it says, as far as it stands in what was gathered [Y1]. */
function groundedWriting(state: ChainState, { answerText, confidence }: SynthesisReply): number {
  return groundedConfidence(state, Math.min(confidence, 1), groundingIn(state, visibleMessages(state), answerText));
}

interface Draft {
  readonly text: string;
  readonly confidence: number;
  readonly usedMessageIds: readonly string[];
}

/** The best that there is, the most finished first; the text may be empty. */
function draftOf({ results, retrieval, envelope, assessment }: ChainState): Draft {
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
  return drafts.find(({ text }) => text.trim() !== '') ?? { text: '', confidence: 0, usedMessageIds: [] };
}

function listed(passages: readonly Passage[]): string {
  if (passages.length === 0) return '';
  return ['What was found:', ...passages.slice(0, 3).map(({ text }) => `- ${preview(text, 300)}`)].join('\n');
}

function stepsOf({ results }: ChainState): SynthesisInput['executionResults'] {
  return PHASES.flatMap((phase) => {
    const result = results[phase];
    return result === null ? [] : [{ stepId: `s${result.step}`, phase, content: contentOf(result) }];
  });
}

type Result = NonNullable<ChainState['results'][keyof ChainState['results']]>;

function contentOf(result: Result): string {
  switch (result.phase) {
    case 'action':
      return [result.reply.response, ...result.results.map(({ output }) => output)].filter(Boolean).join('\n');
    case 'experience':
      return result.reply.summary;
    case 'intention':
      return result.reply.goal;
    case 'observation':
      return result.reply.insights.join('\n');
    case 'understanding':
      return result.reply.integrated;
    case 'yield':
      return result.reply.answer;
    default: {
      const never: never = result;
      return never;
    }
  }
}

/** The sources of the messages used, each place once, in the order of use. */
function citations(messages: readonly Message[], used: readonly string[]): readonly Citation[] {
  const byId = new Map(messages.map((message) => [message.id, message]));
  const cited = new Map<string, Citation>();
  for (const id of used) {
    const message = byId.get(id);
    if (!message?.source || cited.has(id)) continue;
    cited.set(id, { ...message.source, messageId: id, quote: preview(message.content, 160) });
  }
  return [...cited.values()];
}
