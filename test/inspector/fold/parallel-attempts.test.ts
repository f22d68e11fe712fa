import { expect, it } from 'vitest';
import { Spans } from '../../../inspector/fold/spans.ts';
import { promptSeq } from '../../../inspector/fold/step.ts';
import type { JournalEntry } from '../../../machines/contracts/journal.ts';
import { NO_USAGE } from '../../../machines/policies/usage.ts';
import { folded } from '../../support/inspector/inspected-runs.ts';

/** Returns the spans of attempts that several actors of a system make at the same time. */
function parallelAttempts(ids: readonly string[]) {
  const facts = [
    ...ids.map((attemptId) => ({ type: 'attempt-start', attemptId, task: 'value', attempt: 1, model: 0 })),
    ...ids.map((attemptId) => ({ type: 'prompt', attemptId, digest: '', turns: [], schema: 0, tools: [], parts: {} })),
    ...ids.map((attemptId, at) => ({
      type: 'attempt-end',
      attemptId,
      task: 'value',
      attempt: 1,
      failure: null,
      usage: { ...NO_USAGE, inputTokens: at, estimated: false },
    })),
  ];
  const entries = facts.map((fact, seq) => ({ ...fact, seq, atMs: seq, actor: `a${seq % ids.length}` }));
  return folded(entries as unknown as JournalEntry[]);
}

it('finds the prompt of each of several model calls at the same time', () => {
  const ids = ['a', 'b', 'c', 'd', 'e', 'f'];
  const { log, fold } = parallelAttempts(ids);
  const found = fold.spans.attempts.map((span) => promptSeq(log, fold, { span } as never));
  expect(found).toEqual(ids.map((_, at) => ids.length + at));
});

it('keeps the attempts of two actors apart, even if they have the same id', () => {
  const { attempts } = parallelAttempts(['a', 'a']).fold.spans;
  expect(attempts.map(({ to, usage }) => [to, usage?.inputTokens])).toEqual([
    [4, 0],
    [5, 1],
  ]);
});

it('numbers any number of calls of one step in linear time', () => {
  const [fold, calls] = [new Spans(), 200_000];
  for (let seq = 0; seq < calls; seq += 1)
    fold.take({ type: 'attempt-start', attemptId: 's1.action', task: 'action', seq } as never);
  expect(fold.byStep.get(1)).toHaveLength(calls);
});

it('does not end a call for the last phase with the phases before it, which call no model', () => {
  const call = { attemptId: 's2.yield', task: 'yield', attempt: 1 };
  const failure = { stage: 'unexpected', message: 'offline' };
  const facts = [
    { type: 'activity-start', activity: 0, source: 'readReply', subject: { attemptId: 's2.yield', task: 'yield' } },
    { type: 'attempt-start', ...call, model: 0 },
    { type: 'phase-start', phase: 'action', cycle: 1, step: 1 },
    { type: 'phase-end', phase: 'action', cycle: 1, step: 1, failure: null, attemptId: null, summary: '' },
    { type: 'phase-start', phase: 'yield', cycle: 1, step: 2 },
    { type: 'activity-event', activity: 0, source: 'readReply', event: { type: 'reply.ended', reply: { failure } } },
    { type: 'attempt-end', ...call, failure, usage: { ...NO_USAGE, estimated: false } },
  ];
  const entries = facts.map((fact, seq) => ({ ...fact, seq, atMs: seq }));
  const { fold } = folded(entries as unknown as JournalEntry[]);
  expect(fold.spans.attempts[0]).toMatchObject({ to: 6, failure });
  expect(fold.spans.calls[0]).toMatchObject({ to: 5 });
});
