import { expect, it } from 'vitest';
import { StateLog } from '../../../inspector/fold/state-log.ts';

it('applies all changes that follow the same entry, and shows the last', () => {
  const log = new StateLog();
  log.add(0, [
    JSON.stringify({ seq: 1, state: { messages: ['a'] } }),
    JSON.stringify({ seq: 1, changes: [{ path: ['messages'], at: 1, removed: 0, added: ['b'] }] }),
    JSON.stringify({ seq: 2, changes: [{ path: ['messages'], at: 2, removed: 0, added: ['c'] }] }),
    JSON.stringify({ seq: 2, changes: [] }),
    JSON.stringify({ seq: 3, changes: [{ path: ['messages', 2], value: 'd' }] }),
  ]);
  expect([1, 2, 3].map((seq) => log.at(seq))).toEqual([
    { messages: ['a', 'b'] },
    { messages: ['a', 'b', 'c'] },
    { messages: ['a', 'b', 'd'] },
  ]);
});

it('replaces all states when they are sent again from the first', () => {
  const log = new StateLog();
  log.add(0, [JSON.stringify({ seq: 1, state: 'before' }), JSON.stringify({ seq: 4, state: 'of a withdrawn step' })]);
  log.add(0, [JSON.stringify({ seq: 1, state: 'before' })]);
  log.add(1, [JSON.stringify({ seq: 8, state: 'after' })]);
  expect([1, 4, 8].map((seq) => log.at(seq))).toEqual(['before', 'before', 'after']);
});
