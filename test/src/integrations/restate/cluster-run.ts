import { SimulatedClock } from 'xstate';
import type { ChainEvent } from '../../../../machines/contracts/events.ts';
import type { JournalEntry } from '../../../../machines/contracts/journal.ts';

import type { FinalAnswer } from '../../../../machines/contracts/synthesis.ts';
import { type PostChainOptions, resolveOptions } from '../../../../src/engine/runtime/options.ts';
import { play } from '../../../../src/integrations/restate/create-restate-chain.ts';
import { partsFor, type RestateRunOptions, startOf } from '../../../../src/integrations/restate/run-request.ts';
import { settle } from '../../../../src/testing/settle.ts';
import { createFakeCluster } from './fake-cluster.ts';

export interface ClusterRun {
  readonly answer: FinalAnswer;
  /** As each process kept it, from the first entry on. */
  readonly journals: readonly (readonly JournalEntry[])[];
  readonly cluster: ReturnType<typeof createFakeCluster>;
}

interface Plan {
  readonly options: PostChainOptions;
  readonly clock?: SimulatedClock;
  readonly run?: Partial<RestateRunOptions>;
  /** After how many outcomes each process is killed, one after the other; the last one lives on. */
  readonly kills?: readonly number[];
  /** Told when nothing else happens any more, in order, and before time passes. */
  readonly words?: readonly ChainEvent[];
  /** Whether the host cancels it as soon as nothing else happens. */
  readonly isInterrupted?: boolean;
}

/** Plays a run on a cluster in memory to its end; time passes only when nothing else does. */
export async function playOnCluster({ clock = new SimulatedClock(), ...plan }: Plan): Promise<ClusterRun> {
  const options = { ...plan.options, clock };
  const parts = resolveOptions(options);
  const begun = startOf('run-1', { request: 'Is it so?', ...plan.run }, parts);
  const cluster = createFakeCluster(clock);
  const journals: JournalEntry[][] = [];
  const words = [...(plan.words ?? [])];
  let answer: FinalAnswer | null = null;

  for (const lives of [...(plan.kills ?? []), Number.POSITIVE_INFINITY]) {
    const journal: JournalEntry[] = [];
    journals.push(journal);
    const member = cluster.connect(lives);
    const over = new AbortController();
    // As it comes back from the cluster.
    const kept = JSON.parse(JSON.stringify(begun)) as typeof begun;
    play(kept.start, {
      parts: partsFor(kept, parts),
      host: member.host,
      keep: (entries) => void journal.push(...entries),
      signal: over.signal,
    }).then((given) => {
      answer = given;
    });
    for (let idle = 0; answer === null && member.isAlive; ) {
      const before = cluster.log.length + cluster.commands.length;
      await settle(3);
      if (cluster.log.length + cluster.commands.length !== before) idle = 0;
      else if (plan.isInterrupted && idle === 0) {
        idle += 1;
        member.interrupt();
      } else if (words.length > 0) cluster.send(words.shift() as ChainEvent);
      else {
        idle += 1;
        if (idle > 2000) throw new Error('the run hangs');
        clock.increment(1000);
      }
    }
    over.abort();
    if (answer !== null) break;
  }
  if (answer === null) throw new Error('there is no answer');
  return { answer, journals, cluster };
}
