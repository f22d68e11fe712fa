import { signal } from '@preact/signals';
import type { EntryGroup } from '../../fold/entry-groups.ts';

/** What the list of events is asked for. It stays while other panels are looked at. */
export const asked = {
  hidden: signal<ReadonlySet<EntryGroup>>(new Set()),
  text: signal(''),
  /** Only what was found is listed. */
  onlyFound: signal(false),
  /** The search wants the keyboard. */
  isDue: signal(false),
} as const;
