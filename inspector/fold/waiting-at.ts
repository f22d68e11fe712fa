import type { ConsentRequest } from '../../machines/contracts/context.ts';
import type { RunLog } from '../log/run-log.ts';
import type { RunFold } from './run-fold.ts';
import { lastUpTo } from './sorted.ts';

/** What a run waits for until its user says something. */
export type Waiting =
  | { readonly for: 'consent'; readonly asked: number; readonly request: ConsentRequest }
  | {
      readonly for: 'direction';
      readonly asked: number;
      readonly proposal: string;
      readonly answer: string;
      readonly confidence: number;
      /** What was said last and is no phase; null where nothing was refused. */
      readonly refused: string | null;
    };

/** A question is open as long as the chart stands where it asked it. Null where none is. */
export function waitingAt(log: RunLog, { places, transitions }: RunFold, seq: number): Waiting | null {
  const start = log.count > 0 ? log.entry(0) : null;
  if (start?.type !== 'run-start' || lastUpTo(places.of('run-end'), seq) !== undefined) return null;
  const since = transitions.standingAt(start.chart.id, seq)?.since ?? 0;
  const consent = lastUpTo(places.of('consent-asked'), seq) ?? -1;
  const direction = lastUpTo(places.of('direction-asked'), seq) ?? -1;
  const asked = Math.max(consent, direction);
  if (asked <= since) return null;
  const entry = log.entry(asked);
  if (entry.type === 'consent-asked') return { for: 'consent', asked, request: entry.request };
  if (entry.type !== 'direction-asked') return null;
  const { proposal, answer, confidence } = entry;
  const no = lastUpTo(places.of('direction-refused'), seq) ?? -1;
  const refusal = no > asked ? log.entry(no) : null;
  const refused = refusal?.type === 'direction-refused' ? refusal.got : null;
  return { for: 'direction', asked, proposal, answer, confidence, refused };
}
