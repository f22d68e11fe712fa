import type { JournalEntry } from '../../machines/contracts/journal.ts';
import { actorEntryWords, entryWords, membersText } from '../../src/chain/presentation/entry-words.ts';
import type { DurableEvent } from '../../src/durable/entries.ts';
import type { InspectedRun } from '../../src/inspection/wire.ts';
import { endReportedBy } from '../fold/actor-entries.ts';
import type { EntryOf } from '../fold/entry-index.ts';
import { humanizeEvent } from '../fold/explain.ts';
import { formatDuration } from '../fold/format.ts';
import type { LoadedEntries } from '../fold/run-fold.ts';
import { eventWords, guardsText } from '../fold/system-words.ts';
import { excerpt, stateName } from '../fold/text.ts';

const LINE_CHARS = 200;

type Shown = Pick<LoadedEntries, 'fold' | 'charts'> & { readonly run: Pick<InspectedRun, 'kind'> };

/** Describes an entry in one line. An unknown or malformed one is described by its members. */
export function entryLine(entry: JournalEntry, shown: Shown): string {
  try {
    return excerpt(wordsOf(entry, shown), LINE_CHARS);
  } catch {
    return excerpt(membersText(entry), LINE_CHARS);
  }
}

function wordsOf(entry: JournalEntry, shown: Shown): string {
  if (entry.type === 'transition') return transition(entry, shown);
  if (entry.type === 'timer-start')
    return `timer ${humanizeEvent(entry.event)}, due ${formatDuration(entry.dueMs)} after the start`;
  return shown.run.kind === 'run' ? entryWords(entry) : actorEntryWords(entry as unknown as DurableEvent);
}

/** Source, targets, event, and each evaluated guard with its result and inputs. */
function transition(entry: EntryOf<'transition'>, shown: Shown): string {
  const { machine, event, source, target, candidates } = entry;
  const path = `${stateName(source)} › ${target.map(stateName).join(', ') || 'stays'}`;
  const { actor = '' } = entry as { readonly actor?: string };
  const words = endReportedBy(actor, event) === null ? humanizeEvent(event) : eventWords(shown, actor, event);
  return [`${machine}: ${path}${event === '' ? '' : `, on ${words}`}`, guardsText(candidates)]
    .filter(Boolean)
    .join('; ');
}
