import type { Replies } from '../../machines/contracts/phase-io.ts';
import type { GrowingMember, GrowingValue } from './growing-value.ts';

/** The fields of a reply, task by task, in the order in which they are asked for. */
export const REPLY_FIELDS: { readonly [T in keyof Replies]: readonly (keyof Replies[T] & string)[] } = {
  action: ['response', 'confidence', 'call'],
  experience: ['summary', 'relevantPassageIds', 'missing', 'confidence'],
  intention: ['goal', 'alternatives', 'clarity', 'unclearIntent', 'alignment'],
  observation: ['insights', 'undigested', 'entities', 'connections', 'importance'],
  understanding: ['integrated', 'assessments'],
  yield: [
    'answer',
    'confidence',
    'taskComplete',
    'informationSufficiency',
    'needsTools',
    'proposedPhase',
    'rationale',
    'usedMessageIds',
  ],
  continuation: ['done', 'finalOutput', 'next'],
  summary: ['summaries'],
  synthesis: ['answerText', 'confidence', 'usedMessageIds', 'notes'],
};

export interface Field {
  readonly name: string;
  /** Null where it is yet to come, or never came. */
  readonly value: GrowingValue | null;
  /** The field is asked for. A reply of which none is, is of a schema that is not known here. */
  readonly isKnown: boolean;
}

/** The fields of a reply, those that came in the order in which they came, those that did not behind them. */
export function fieldsOf(task: string, value: GrowingValue | null): readonly Field[] {
  const known: readonly string[] = Object.hasOwn(REPLY_FIELDS, task) ? REPLY_FIELDS[task as keyof Replies] : [];
  const members: readonly GrowingMember[] = value?.kind === 'members' ? value.members : [];
  const there = [...new Map(members.map((member) => [member.name, member])).values()];
  const came = there.map(({ name, value: of }) => ({ name, value: of, isKnown: known.includes(name) }));
  if (came.length > 1 && came.every(({ isKnown }) => !isKnown)) return came;
  const names = new Set(there.map(({ name }) => name));
  const due = known.filter((name) => !names.has(name));
  return [...came, ...due.map((name) => ({ name, value: null, isKnown: true }))];
}
