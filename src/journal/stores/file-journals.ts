import { appendFileSync, closeSync, existsSync, mkdirSync, openSync, readdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { PostChainError } from '../../../machines/contracts/error.ts';
import { spell } from '../../refusal.ts';
import { dropTornLine, edgesOf, linesOfFile } from '../line-file.ts';
import type { JournalStore, JournalStoreOptions } from './journal-store.ts';
import { ownerOf, takeLock } from './owner-lock.ts';
import { noSuchRun, runExists, runInUse } from './refusals.ts';
import type { LineSink } from './shelf.ts';
import { storeOn } from './store-on.ts';

const ENDING = '.jsonl';

/**
 * Journals as files of JSON lines in a folder, one a run, for nobody but their owner to read. The folder is made when it is first
 * written to. Each entry is handed to the system before its run goes on: it survives the death of the process, and is as safe from a
 * power cut as the file system makes it.
 */
export function fileJournals(folder: string, options: JournalStoreOptions = {}): JournalStore {
  if (typeof folder !== 'string' || folder.trim() === '')
    throw new PostChainError('invalid_option', `fileJournals: got ${spell(folder)}; wanted the path of a folder.`);
  // Taken now: the working folder may be another one later.
  const place = resolve(folder);
  const pathOf = (runId: string): string => join(place, `${encodeURIComponent(runId)}${ENDING}`);
  const lockOf = (runId: string): string => `${pathOf(runId)}.lock`;

  function claim(runId: string): void {
    const owner = takeLock(lockOf(runId));
    if (owner !== null) throw runInUse(runId, `the process ${owner}`);
  }
  function sinkTo(runId: string, flag: 'ax' | 'a'): LineSink {
    const file = openSync(pathOf(runId), flag, 0o600);
    return {
      append: (line) => appendFileSync(file, `${line}\n`),
      close() {
        closeSync(file);
        rmSync(lockOf(runId), { force: true });
      },
    };
  }

  return storeOn(
    {
      create: (runId) =>
        orInvalidPath(place, () => {
          mkdirSync(place, { recursive: true, mode: 0o700 });
          if (existsSync(pathOf(runId))) throw runExists(runId);
          claim(runId);
          return sinkTo(runId, 'ax');
        }),
      lines(runId) {
        if (!existsSync(pathOf(runId))) throw noSuchRun(runId);
        return linesOfFile(pathOf(runId));
      },
      reopen: (runId) =>
        orInvalidPath(place, () => {
          if (!existsSync(pathOf(runId))) throw noSuchRun(runId);
          claim(runId);
          dropTornLine(pathOf(runId));
          return sinkTo(runId, 'a');
        }),
      spines: () =>
        journalsIn(place).map((runId) => ({
          runId,
          ...edgesOf(pathOf(runId)),
          isWritten: ownerOf(lockOf(runId)) !== null,
        })),
    },
    options,
  );
}

function journalsIn(folder: string): readonly string[] {
  if (!existsSync(folder)) return [];
  const names = readdirSync(folder).filter((name) => name.endsWith(ENDING));
  return names.map((name) => decodeURIComponent(name.slice(0, -ENDING.length)));
}

function orInvalidPath<Value>(place: string, act: () => Value): Value {
  try {
    return act();
  } catch (cause) {
    if (cause instanceof PostChainError) throw cause;
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new PostChainError('invalid_path', `The journals in "${place}" cannot be written (${reason}).`, { cause });
  }
}
