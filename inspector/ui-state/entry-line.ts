import type { JournalEntry } from '../../machines/contracts/journal.ts';
import { entryWords, membersText, valueText } from '../../src/chain/presentation/entry-words.ts';
import type { SystemEntry } from '../../src/inspection/wire.ts';
import type { EntryOf } from '../fold/entry-index.ts';
import { humanizeEvent } from '../fold/explain.ts';
import { excerpt, stateName } from '../fold/text.ts';

const LINE_CHARS = 200;

/** Describes an entry in one line. An unknown or malformed one is described by its members. */
export function entryLine(entry: JournalEntry): string {
  try {
    return excerpt(wordsOf(entry), LINE_CHARS);
  } catch {
    return excerpt(membersText(entry), LINE_CHARS);
  }
}

function wordsOf(entry: JournalEntry | SystemEntry): string {
  switch (entry.type) {
    case 'transition':
      return transition(entry);
    case 'state':
      return entry.changes.map(({ path }) => path.join('.')).join(', ');
    case 'keyframe':
      return 'the complete state';
    case 'noted':
      return `${entry.actor}: ${entry.text} ${entry.data === undefined ? '' : valueText(entry.data)}`;
    default:
      return entryWords(entry as JournalEntry);
  }
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
