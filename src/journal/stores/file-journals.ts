import { PostChainError } from '../../../machines/contracts/error.ts';
import { spell } from '../../refusal.ts';
import { dropTornLine, edgesOf, linesOfFile } from '../line-file.ts';
import type { JournalStore, JournalStoreOptions } from './journal-store.ts';
import { ownerOf, takeLock } from './owner-lock.ts';
import { noSuchRun, runExists, runInUse } from './refusals.ts';
import type { LineSink } from './shelf.ts';
import { storeOn } from './store-on.ts';

/** Taken when it is needed: the rest of PostChain runs where there is none, in a browser say. */
const fs = () => process.getBuiltinModule('node:fs');

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
  const { join, resolve } = process.getBuiltinModule('node:path');
  const place = resolve(folder);
  const pathOf = (runId: string): string => join(place, `${encodeURIComponent(runId)}${ENDING}`);
  const lockOf = (runId: string): string => `${pathOf(runId)}.lock`;

  function claim(runId: string): void {
    const owner = takeLock(lockOf(runId));
    if (owner !== null) throw runInUse(runId, `the process ${owner}`);
  }
  function sinkTo(runId: string, flag: 'ax' | 'a'): LineSink {
    const file = fs().openSync(pathOf(runId), flag, 0o600);
    return {
      append: (line) => fs().appendFileSync(file, `${line}\n`),
      close() {
        fs().closeSync(file);
        fs().rmSync(lockOf(runId), { force: true });
      },
    };
  }

  return storeOn(
    {
      create: (runId) =>
        orInvalidPath(place, () => {
          fs().mkdirSync(place, { recursive: true, mode: 0o700 });
          if (fs().existsSync(pathOf(runId))) throw runExists(runId);
          claim(runId);
          return sinkTo(runId, 'ax');
        }),
      lines(runId) {
        if (!fs().existsSync(pathOf(runId))) throw noSuchRun(runId);
        return linesOfFile(pathOf(runId));
      },
      reopen: (runId) =>
        orInvalidPath(place, () => {
          if (!fs().existsSync(pathOf(runId))) throw noSuchRun(runId);
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
  if (!fs().existsSync(folder)) return [];
  const names = fs()
    .readdirSync(folder)
    .filter((name) => name.endsWith(ENDING));
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
