import { PostChainError } from '../../../machines/contracts/error.ts';
import type { JournalEntry, RunStart } from '../../../machines/contracts/journal-entry.ts';
import type { RunEvent } from '../../engine/runtime/event-stream.ts';
import { readOptions, type TraceRunOptions } from './options.ts';
import { createRunFold } from './run-fold.ts';
import { createTelemetry } from './telemetry.ts';

/**
 * Tells OpenTelemetry of a run, by the semantic conventions for generative AI: `run.events` while it runs, `readJournal(path)` or
 * `run.journal` afterwards; both give the same spans at the same times. They stand under the span that is active when this is called.
 *
 * Resolves when the journal has ended, and its spans with it. OpenTelemetry cannot disturb it.
 *
 * @throws PostChainError `invalid_option` for options that make no sense, `invalid_journal` for what does not begin as a run does;
 * what the iterable throws, once the open spans are ended.
 */
export async function traceRun(
  entries: AsyncIterable<RunEvent> | Iterable<JournalEntry>,
  options: TraceRunOptions = {},
): Promise<void> {
  const { tracer, meter, ...settings } = readOptions(options);
  const tell = createTelemetry(tracer, meter);
  let fold: ReturnType<typeof createRunFold> | null = null;
  const tellAll = (): void => fold?.signals().forEach(tell);
  try {
    for await (const entry of entries) {
      if (entry.type === 'partial') continue;
      if (fold === null) fold = createRunFold(startOf(entry), settings);
      else fold.take(entry);
      tellAll();
    }
    if (fold === null) throw notAJournal('nothing');
  } finally {
    fold?.finish();
    tellAll();
  }
}

function startOf(entry: JournalEntry): RunStart {
  if (entry.type !== 'run-start') throw notAJournal(`"${entry.type}"`);
  return entry;
}

function notAJournal(got: string): PostChainError {
  return new PostChainError('invalid_journal', `The journal begins with ${got}; wanted "run-start".`);
}
