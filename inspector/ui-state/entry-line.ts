import type { JournalEntry } from '../../machines/contracts/journal.ts';
import { actorEntryWords, entryWords, membersText, valueText } from '../../src/chain/presentation/entry-words.ts';
import type { DurableEvent } from '../../src/durable/entries.ts';
import type { InspectedRun } from '../../src/inspection/wire.ts';
import type { EntryOf } from '../fold/entry-index.ts';
import { humanizeEvent } from '../fold/explain.ts';
import { excerpt, stateName } from '../fold/text.ts';

const LINE_CHARS = 200;

/** Describes an entry in one line. An unknown or malformed one is described by its members. */
export function entryLine(entry: JournalEntry, kind: InspectedRun['kind']): string {
  try {
    return excerpt(wordsOf(entry, kind === 'run'), LINE_CHARS);
  } catch {
    return excerpt(membersText(entry), LINE_CHARS);
  }
}

function wordsOf(entry: JournalEntry, isOfRun: boolean): string {
  if (entry.type === 'transition') return transition(entry);
  return isOfRun ? entryWords(entry) : actorEntryWords(entry as unknown as DurableEvent);
}

/** Source, targets, event, and each evaluated guard with its result and inputs. */
function transition({ machine, event, source, target, candidates }: EntryOf<'transition'>): string {
  const guards = candidates
    .filter(({ guard, result }) => guard !== null && result !== 'not-evaluated')
    .map(({ guard, result, inputs }) => `${guard} ${result === 'taken' ? 'taken' : 'false'}${inputsText(inputs)}`);
  const path = `${stateName(source)} › ${target.map(stateName).join(', ') || 'stays'}`;
  const on = event === '' ? '' : `, on ${humanizeEvent(event)}`;
  return [`${machine}: ${path}${on}`, ...guards].join('; ');
}

function inputsText(inputs: Readonly<Record<string, unknown>> | null): string {
  const pairs = Object.entries(inputs ?? {}).map(([name, value]) => `${name} ${valueText(value)}`);
  return pairs.length === 0 ? '' : ` (${pairs.join(', ')})`;
}
