import pc from 'picocolors';
import type { Decision } from '../../machines/contracts/decision.ts';
import type { Failure } from '../../machines/contracts/failure.ts';
import type { JournalEntry } from '../../machines/contracts/journal-entry.ts';
import type { Task } from '../../machines/contracts/phase.ts';
import type { RunEvent } from '../runtime/event-stream.ts';
import type { PartialUpdate } from '../runtime/watcher.ts';
import { oneLine } from './printable.ts';

/** A place to write lines, and, on a terminal, one line that is written over. */
export interface Screen {
  line(text: string): void;
  /** Shows a passing text below the lines, after a name; nothing where there is no terminal. */
  status(name: string, text: string): void;
}

/** The field of each task's reply that people want to see grow. */
const SHOWN: Record<Task, string> = {
  action: 'response',
  experience: 'summary',
  intention: 'goal',
  observation: 'insights',
  understanding: 'integrated',
  yield: 'answer',
  synthesis: 'answerText',
};

/** Shows a run as it goes: a fold of its events into lines. */
export function createProgress(screen: Screen): (event: RunEvent) => void {
  let startedAtMs = 0;
  let cycle = 0;
  return (event) => {
    if (event.type === 'partial') return screen.status(padded(event.task), partialText(event));
    if (event.type === 'phase-start') {
      startedAtMs = event.atMs;
      if (event.cycle !== cycle) screen.line(pc.bold(`Cycle ${event.cycle}`));
      cycle = event.cycle;
      screen.status(padded(event.phase), '');
    }
    for (const line of linesOf(event, startedAtMs)) screen.line(line);
  };
}

function linesOf(event: JournalEntry, phaseStartedAtMs: number): readonly string[] {
  switch (event.type) {
    case 'phase-end': {
      const ms = pc.dim(` ${Math.round(event.atMs - phaseStartedAtMs)} ms`);
      const text = event.failure === null ? oneLine(event.summary) || '–' : pc.red(problem(event.failure));
      return [`${label(event.phase)} ${text}${ms}`];
    }
    case 'attempt-end':
      return event.failure === null ? [] : [note(`attempt ${event.attempt} void: ${problem(event.failure)}`)];
    case 'attempt-retry':
      return [note(`attempt ${event.attempt}${event.inMs > 0 ? ` in ${Math.round(event.inMs)} ms` : ' now'}`)];
    case 'retrieval':
      return [note(retrievalText(event))];
    case 'capability-end':
      return [note(`${event.result.capability}: ${oneLine(event.result.error ?? event.result.output).slice(0, 120)}`)];
    case 'recovery':
      return [note(`${event.phase} failed: ${RECOVERY[event.how]}`)];
    case 'decision':
      return [`${label('decision')} ${decisionText(event.decision)}`];
    case 'direction-refused':
      return [note(`"${oneLine(event.got)}" is no phase`)];
    case 'consent-resolved':
      return [
        note(`consent (${event.by}): ${event.kept} kept, ${event.summarised} summarised, ${event.removed} removed`),
      ];
    default:
      return [];
  }
}

const RECOVERY = { again: 'it is tried again', skip: 'on without it', finish: 'straight to the answer' } as const;

const padded = (name: string): string => `  ${name.padEnd(13)}`;
const label = (name: string): string => pc.cyan(padded(name));
const note = (text: string): string => `  ${' '.repeat(13)} ${pc.dim(text)}`;
const problem = ({ stage, code, message }: Failure): string => `${stage}/${code}: ${oneLine(message)}`;

function decisionText({ rule, rationale }: Decision): string {
  return `${pc.bold(rule)}: ${oneLine(rationale)}`;
}

function retrievalText({ passages, widened, failure }: Extract<JournalEntry, { type: 'retrieval' }>): string {
  if (failure !== null) return `the documents cannot be searched: ${oneLine(failure)}`;
  return `${passages} ${passages === 1 ? 'passage' : 'passages'} found${widened ? ' by a wider search' : ''}`;
}

/** The end of the text that grows: only that is looked at, however long it is. */
function partialText({ task, value }: PartialUpdate): string {
  const shown = (value as Record<string, unknown> | null)?.[SHOWN[task]];
  const text = Array.isArray(shown) ? shown.at(-1) : shown;
  return typeof text === 'string' ? oneLine(text.slice(-400)) : '';
}
