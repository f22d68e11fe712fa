import type { JournalEntry } from '../../machines/contracts/journal.ts';
import { isStimulusType } from './stimuli.ts';

type EntryType = JournalEntry['type'];

/** The kinds of entries that a list can be cut to, in the order in which they are offered. */
export const ENTRY_GROUPS = [
  'run',
  'phases',
  'decisions',
  'transitions',
  'attempts',
  'calls',
  'text',
  'state',
  'context',
  'sent and asked',
] as const;
export type EntryGroup = (typeof ENTRY_GROUPS)[number];

const groups: Readonly<Record<EntryType, EntryGroup>> = {
  'run-start': 'run',
  resumed: 'run',
  'run-stopped': 'run',
  'session-recalled': 'run',
  'session-stored': 'run',
  answer: 'run',
  'run-end': 'run',
  'phase-start': 'phases',
  'phase-end': 'phases',
  recovery: 'phases',
  decision: 'decisions',
  transition: 'transitions',
  'attempt-start': 'attempts',
  'attempt-end': 'attempts',
  'attempt-retry': 'attempts',
  'call-start': 'calls',
  'call-event': 'calls',
  timer: 'calls',
  retrieval: 'calls',
  'capability-start': 'calls',
  'capability-end': 'calls',
  'capability-stop': 'calls',
  continuation: 'calls',
  'text-delta': 'text',
  state: 'state',
  keyframe: 'state',
  operations: 'context',
  'context-evaluated': 'context',
  delivery: 'sent and asked',
  'consent-asked': 'sent and asked',
  'consent-resolved': 'sent and asked',
  'direction-asked': 'sent and asked',
  'direction-refused': 'sent and asked',
};

/** A kind that this page does not know is of the run. */
export const groupOf = (type: EntryType): EntryGroup => groups[type] ?? 'run';

/** Where an entry is from: the world outside, what the charts made, or a note beside them. */
export type Origin = 'outside' | 'chart' | 'note';

const NOTES: ReadonlySet<string> = new Set<EntryType>(['retrieval', 'text-delta', 'resumed']);

export function originOf(type: EntryType): Origin {
  if (isStimulusType(type)) return 'outside';
  return NOTES.has(type) ? 'note' : 'chart';
}
