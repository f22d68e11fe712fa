import type { ChainEvent } from '../../machines/contracts/chain-event.ts';
import { PostChainError } from '../../machines/contracts/error.ts';
import type { RunStatus } from '../../machines/contracts/journal-store.ts';
import type { Run } from '../engine/runtime/run.ts';
import { fidelityOf } from './fidelity.ts';
import { lineLog } from './line-log.ts';
import { problemOf } from './problem.ts';
import { runCharts } from './run-charts.ts';
import type { RunSource } from './source.ts';
import type { InspectedRun } from './wire.ts';

export interface LiveRun extends RunSource {
  readonly run: Run;
  /** Resolves when the run is over. */
  readonly over: Promise<void>;
}

/** A run of this process, under way or over. */
export function liveRun(run: Run): LiveRun {
  const log = lineLog(run.journal);
  let status: RunStatus = 'running';
  let isLive = true;

  async function listen(): Promise<void> {
    let problem: string | null = null;
    try {
      for await (const event of run.events) {
        if (event.type === 'partial') continue;
        if (event.type === 'run-end') status = event.status;
        log.grew();
      }
    } catch (error) {
      problem = problemOf(error);
    }
    if (status === 'running') status = 'interrupted';
    isLive = false;
    log.end(problem);
  }

  const [start] = run.journal;
  const begun: Pick<InspectedRun, 'title' | 'startedAt' | 'fidelity'> =
    start?.type === 'run-start'
      ? {
          title: start.request,
          startedAt: start.forkedFrom?.forkedAt ?? start.startedAt,
          fidelity: fidelityOf(start),
        }
      : { title: '', startedAt: '', fidelity: [] };

  return {
    run,
    over: listen(),
    info: () => ({ runId: run.runId, kind: 'run', ...begun, status, live: isLive }),
    charts: runCharts,
    follow: log.follow,
    send(event) {
      if (!isLive)
        throw new PostChainError('invalid_option', `The run is over (${status}): it can be told nothing more.`);
      // What is no event it refuses itself.
      run.send(event as ChainEvent);
    },
    entries: async () => [...run.journal],
  };
}
