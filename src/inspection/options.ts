import { z } from 'zod';
import type { JournalStore } from '../../machines/contracts/journal.ts';
import { hasMethod, invalidOption } from '../internal/options.ts';
import { builtFolder } from './pages/built-folder.ts';

export interface InspectionOptions {
  /** Whose runs can be opened beside those that are watched. */
  readonly journals?: JournalStore | undefined;
  /** 0, the default: one that is free. */
  readonly port?: number | undefined;
  /**
   * Where the files of the page are.
   * @internal
   */
  readonly page?: string | undefined;
}

const A_PORT = 'expected a port: a whole number from 0 to 65535';

const optionsSchema = z.strictObject({
  journals: hasMethod<JournalStore>('list', 'expected a store of journals, for example fileJournals("runs")')
    .nullable()
    .default(null),
  port: z.int(A_PORT).min(0, A_PORT).max(65_535, A_PORT).default(0),
  page: z.string('expected a folder').optional(),
});

export interface InspectionSettings {
  readonly journals: JournalStore | null;
  readonly port: number;
  readonly page: string;
}

/** Throws `invalid_option` for what makes no sense. */
export function readOptions(options: InspectionOptions): InspectionSettings {
  const read = optionsSchema.safeParse(options);
  if (!read.success) throw invalidOption('inspectionServer', options, read.error, optionsSchema);
  return { ...read.data, page: read.data.page ?? builtFolder('inspector') };
}
