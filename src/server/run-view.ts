import type { Phase } from '../../machines/contracts/phase.ts';
import type { Question, RunUpdate, ServedAnswer } from './updates.ts';

/** The state of a run for display: the result of applying its updates in order. */
export interface RunView {
  readonly runId: string;
  readonly request: string;
  readonly startedAt: string;
  /** `ended` if the run has an answer; `waiting` if it has open questions for its user. */
  readonly status: 'running' | 'waiting' | 'ended';
  /** The phases entered so far, in order. */
  readonly phases: readonly PhaseView[];
  /** The latest progress line; null before the first one. */
  readonly progress: string | null;
  readonly tools: readonly ToolView[];
  /** The text of the answer so far; provisional until `answer` is set. */
  readonly text: string;
  /** The reason for the decision at the end of each cycle, in order. */
  readonly decisions: readonly string[];
  /** The open questions. */
  readonly questions: readonly Question[];
  readonly answer: ServedAnswer | null;
}

interface PhaseView {
  readonly phase: Phase;
  readonly cycle: number;
  readonly state: 'started' | 'ended' | 'failed';
  readonly summary: string | null;
}

interface ToolView {
  readonly index: number;
  readonly name: string;
  readonly state: 'started' | 'ended' | 'failed';
}

/** Returns the view after all these updates of a run. */
export const viewOf = (updates: readonly RunUpdate[]): RunView => updates.reduce(nextView, emptyView);

export const emptyView: RunView = {
  runId: '',
  request: '',
  startedAt: '',
  status: 'running',
  phases: [],
  progress: null,
  tools: [],
  text: '',
  decisions: [],
  questions: [],
  answer: null,
};

/** Returns the view after the next update. */
export function nextView(view: RunView, update: RunUpdate): RunView {
  const next = changed(view, update);
  const status = next.answer !== null ? 'ended' : next.questions.length > 0 ? 'waiting' : 'running';
  return next.status === status ? next : { ...next, status };
}

function changed(view: RunView, update: RunUpdate): RunView {
  switch (update.type) {
    case 'run': {
      const { runId, request, startedAt } = update;
      return { ...view, runId, request, startedAt };
    }
    case 'phase': {
      const { phase, cycle, state, summary } = update;
      const others = state === 'started' ? view.phases : view.phases.slice(0, -1);
      return { ...view, phases: [...others, { phase, cycle, state, summary }] };
    }
    case 'progress':
      return { ...view, progress: update.text };
    case 'tool': {
      const { index, name, state } = update;
      const others = view.tools.filter((tool) => tool.index !== index);
      return { ...view, tools: [...others, { index, name, state }] };
    }
    case 'text':
      return { ...view, text: view.text + update.delta };
    case 'text-void':
      return { ...view, text: '' };
    case 'decision':
      return { ...view, decisions: [...view.decisions, update.text] };
    case 'question':
      return { ...view, questions: [...without(view, update.question.questionId), update.question] };
    case 'question-closed':
      return { ...view, questions: without(view, update.questionId) };
    default:
      return { ...view, answer: update.answer };
  }
}

const without = ({ questions }: RunView, closed: string): readonly Question[] =>
  questions.filter(({ questionId }) => questionId !== closed);
