import type { AttemptExecution } from '../contracts/attempt.ts';
import type { ChainInput, ChainState } from '../contracts/chain-state.ts';
import type { Failure, PhaseFailure } from '../contracts/failure.ts';
import type { Message } from '../contracts/message.ts';
import type { Phase } from '../contracts/phase.ts';
import { applyOperations } from './context.ts';
import { DEFAULT_PHASE, phaseAfter } from './phase-selection.ts';
import type { Made } from './phases/made.ts';
import { REQUEST } from './relevance/protection.ts';
import { addUsage, NO_USAGE, TOKENS_PER_CHAR } from './usage.ts';

/** How a run moves from phase to phase: each function gives the fields of the state that change. */

const KEPT_FAILURES = 16;

/** The context that a run begins with: the earlier turns, then the request. */
export function initialMessages(input: ChainInput): readonly Message[] {
  const request: Message = {
    id: REQUEST,
    role: 'user',
    phase: null,
    content: input.request,
    createdAtMs: input.startedAtMs,
    cycle: 1,
    tags: [REQUEST],
    importance: 1,
    links: [],
    references: [],
    source: null,
  };
  return [...input.messages.map(asEarlier), request];
}

export function initialState(input: ChainInput): ChainState {
  return {
    ...input,
    messages: initialMessages(input),
    envelope: { phase: null, content: '', operations: [] },
    recursion: {
      mode: input.mode,
      cycle: 1,
      completedCycles: 0,
      step: 0,
      origin: input.origin,
      continuationPrompt: null,
      history: [],
    },
    results: { action: null, experience: null, intention: null, observation: null, understanding: null, yield: null },
    applied: [],
    retrieval: null,
    measures: null,
    tokensPerChar: TOKENS_PER_CHAR,
    evaluation: null,
    assessment: null,
    decision: null,
    decisions: [],
    direction: input.origin,
    phaseRetries: 0,
    failure: null,
    failures: [],
    usage: NO_USAGE,
    corrections: 0,
    lastMessageAtMs: input.startedAtMs,
    interruption: null,
    written: null,
    synthesisFailure: null,
    answer: null,
  };
}

/** A message of an earlier run, with ids that no step of this one will use again. */
function asEarlier(message: Message): Message {
  return {
    ...message,
    id: earlierId(message.id),
    tags: message.tags.filter((tag) => tag !== REQUEST),
    references: message.references.map(earlierId),
    links: message.links.map((link) => ({ ...link, to: earlierId(link.to) })),
  };
}

const earlierId = (id: string): string => `earlier.${id}`;

/** The newest view of a context: a phase asks for the same one several times. Nothing else depends on it. */
let newest: Pick<ChainState, 'messages' | 'envelope'> & { readonly view: readonly Message[] } = {
  messages: [],
  envelope: { phase: null, content: '', operations: [] },
  view: [],
};

/** The context as a phase sees it: what the phase before appended is shown as applied [C3]. */
export function visibleMessages({ messages, envelope }: ChainState): readonly Message[] {
  if (newest.messages !== messages || newest.envelope !== envelope)
    newest = { messages, envelope, view: applyOperations(messages, envelope.operations) };
  return newest.view;
}

export function enterPhase({ recursion }: ChainState): Partial<ChainState> {
  return { recursion: { ...recursion, step: recursion.step + 1 }, measures: null, failure: null };
}

/** The phase is done: the incoming operations apply, then its own go into the envelope [C3]. */
export function completePhase(state: ChainState, made: Made): Partial<ChainState> {
  const { phase } = made.result;
  return {
    messages: visibleMessages(state),
    applied: state.envelope.operations,
    envelope: { phase, content: made.content, operations: made.operations },
    results: { ...state.results, [phase]: made.result },
    retrieval: null,
    measures: null,
    evaluation: null,
    phaseRetries: 0,
  };
}

/** What the calls of a phase used, whether it succeeded or not [A11], and when it ended. */
export function chargeExecution(state: ChainState, execution: AttemptExecution): Partial<ChainState> {
  const last = execution.attempts.at(-1);
  return {
    usage: addUsage(state.usage, execution.usage),
    corrections: state.corrections + execution.corrections,
    lastMessageAtMs:
      last === undefined || last.startedAtMs === null ? state.lastMessageAtMs : last.startedAtMs + last.durationMs,
  };
}

export function failPhase(state: ChainState, phase: Phase, failure: Failure): Partial<ChainState> {
  const entry: PhaseFailure = { phase, cycle: state.recursion.cycle, failure };
  return { failure: entry, failures: remember(state.failures, entry), direction: phase };
}

export function repeatPhase(state: ChainState): Partial<ChainState> {
  return { phaseRetries: state.phaseRetries + 1 };
}

export function skipPhase(state: ChainState): Partial<ChainState> {
  return { direction: phaseAfter(state.direction) ?? DEFAULT_PHASE, phaseRetries: 0 };
}

function remember(failures: readonly PhaseFailure[], failure: PhaseFailure): readonly PhaseFailure[] {
  return [...failures.slice(-(KEPT_FAILURES - 1)), failure];
}
