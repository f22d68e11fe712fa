import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RunLog } from '../../../inspector/wire/run-log.ts';
import { readEntry, storedEntry } from '../../../src/chain/journal/stored-entries.ts';

const lineOf = (seq: number): string =>
  JSON.stringify({ seq, atMs: seq * 2, type: 'text-delta', attemptId: 'a', text: '…' });
const lines = (count: number): readonly string[] => Array.from({ length: count }, (_, seq) => lineOf(seq));

describe('the run log', () => {
  it('yields every entry once as it arrives, and any entry on request', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(300), { maxLength: 8 }), fc.array(fc.nat(2_000)), (cuts, asked) => {
        const log = new RunLog();
        const heard: number[] = [];
        const all = lines(cuts.reduce((sum, cut) => sum + cut, 0));
        let from = 0;
        for (const cut of cuts) {
          log.add(all.slice(from, from + cut), ({ seq }) => heard.push(seq));
          from += cut;
        }
        expect(heard).toEqual(all.map((_, seq) => seq));
        expect(log.count).toBe(all.length);
        for (const seq of asked.filter((at) => at < all.length)) expect(JSON.stringify(log.entry(seq))).toBe(all[seq]);
      }),
    );
  });

  it('reads entries in the format of stored journals', () => {
    const log = new RunLog();
    const stored = lines(3).map((line) => JSON.stringify(storedEntry(JSON.parse(line))));
    expect(stored).not.toEqual(lines(3));
    log.add(stored, () => {}, readEntry);
    expect([0, 1, 2].map((seq) => JSON.stringify(log.entry(seq)))).toEqual(lines(3));
    log.add(['{"seq":3,"atMs":0,"type":"note","note":7}'], () => {}, readEntry);
    expect(log.problem).toMatch(/^Entry 3 cannot be read/u);
  });

  it('ends before an entry that a fold rejects', () => {
    const log = new RunLog();
    log.add(lines(5), ({ seq }) => {
      if (seq === 3) throw new TypeError('no such member');
    });
    expect(log.count).toBe(3);
    expect(log.problem).toMatch(/^Entry 3 cannot be read/u);
  });

  it.each([
    ['is not JSON', '{"seq":1,'],
    ['is null', 'null'],
    ['is a number', '7'],
    ['has a wrong position', lineOf(2)],
    ['has no time', '{"seq":1,"type":"answer"}'],
    ['has no type', '{"seq":1,"atMs":0}'],
  ])('ends before a line that %s and reports its number', (_, line) => {
    const log = new RunLog();
    const heard: number[] = [];
    log.add([lineOf(0), line, lineOf(2)], ({ seq }) => heard.push(seq));
    log.add([lineOf(1)], ({ seq }) => heard.push(seq));
    expect(heard).toEqual([0]);
    expect(log.count).toBe(1);
    expect(log.problem).toMatch(/^Entry 1 cannot be read/);
  });
});
