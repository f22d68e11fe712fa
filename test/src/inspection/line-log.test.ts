import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { lineLog, type SourceSink } from '../../../src/inspection/source.ts';
import { settle } from '../../support/run-chain.ts';

/** A follower that records what it receives and accepts a limited amount. */
function aSink(room: () => Promise<void> = async () => {}) {
  const got: string[] = [];
  const frames: number[] = [];
  const ends: (string | null)[] = [];
  const sink: SourceSink = {
    async lines(lines) {
      got.push(...lines);
      frames.push(lines.length);
      await room();
    },
    states: async () => {},
    charts: () => {},
    end: (problem) => void ends.push(problem),
  };
  return { sink, got, frames, ends };
}

describe('a growing line log', () => {
  it('sends every follower the lines from its position on, once and in order, and the end', async () => {
    const steps = fc.array(
      fc.oneof(
        fc.record({ kind: fc.constant('add' as const), count: fc.nat(30) }),
        fc.record({ kind: fc.constant('follow' as const), from: fc.nat(60) }),
        fc.record({ kind: fc.constant('stop' as const), which: fc.nat(5) }),
        fc.record({ kind: fc.constant('turn' as const) }),
      ),
      { maxLength: 40 },
    );
    await fc.assert(
      fc.asyncProperty(steps, async (plan) => {
        const entries: { readonly seq: number }[] = [];
        const log = lineLog(entries);
        const followers: (ReturnType<typeof aSink> & { from: number; stop: () => void; atStop: number | null })[] = [];
        for (const step of plan) {
          if (step.kind === 'add') {
            for (let count = 0; count < step.count; count += 1) entries.push({ seq: entries.length });
            log.notify();
          } else if (step.kind === 'follow') {
            const sink = aSink();
            followers.push({ ...sink, from: step.from, stop: log.follow(step.from, sink.sink), atStop: null });
          } else if (step.kind === 'stop') {
            const follower = followers[step.which];
            follower?.stop();
            if (follower !== undefined) follower.atStop ??= follower.got.length;
          } else await settle(1);
        }
        log.end('over');
        await settle(3);
        for (const { from, got, ends, atStop } of followers) {
          const due = entries.slice(from).map((entry) => JSON.stringify(entry));
          expect(got).toEqual(due.slice(0, atStop ?? due.length));
          expect(ends).toEqual(atStop === null ? ['over'] : []);
        }
      }),
      { numRuns: 200 },
    );
  });

  it('serializes an entry once for any number of followers, and not at all without followers', async () => {
    let made = 0;
    const entries: object[] = [];
    const log = lineLog(entries);
    const add = (): void => {
      entries.push({ toJSON: () => (made += 1) });
      log.notify();
    };
    add();
    await settle(2);
    expect(made).toBe(0);
    const [one, other] = [aSink(), aSink()];
    const stops = [one, other].map(({ sink }) => log.follow(0, sink));
    add();
    await settle(2);
    expect([one.got, other.got, made]).toEqual([['1', '2'], ['1', '2'], 2]);
    for (const stop of stops) stop();
  });

  it('batches the entries of one tick and splits large batches into frames', async () => {
    const entries: string[] = [];
    const log = lineLog(entries);
    const { sink, frames } = aSink();
    log.follow(0, sink);
    for (let count = 0; count < 50; count += 1) {
      entries.push('so');
      log.notify();
    }
    await settle(2);
    expect(frames).toEqual([50]);
    for (let count = 0; count < 10; count += 1) entries.push('x'.repeat(100_000));
    log.notify();
    await settle(2);
    expect(frames).toEqual([50, 3, 3, 3, 1]);
  });

  it('waits only for the follower that is slow', async () => {
    const entries = Array.from({ length: 12 }, () => 'x'.repeat(100_000));
    const log = lineLog(entries);
    const slow = aSink(() => new Promise(() => {}));
    const quick = aSink();
    for (const { sink } of [slow, quick]) log.follow(0, sink);
    log.end();
    await settle();
    expect([slow.frames, slow.ends]).toEqual([[3], []]);
    expect([quick.frames, quick.ends]).toEqual([[3, 3, 3, 3], [null]]);
  });
});
