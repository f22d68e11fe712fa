import type { RunStart } from '../../../machines/contracts/journal-entry.ts';
import type { JournalWriter } from '../../../machines/contracts/journal-store.ts';
import type { ChainParts } from './actors.ts';
import { liveExecutor } from './live-executor.ts';
import { openRun } from './open-run.ts';
import type { Run } from './run.ts';

export interface StartOptions {
  readonly signal?: AbortSignal | undefined;
  readonly writer?: JournalWriter | undefined;
}

export function startRun(start: RunStart, parts: ChainParts, { signal, writer }: StartOptions): Run {
  const { clock } = parts;
  const beganAtMs = clock.now();
  const atMs = (): number => clock.now() - beganAtMs;
  const { run, durableActor: stage, obey } = openRun(start, { parts, atMs, ...(writer && { writer }) });
  stage.attach(liveExecutor(clock, stage.deliver));
  stage.start();
  obey(signal);
  return run;
}
