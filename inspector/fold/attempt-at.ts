import type { Failure } from '../../machines/contracts/failure.ts';
import { countBegunBy } from './sorted.ts';
import type { AttemptSpan, Spans } from './spans.ts';

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
export function attemptsAt({ attempts }: Spans, at: number): readonly AttemptAt[] {
  const count = countBegunBy(attempts, at);
  const last = attempts[count - 1];
  if (last === undefined) return [];
  const spans: AttemptSpan[] = [];
  for (let place = count - 1; attempts[place]?.attemptId === last.attemptId; place -= 1) {
    const span = attempts[place];
    if (span !== undefined) spans.unshift(span);
  }
  return spans.map((span) => stand(span, at));
}

function stand(span: AttemptSpan, at: number): AttemptAt {
  const isOver = span.to !== null && span.to <= at;
  const failure = isOver ? span.failure : null;
  const usage = isOver ? span.usage : null;
  const backOffMs = span.backOff !== null && span.backOff.at <= at ? span.backOff.inMs : null;
  // One that was broken off was not announced as ended.
  const ended = failure !== null ? 'void' : usage === null ? 'broken off' : 'valid';
  return { span, status: isOver ? ended : 'under way', failure, usage, backOffMs };
}
