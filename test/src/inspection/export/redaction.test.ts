import { describe, expect, it } from 'vitest';
import type { JournalEntry } from '../../../../machines/contracts/journal.ts';
import { redacted, redactionOf, redactionsIn } from '../../../../src/inspection/redaction.ts';
import { type StateChange, withChanges } from '../../../../src/inspection/state-changes.ts';
import type { StateFrame } from '../../../../src/inspection/wire.ts';
import { startScripted } from '../../../support/run-chain.ts';

const { run } = startScripted();
await run.answer;
const [start] = run.entries;

/** A journal with these values. */
const journalWith = (output: unknown, host: unknown = null) =>
  [
    { ...start, product: { ...Object(start).product, host } },
    {
      seq: 1,
      atMs: 0,
      type: 'activity-event',
      activity: 0,
      source: 'capability',
      actor: '',
      event: { type: 'done', output },
    },
    {
      seq: 2,
      atMs: 0,
      type: 'transition',
      actor: '',
      machine: 'messages',
      event: 'e',
      source: 'messages',
      target: [],
      candidates: [],
    },
  ] as unknown as readonly JournalEntry[];

const hidden = (pattern: string, ...journal: Parameters<typeof journalWith>) =>
  JSON.stringify(redacted(journalWith(...journal), redactionOf([pattern])));

