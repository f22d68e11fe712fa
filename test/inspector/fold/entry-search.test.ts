import { describe, expect, it } from 'vitest';
import { createEntrySearch } from '../../../inspector/fold/entry-search.ts';
import { entryLine } from '../../../inspector/ui-state/entry-line.ts';
import type { JournalEntry } from '../../../machines/contracts/journal.ts';
import { folded, randomRuns } from '../../support/inspector/inspected-runs.ts';

const runs = await randomRuns(16, 13);
const shown = { fold: folded([]).fold, charts: null, run: { kind: 'run' } } as const;
const HIDDEN = /[\p{Cc}\u200b-\u200f\u2028-\u202e\u2066-\u2069]/u;

describe('the summary of an entry', () => {
  it('is one short printable line for every entry type', () => {
    for (const entries of runs)
      for (const entry of entries) {
        const line = entryLine(entry, shown);
        expect(line.length).toBeLessThanOrEqual(200);
        expect(line).not.toMatch(HIDDEN);
      }
  });

  it('shows what is present, even of a malformed entry', () => {
    const odd = { seq: 1, atMs: 2, type: 'decision', decision: null, word: 'a\u202eb' } as unknown as JournalEntry;
    expect(entryLine(odd, shown)).toBe('decision null, word a‹U+202E›b');
    const unknown = { seq: 1, atMs: 2, type: 'of-tomorrow', count: 3 } as unknown as JournalEntry;
    expect(entryLine(unknown, shown)).toBe('count 3');
  });

  it('uses the singular for a count of one', () => {
    const told = (facts: object) => entryLine({ seq: 1, atMs: 2, ...facts } as unknown as JournalEntry, shown);
    const usage = { modelCalls: 1, inputTokens: 1_200, outputTokens: 34 };
    expect(told({ type: 'end', status: 'done', summary: { status: 'completed', usage } })).toBe(
      'completed, 1 model call, 1,234 tokens',
    );
    expect(told({ type: 'consent-asked', request: { items: [{}] } })).toBe('1 message to be shortened or removed');
  });

  it('of a capability that starts states the number of its call', () => {
    const start = { type: 'capability-start', id: 'c2', capability: 'look', index: 2, arguments: {} } as const;
    expect(entryLine({ seq: 1, atMs: 2, ...start }, shown)).toBe('look, call 2');
  });

  it('of an attachment states what it is, without its bytes', () => {
    const file = { digest: 'd1', mediaType: 'image/png', name: 'a.png', bytes: 34_210, data: 'iVBORw0KGgo=' };
    expect(entryLine({ seq: 1, atMs: 2, type: 'attachment', ...file }, shown)).toBe(
      'a.png (image/png, 34 kB), digest d1',
    );
  });

  it('of a transition states source, target, event, and the input of each guard', () => {
    const [run = []] = runs.filter((entries) => entries.some(({ type }) => type === 'decision'));
    const asked = run.find(
      (entry) =>
        entry.type === 'transition' && entry.candidates.some(({ guard, result }) => guard && result === 'taken'),
    );
    if (asked?.type !== 'transition') throw new Error('no guard held');
    const taken = asked.candidates.find(({ guard, result }) => guard && result === 'taken');
    const whole = entryLine(
      { ...asked, candidates: taken === undefined ? [] : [{ ...taken, inputs: { seen: 2 } }] },
      shown,
    );
    expect(whole).toMatch(
      new RegExp(`^${asked.machine}: .*${lastName(asked.source)} › .*${lastName(asked.target[0] ?? '')}, on `, 'u'),
    );
    expect(whole).toContain(`; ${taken?.guard} held (seen 2)`);
  });
});

it('of an actor has the words of its trace: the call that ended, the delay of a timer', () => {
  const actors = [{ path: '/0.order.paying', name: 'pay', machine: null }];
  const lineOf = (entry: object) =>
    entryLine(entry as never, { ...shown, fold: { actors }, run: { kind: 'system' } } as never);
  const candidates = [{ guard: 'inline', result: 'taken', inputs: null }];
  const move = { machine: 'order', source: 'order.paying', target: ['order.paid'], actor: '', candidates };
  expect(lineOf({ type: 'transition', event: 'xstate.done.actor.0.order.paying', ...move })).toBe(
    'order: order.paying › order.paid, on pay finished; an unnamed guard held',
  );
  expect(lineOf({ type: 'timer-start', event: 'xstate.after.259200000.order.asking', dueMs: 259_200_000 })).toBe(
    'timer after 3 d, due 3 d after the start',
  );
});

const lastName = (id: string): string => id.slice(id.lastIndexOf('.') + 1);

describe('a search', () => {
  const searched = (entries: readonly JournalEntry[], asked: string, slices = false): readonly number[] => {
    const { log, fold } = folded(entries);
    const search = createEntrySearch(log, fold.entries, asked);
    let turns = 0;
    while (!search.advance(entries.length, () => slices)) turns += 1;
    if (slices) expect(turns).toBe(Math.ceil(entries.length / 64) - 1);
    expect(search.reached).toBe(entries.length);
    return search.found;
  };
  const holding = (entries: readonly JournalEntry[], text: string): readonly number[] =>
    entries.filter((entry) => JSON.stringify(entry).toLowerCase().includes(text)).map(({ seq }) => seq);

  it('finds the same entries as a scan of every line, ignoring case, at once and in slices', () => {
    for (const entries of runs.slice(0, 3))
      for (const text of ['ATTEMPT', 'a.md', '(', 'it is so', 'zzz']) {
        expect(searched(entries, text)).toEqual(holding(entries, text.toLowerCase()));
        expect(searched(entries, text, true)).toEqual(searched(entries, text));
      }
  });

  it('filters by several entry types and by text', () => {
    const [entries = []] = runs;
    const ofKind = (kinds: readonly string[]) =>
      entries.filter(({ type }) => kinds.some((kind) => type.startsWith(kind))).map(({ seq }) => seq);
    expect(searched(entries, 'type:phase-start')).toEqual(ofKind(['phase-start']));
    expect(searched(entries, 'TYPE:phase type:decision ')).toEqual(ofKind(['phase', 'decision']));
    expect(searched(entries, 'type:transition yield')).toEqual(
      ofKind(['transition']).filter((seq) => holding(entries, 'yield').includes(seq)),
    );
  });

  it('finds text with quotes and line breaks as written', () => {
    const entry = { seq: 0, atMs: 0, type: 'text-delta', attemptId: 'a', text: 'he said "So?"\nand\\or $1' } as const;
    for (const asked of ['"so?"', 'said "So?"\nAND', 'and\\or $1']) expect(searched([entry], asked)).toEqual([0]);
    expect(searched([entry], '"so!"')).toEqual([]);
  });
});
