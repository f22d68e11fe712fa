import type { Failure } from '../../machines/contracts/failure.ts';
import type { RunFold } from './run-fold.ts';
import { countBegunBy, lastBegunBy, lastUpTo } from './sorted.ts';
import type { AttemptSpan } from './spans.ts';

/** How an attempt stood at an entry. */
export interface AttemptAt {
  readonly span: AttemptSpan;
  readonly status: 'under way' | 'valid' | 'void' | 'broken off';
  readonly failure: Failure | null;
  readonly usage: AttemptSpan['usage'];
  /** The wait before the next one; null where none was announced by then. */
  readonly backOffMs: number | null;
}

/** The attempts at one value, up to an entry, the first one first: those of the attempt that had begun last. */
export function attemptsAt({ spans: all, places }: RunFold, at: number): readonly AttemptAt[] {
  const { attempts, phases } = all;
  const count = countBegunBy(attempts, at);
  const last = attempts[count - 1];
  if (last === undefined) return [];
  const spans: AttemptSpan[] = [];
  for (let place = count - 1; attempts[place]?.attemptId === last.attemptId; place -= 1) {
    const span = attempts[place];
    if (span !== undefined) spans.unshift(span);
  }
  const phase = lastBegunBy(phases, last.from);
  const inPhase = phase?.to !== null && phase !== undefined && phase.to > last.from && phase.to <= at;
  const isBrokenOff = inPhase || lastUpTo(places.of('answer'), at) !== undefined;
  return spans.map((span) => stand(span, at, isBrokenOff));
}

/** A phase or a run that ends breaks off what is under way in it, and no attempt says so. */
function stand(span: AttemptSpan, at: number, isBrokenOff: boolean): AttemptAt {
  const isOver = isBrokenOff || (span.to !== null && span.to <= at);
  const isTold = span.to !== null && span.to <= at;
  const failure = isTold ? span.failure : null;
  const usage = isTold ? span.usage : null;
  const backOffMs = span.backOff !== null && span.backOff.at <= at ? span.backOff.inMs : null;
  const ended = failure !== null ? 'void' : usage === null ? 'broken off' : 'valid';
  return { span, status: isOver ? ended : 'under way', failure, usage, backOffMs };
}