describe('redaction', () => {
  it('covers members named type that are not part of the journal format', () => {
    const journal = [{ type: 'sk-secret', deep: [{ type: 'sk-secret' }] }, { type: 'sk-secret' }] as const;
    expect(hidden('sk-secret', ...journal)).not.toContain('sk-secret');
  });

  it('covers member names chosen by a program, a model, or a tool', () => {
    const shown = hidden('sk-secret', { 'sk-secret': [{ 'is sk-secret': true }] }, { 'sk-secret': 1 });
    expect(shown).not.toContain('sk-secret');
  });

  it('keeps the state names that the charts need', () => {
    expect(hidden('messages', 'messages')).toContain('"source":"messages"');
  });

  it.each(['Ed', 'Yield', 'US', 'action'])('keeps the names that the format defines if they contain %s', (name) => {
    const journal = redacted(run.entries, redactionOf([name, 'is it so']));
    const types = (entries: readonly JournalEntry[]) =>
      entries.map((entry) => [entry.type, 'phase' in entry && entry.phase]);
    expect(types(journal)).toEqual(types(run.entries));
    expect(JSON.stringify(journal)).not.toMatch(/is it so/iu);
  });

  it.each([
    ['Ärger "oben"', JSON.stringify({ said: 'Ärger "oben"' })],
    ['Ärger "oben"', '{"said":"\\u00c4rger \\"oben\\""}'],
    ['ärger "OBEN"', '{"said":"\\u00c4rger \\"oben\\""}'],
    ['Ärger "oben"', JSON.stringify({ inside: JSON.stringify({ said: 'Ärger "oben"' }) })],
    ['one\ntwo', JSON.stringify('one\ntwo')],
    ['C:\\Users\\max', JSON.stringify('C:\\Users\\max')],
    ['a/b', '"a\\/b"'],
  ])('covers JSON in strings, as in replies: %j in %s', (pattern, text) => {
    const after = redactionOf([pattern])(text);
    expect(after).toContain('[redacted]');
    expect(after).not.toMatch(/rger|two|max|b"/u);
  });

  it('covers the matches of a regular expression with its flags, however they are written', () => {
    expect(redactionOf(['/SK-\\w+/gi'])('sk-one and sk-two')).toBe('[redacted] and [redacted]');
    expect(redactionOf(['/a./s'])('a\n')).toBe('[redacted]');
  });

  it('treats a path literally, although it looks like a regular expression', () => {
    expect(redactionOf(['/home/sim'])('in /home/sim/x')).toBe('in [redacted]/x');
    expect(redactionOf(['/home/gus/x'])('in /home/gus/x')).toBe('in [redacted]');
  });

  it('leaves out streamed text on the page of an actor, where a secret may be split', () => {
    const note = { type: 'text-delta', attemptId: '1', text: 'sk-sec' } as const;
    const entry = { seq: 0, atMs: 0, type: 'note', note, activity: 0 } as const;
    const [shown] = redacted([{ type: 'page', seq: 0, entry }], redactionOf(['sk-secret']));
    expect(shown).toEqual({ type: 'page', seq: 0, entry: { ...entry, note: { ...note, text: '' } } });
  });

  it('hides all of the program on the page of an actor, and keeps the members that the page reads', () => {
    const actor = { started: 4, chart: 'sk-1', initial: ['sk-1.a'], leaves: ['sk-1.a'], moved: 4, end: null };
    const context = { end: { status: 'sk-2' }, started: 4, 'sk-3': ['sk-4'] };
    const state = { '/sk-5': { ...actor, context } };
    const end = { status: 'done' as const, output: { end: { status: 'sk-6' } } };
    const changes = [
      { path: ['/sk-5', 'end'], value: end },
      { path: ['/sk-5', 'end', 'status'], value: 'done' },
      { path: ['/sk-5', 'context', 'sk-3', 0], value: 'sk-7' },
      { path: ['/sk-5'], value: { ...actor, context } },
    ];
    const event = { type: 'P', 'sk-8': 1, data: { 'sk-9': 4 } };
    const entry = { seq: 1, atMs: 0, type: 'delivery', actor: '', event } as const;
    const page = [{ frame: { seq: 0, state } }, { frame: { seq: 1, changes } }, { entry }] as const;
    const shared = page.map((one, seq) => ({ type: 'page' as const, seq, ...one }));
    const shown = JSON.stringify(redacted(shared, redactionOf(['sk-', '4', 'status', 'end', 'type', 'data'])));
    expect(shown).not.toMatch(/sk-/u);
    const place = '[redacted]';
    expect(JSON.parse(shown)).toMatchObject([
      { frame: { state: { [`/${place}5`]: { started: 4, moved: 4, end: null, context: { started: place } } } } },
      { frame: { changes: [{ value: { status: 'done' } }, { value: 'done' }, {}, { value: { started: 4 } }] } },
      { entry: { event: { type: 'P', data: {} } } },
    ]);
  });

  it('keeps the structure of the page of an actor if a pattern hides all its texts', () => {
    const actor = { started: 0, chart: 'm', initial: ['m.a'], leaves: ['m.a'], moved: null, end: null };
    const frames = [
      { seq: 0, state: { '': { ...actor, context: { cents: 9_900, items: ['x'] } } } },
      {
        seq: 1,
        changes: [
          { path: ['', 'context', 'items'], at: 1, removed: 0, added: ['y'] },
          { path: ['', 'context', 'items', 0], value: 'z' },
          { path: ['', 'leaves', 0], value: 'm.b' },
        ],
      },
    ];
    const shared = frames.map((frame, seq) => ({ type: 'page' as const, seq, frame: frame as StateFrame }));
    const [first, next] = redacted(shared, redactionOf(['/.+/'])).map((entry) =>
      'frame' in entry ? entry.frame : null,
    );
    const { state, changes } = { ...first, ...next } as { state: unknown; changes: readonly StateChange[] };
    const { leaves, context } =
      (withChanges(state, changes) as Record<string, typeof actor & { context: object }>)[''] ?? {};
    expect(Object.values(context ?? {})).toEqual(['[redacted]', ['[redacted]', '[redacted]']]);
    expect(leaves).toHaveLength(1);
    expect(leaves).not.toEqual((state as Record<string, typeof actor>)['']?.leaves);
    expect(JSON.stringify([state, changes])).not.toMatch(/9900|cents|items|"[xyz]"|m\.[ab]/u);
  });

  it('lists what it would remove, names included', () => {
    const found = [...redactionsIn(journalWith({ 'sk-secret': 1 }), redactionOf(['sk-secret']))];
    expect(found).toEqual([
      { seq: 1, path: 'activity-event.event.output.sk-secret', before: 'sk-secret', after: '[redacted]' },
    ]);
  });
});
