import { describe, expect, it } from 'vitest';
import { Inbox, Sender } from '../../../src/durable/inbox.ts';

const timer = (number: number) => ({ type: 'timer', timer: number }) as const;

describe('an inbox', () => {
  it('returns items in the order of arrival', () => {
    const inbox = new Inbox();
    expect([inbox.isEmpty, inbox.nextAtMs, inbox.take()]).toEqual([true, undefined, undefined]);
    inbox.add({ atMs: 5, event: timer(0) });
    inbox.add({ atMs: 7, event: timer(1) });
    expect([inbox.isEmpty, inbox.nextAtMs]).toEqual([false, 5]);
    expect([inbox.take()?.event, inbox.nextAtMs, inbox.take()?.event]).toEqual([timer(0), 7, timer(1)]);
    expect(inbox.isEmpty).toBe(true);
  });

  it('takes out the events of callers and keeps what calls have reported', () => {
    const inbox = new Inbox();
    const [one, two] = [new Sender(), new Sender()];
    inbox.add({ atMs: 0, event: { type: 'stopped' }, sender: one });
    inbox.add({ atMs: 0, event: timer(0) });
    inbox.add({ atMs: 0, event: { type: 'stopped' }, sender: two });
    expect(inbox.takeSenders()).toEqual([one, two]);
    expect([inbox.take()?.event, inbox.isEmpty]).toEqual([timer(0), true]);
  });
});

describe('a sender', () => {
  it.each([true, false])(
    'returns %s at once if its event has been processed, and promises it otherwise',
    async (end) => {
      const [early, late] = [new Sender(), new Sender()];
      early.resolve(end);
      expect(early.result()).toBe(end);
      const result = late.result();
      late.resolve(end);
      expect(await result).toBe(end);
    },
  );

  it('throws the reason at once if its event cannot be processed, and rejects otherwise', async () => {
    const [early, late] = [new Sender(), new Sender()];
    early.reject(new Error('closed'));
    expect(() => early.result()).toThrow('closed');
    const result = late.result();
    late.reject(new Error('closed'));
    await expect(result).rejects.toThrow('closed');
  });
});
