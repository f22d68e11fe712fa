import { describe, expect, it } from 'vitest';
import { RunFold } from '../../../inspector/fold/run-fold.ts';
import { RunLog } from '../../../inspector/wire/run-log.ts';

const KINDS = [
  ...[
    'start',
    'delivery',
    'activity-event',
    'timer',
    'stopped',
    'text-delta',
    'retrieval',
    'resumed',
    'activity-start',
  ],
  ...['transition', 'phase-start', 'phase-end', 'recovery', 'attempt-start', 'attempt-end', 'attempt-retry', 'state'],
  ...['capability-start', 'capability-end', 'continuation', 'capability-stop', 'operations', 'context-evaluated'],
  ...['consent-asked', 'consent-resolved', 'direction-asked', 'direction-refused', 'decision', 'answer', 'keyframe'],
  ...['session-recalled', 'session-stored', 'end', 'constructor', '__proto__'],
];

describe('an entry of an untrusted file', () => {
  it.each(KINDS)('of the type %s without other fields ends the log or is accepted', (type) => {
    const log = new RunLog();
    const fold = new RunFold();
    const lines = [0, 1].map((seq) => JSON.stringify({ seq, atMs: 0, type }));
    log.add(lines, fold.take);
    expect(log.problem === null ? log.count : log.problem).toSatisfy(
      (told) => told === 2 || /^Entry [01] cannot be read/u.test(String(told)),
    );
  });
});
