import type { ExternalEvent, JournalEntry } from '../../machines/contracts/journal.ts';

const TYPES: readonly ExternalEvent['type'][] = ['delivery', 'activity-event', 'timer', 'failed', 'stopped'];

const isExternalEventType = (type: string): type is ExternalEvent['type'] =>
  (TYPES as readonly string[]).includes(type);

export const isExternalEvent = (entry: JournalEntry): entry is JournalEntry & ExternalEvent =>
  isExternalEventType(entry.type);
