import type { JournalEntry, RunStart } from '../../../machines/contracts/journal-entry.ts';
import type { FinalAnswer } from '../../../machines/contracts/synthesis.ts';
import type { ChainParts } from '../../engine/runtime/actors.ts';
import { openRun } from '../../engine/runtime/open-run.ts';
import { onAbort } from '../../internal/on-abort.ts';
import { createDurableTime } from './durable-time.ts';
import type { Host } from './host.ts';
import { createRestateExecutor } from './restate-executor.ts';

export interface PlayOptions {
  readonly parts: ChainParts;
  readonly host: Host;
  /** Keeps the entries that are new since it was last given some: at least one, in order. */
  readonly keep: (entries: readonly JournalEntry[]) => void;
  /** Aborts where this process is no longer the one that plays the run: calls under way are broken off. */
  readonly signal?: AbortSignal;
}

/**
 * Plays a run on a host. Everything that the charts hear comes as an outcome of the host, one at a time: so the run that is played
 * again, by this process or another one, goes the same way as far as there are outcomes, and on from there.
 */
export async function play(start: RunStart, { parts, host, keep, signal }: PlayOptions): Promise<FinalAnswer> {
  const time = createDurableTime(start.startedAtMs);
  const { run, durableActor: stage, journal } = openRun(start, { parts, atMs: () => time.nowMs - start.startedAtMs });
  const world = createRestateExecutor({ host, time, clock: parts.clock, note: journal.append });
  const forget = signal === undefined ? () => {} : onAbort(signal, () => stage.deliver({ type: 'run-stopped' }));
  let kept = 0;
  const keepNew = (): void => {
    if (journal.entries.length > kept) keep(journal.entries.slice(kept));
    kept = journal.entries.length;
  };

  stage.attach(world);
  stage.start();
  while (run.actor.getSnapshot().status === 'active') {
    const pending = world.pending();
    keepNew();
    const outcome = await host.first(pending);
    for (const stimulus of world.take(outcome)) stage.deliver(stimulus);
  }
  keepNew();
  forget();
  return run.answer;
}
