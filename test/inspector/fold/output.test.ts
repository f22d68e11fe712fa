import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type AttemptAt, attemptAt, fieldsOf, issuesByPlace, replyAt } from '../../../inspector/fold/output.ts';
import type { Spans } from '../../../inspector/fold/spans.ts';
import type { RunLog } from '../../../inspector/wire/run-log.ts';
import type { JournalEntry } from '../../../machines/contracts/journal.ts';
import { failingRun, folded, inSmallPieces, recordedEntries } from '../../support/inspector/inspected-runs.ts';
import { jsonOf } from '../../support/inspector/partial-value.ts';

const entries = inSmallPieces(recordedEntries(await failingRun()));

/** Reads the text of the last attempt up to an entry directly from the entries. */
function saidBy(at: number): string {
  const upTo = entries.slice(0, at + 1);
  const start = upTo.findLastIndex(({ type }) => type === 'attempt-start');
  return upTo
    .slice(start)
    .map((entry) => (entry.type === 'text-delta' ? entry.text : ''))
    .join('');
}

/** The attempts at the latest reply, up to an entry. */
function attemptsAt({ attempts }: Spans, at: number): readonly AttemptAt[] {
  const started = attempts.filter(({ from }) => from <= at);
  return started.filter(({ attemptId }) => attemptId === started.at(-1)?.attemptId).map((span) => attemptAt(span, at));
}

const statusAt = (attempts: readonly AttemptAt[]): readonly string[] =>
  attempts.map(({ span, status }) => `${span.attempt} ${status}`);

describe('the output view', () => {
  it('shows at each entry what had arrived by then, in any order of access', () => {
    const { log, fold } = folded(entries);
    fc.assert(
      fc.property(fc.array(fc.nat(entries.length - 1), { minLength: 1, maxLength: 20 }), (places) => {
        for (const at of places) {
          const span = attemptsAt(fold.spans, at).at(-1)?.span;
          if (span !== undefined) expect(replyAt(log, span, at).text()).toBe(saidBy(at));
        }
      }),
    );
  });

  it('ends with the value that the engine accepted, for every attempt', () => {
    const { log, fold } = folded(entries);
    let compared = 0;
    for (const span of fold.spans.attempts) {
      const reply = span.reply === null ? null : entries[span.reply];
      if (reply?.type !== 'activity-event' || reply.event.type !== 'reply.ended') continue;
      const { value } = reply.event.reply;
      const before = replyAt(log, span, (span.reply ?? 0) - 1);
      expect(jsonOf(before.value)).toEqual(value ?? undefined);
      expect(jsonOf(replyAt(log, span, span.reply ?? 0).value)).toEqual(value ?? undefined);
      compared += 1;
    }
    expect(compared).toBeGreaterThan(20);
  });

  it('reads each chunk of a reply once, forward and backward', () => {
    const { log, fold } = folded(entries);
    const fetched: number[] = [];
    const counted = {
      entry(seq: number) {
        fetched.push(seq);
        return log.entry(seq);
      },
    };
    const [span] = fold.spans.attempts.filter(({ attemptId }) => attemptId === 's7.yield');
    if (span === undefined) throw new Error('Yield was asked');
    const last = span.deltas.at(-1) ?? 0;
    const path = [...Array(last - span.from).keys()].map((step) => span.from + step + 1);
    for (const at of [...path, ...path.reverse()]) replyAt(counted as RunLog, span, at);
    expect(fetched).toEqual(span.deltas);
    expect(fetched.length).toBeGreaterThan(3);
  });

  it('groups the attempts at one value, with the reason each is void and the delays in between', () => {
    const { fold } = folded(entries);
    const [retry] = entries.filter(({ type }) => type === 'attempt-retry');
    const seq = retry?.seq ?? 0;
    expect(attemptsAt(fold.spans, seq - 1).at(-1)?.backOffMs).toBeNull();
    expect(attemptsAt(fold.spans, seq)).toMatchObject([
      { status: 'discarded', backOffMs: 2_000, failure: { code: 'server_error' } },
    ]);
    const starts = entries.filter((entry) => entry.type === 'attempt-start' && entry.attemptId === 's4.observation');
    expect(statusAt(attemptsAt(fold.spans, starts[2]?.seq ?? 0))).toEqual(['1 discarded', '2 discarded', '3 running']);
    expect(attemptsAt(fold.spans, 0)).toEqual([]);
    expect(statusAt(attemptsAt(fold.spans, entries.length - 1))).toEqual(['1 valid']);
  });

  it('marks an attempt as aborted when its phase ended first', () => {
    const start = entries.findIndex(({ type }) => type === 'text-delta');
    const [phase] = entries.filter(({ type }) => type === 'phase-end');
    if (phase === undefined) throw new Error('a phase ends');
    const cut = [...entries.slice(0, start), { ...phase, seq: start }] as readonly JournalEntry[];
    expect(statusAt(attemptsAt(folded(cut).fold.spans, start)).at(-1)).toMatch(/aborted$/u);
    expect(statusAt(attemptsAt(folded(cut).fold.spans, start - 1)).at(-1)).toMatch(/running$/u);
  });

  it('uses the whole reply when the chunks were redacted', () => {
    const redacted = entries.map((entry) => (entry.type === 'text-delta' ? { ...entry, text: '' } : entry));
    const { log, fold } = folded(redacted);
    const span = fold.spans.attempts.find(({ reply, deltas }) => reply !== null && deltas.length > 0);
    if (!span?.reply) throw new Error('a reply came');
    expect(replyAt(log, span, span.reply - 1)).toMatchObject({ value: null, isRedacted: false });
    const whole = replyAt(log, span, span.reply);
    expect(whole.isRedacted).toBe(true);
    expect(Object.keys(jsonOf(whole.value) as object)).toContain('response');
  });

  it('does not take half of a key for a field', () => {
    const goal = { name: 'goal', value: { kind: 'text', text: 'So', open: true } } as const;
    const half = { kind: 'members', open: true, members: [goal, { name: 'clar', value: null }] } as const;
    expect(fieldsOf({ ...half, members: [...half.members] }).map(({ name }) => name)).toEqual(['goal']);
    expect(fieldsOf(null)).toEqual([]);
  });

  it('shows an error at its field for any path notation', () => {
    const issues = issuesByPlace([
      { path: '', message: 'whole' },
      { path: 'items[2].price', message: 'dear' },
      { path: 'items.2.price', message: 'odd' },
    ]);
    expect(issues.whole).toEqual(['whole']);
    expect(issues.at('items.2.price')).toEqual(['dear', 'odd']);
    expect(issues.within('items').map(({ path }) => path)).toEqual(['items.2.price', 'items.2.price']);
    expect(issues.within('item')).toEqual([]);
  });
});
