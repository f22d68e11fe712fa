import { describe, expect, it } from 'vitest';
import {
  actorText,
  ageText,
  closestTo,
  countedViews,
  dueText,
  durationOf,
  earlierFirst,
  parseRunQuery,
  printRunQuery,
  queriedRuns,
  shownColumns,
  statusWords,
  waitedText,
  waitsText,
  withColumn,
  withView,
} from '../../../inspector/fold/run-list.ts';
import type { InspectedRun, RunFigures } from '../../../src/inspection/wire.ts';

const FIGURES: RunFigures = {
  rule: 'confidenceReached',
  explanation: '',
  reason: null,
  answer: 'It is so.',
  unsupported: null,
  phase: null,
  waitingFor: null,
  tokens: { input: 10, output: 2, estimated: false },
  cost: null,
  durationMs: 100,
  clockStartMs: null,
  models: ['gpt-one'],
  confidence: 0.9,
  sessionId: null,
};

/** The filters that accept a run. */
const viewsOf = (run: InspectedRun) => countedViews([run], NOW_MS).map(([view]) => view);

function aRun(runId: string, changes: Partial<InspectedRun> = {}, figures: Partial<RunFigures> = {}): InspectedRun {
  return {
    runId,
    kind: 'run',
    title: `Question ${runId}`,
    startedAt: '',
    status: 'completed',
    live: false,
    fidelity: [],
    summary: { ...FIGURES, ...figures },
    ...changes,
  };
}

const day = (number: number) => ({ startedAt: `2026-01-0${number}T00:00:00.000Z` });

const NOW_MS = Date.parse('2026-01-04T12:00:00.000Z');

const runs: readonly InspectedRun[] = [
  aRun('a', { ...day(1), title: 'Where is the bridge?' }, { cost: { amount: 2, currency: 'EUR' } }),
  aRun('b', { ...day(3), status: 'interrupted' }, { sessionId: 'trip', models: ['gpt-two'], rule: null }),
  aRun('c', { ...day(2), summary: null, kind: 'system', machine: 'order', attributes: { customer: 'c-1' } }),
  aRun(
    'd',
    { ...day(4), status: 'running', forkedFrom: { runId: 'a', seq: 3 } },
    { cost: { amount: 0.5, currency: 'EUR' }, models: ['x', 'gpt-two'], waitingFor: 'approval', answer: 'Over there.' },
  ),
];
const idsFor = (parameters: Record<string, string>): string =>
  queriedRuns(runs, parseRunQuery(parameters), NOW_MS)
    .map(({ runId }) => runId)
    .join('');

describe('the list of runs', () => {
  it.each([
    [{}, 'dbca'],
    [{ sort: 'started' }, 'acbd'],
    [{ sort: '-started' }, 'dbca'],
    [{ sort: '-cost' }, 'adbc'],
    [{ sort: 'cost' }, 'dabc'],
    [{ sort: 'nothing' }, 'dbca'],
    [{ q: 'BRIDGE where' }, 'a'],
    [{ q: 'gpt-two trip' }, 'b'],
    [{ q: 'over there' }, 'd'],
    [{ q: 'nowhere' }, ''],
    [{ status: 'interrupted' }, 'b'],
    [{ status: 'running' }, ''],
    [{ status: 'waiting' }, ''],
    [{ session: 'trip' }, 'b'],
    [{ model: 'gpt-two' }, 'db'],
    [{ status: 'for-you' }, 'd'],
    [{ machine: 'order' }, 'c'],
    [{ machine: 'any-actor' }, 'c'],
    [{ machine: 'any-run' }, 'dba'],
    [{ q: 'order' }, 'c'],
    [{ q: 'customer=c-1' }, 'c'],
    [{ since: '24h' }, 'd'],
    [{ since: '7d' }, 'dbca'],
  ])('is searched, filtered and sorted as the address says, unknown values last: %j', (parameters, ids) => {
    expect(idsFor(parameters)).toBe(ids);
  });

  it('does not count a run among those that wait for you if only its program can answer', () => {
    const asks = aRun('a', { status: 'waiting', blocked: 'Resume it in its program.' }, { waitingFor: 'approval' });
    expect(viewsOf(asks)).toEqual(['for-its-program']);
    expect(statusWords(asks)).toMatchObject({ detail: 'waits for its program', tone: 'plain' });
  });

  it('begins with the runs that wait for you, are due, wait for their program or failed within a day, in the default order only', () => {
    const asks = aRun('a', { ...day(1), status: 'waiting' }, { waitingFor: 'direction' });
    const waiting = { sinceMs: 0, dueAtMs: NOW_MS, events: [], approvals: [] };
    const due = aRun('b', { ...day(2), kind: 'system', status: 'waiting', summary: null, waiting });
    const elsewhere = aRun('e', { ...day(4), status: 'waiting', blocked: 'Elsewhere.' }, { waitingFor: 'approval' });
    const failed = ([1, 4] as const).map((of) =>
      aRun(`f${of}`, { ...day(of), kind: 'system', status: 'degraded', summary: null }),
    );
    const late = { ...day(1), kind: 'system', status: 'degraded', summary: null } as const;
    const ending = { states: '', failure: 'error', durationMs: 3 * 8.64e7 };
    const failedLate = aRun('fl', { ...late, ending });
    const all = [aRun('c', day(3)), aRun('d', day(4)), ...failed, failedLate, elsewhere, due, asks];
    const order = (parameters: Record<string, string>) =>
      queriedRuns(all, parseRunQuery(parameters), NOW_MS).map(({ runId }) => runId);
    expect(order({})).toEqual(['a', 'b', 'e', 'f4', 'fl', 'd', 'c', 'f1']);
    expect(order({ sort: '-started' })[0]).toBe('d');
    expect(order({ sort: '-title' })).toEqual(['fl', 'f4', 'f1', 'e', 'd', 'c', 'b', 'a']);
  });

  it('is written to the address as it was read, without what is as at first', () => {
    const parameters = {
      q: 'a b',
      status: 'completed',
      session: 's',
      model: 'm',
      machine: 'order',
      since: '7d',
      columns: 'cost,due',
      sort: '-cost',
    };
    expect(printRunQuery(parseRunQuery(parameters))).toEqual(parameters);
    expect(printRunQuery(parseRunQuery({}))).toEqual({});
  });

  const columnsFor = (all: readonly InspectedRun[], parameters: Record<string, string> = {}) =>
    shownColumns(all, parseRunQuery(parameters)).join();

  it('has only the columns that most runs fill, and models only if they differ', () => {
    expect(columnsFor([aRun('a', day(1)), aRun('b')])).toBe('title,status,duration,tokens,started');
    expect(columnsFor([aRun('s', { ...day(1), kind: 'system', summary: null })])).toBe('title,status,started');
    expect(columnsFor(runs)).toBe('title,status,duration,tokens,cost,model,started');
  });

  it('has the chosen columns, the required ones, and the one that it is sorted by', () => {
    expect(columnsFor(runs, { columns: 'due,nothing,tokens', sort: 'cost' })).toBe('title,status,due,tokens,cost');
    const query = parseRunQuery({ columns: 'cost,started' });
    const added = withColumn(query, shownColumns(runs, query), 'machine');
    expect(added.columns).toBe('cost,machine,started');
    const removed = withColumn(added, shownColumns(runs, added), 'started');
    expect(columnsFor(runs, printRunQuery(removed))).toBe('title,status,cost,machine');
  });

  it('sorts by the longest wait under the filter for waits, and by the newest start without it', () => {
    const asked = withView(parseRunQuery({}), 'for-you');
    expect(printRunQuery(asked)).toEqual({ status: 'for-you', sort: '-waiting' });
    expect(printRunQuery(withView(asked, ''))).toEqual({});
    expect(printRunQuery(withView(parseRunQuery({ sort: 'cost' }), 'failed'))).toEqual({
      status: 'failed',
      sort: 'cost',
    });
  });
});

describe('an actor that waits', () => {
  const MINUTE = 60_000;
  const approval = { id: 'q', digest: '', question: { pay: 80, to: 'Ada' }, askedAtMs: NOW_MS };
  const waiting = { sinceMs: NOW_MS - 16 * MINUTE, dueAtMs: NOW_MS + 125 * MINUTE, events: ['cancel'], approvals: [] };
  const actor = (
    changes: Partial<NonNullable<InspectedRun['waiting']>> = {},
    status: InspectedRun['status'] = 'waiting',
  ) =>
    aRun('a-1', {
      title: 'a-1',
      kind: 'system',
      machine: 'order',
      status,
      summary: null,
      waiting: { ...waiting, ...changes },
    });

  it('shows what it waits for, how long it has waited, and when its delay ends', () => {
    expect(waitedText(actor(), NOW_MS)).toBe('16 min');
    expect(waitsText(actor(), NOW_MS)).toBe('waits 16 min');
    expect(waitsText(actor({ sinceMs: NOW_MS }), NOW_MS)).toBe('waits < 1 min');
    expect(shownColumns([actor()], parseRunQuery({}))).toContain('duration');
    expect(dueText(actor(), NOW_MS)).toBe('due in 2 h 5 min');
    expect(dueText(actor({ dueAtMs: NOW_MS + 14 * 24 * 60 * MINUTE - 20 }), NOW_MS)).toBe('due in 14 d');
    expect(dueText(actor({ dueAtMs: NOW_MS + 20_000 }), NOW_MS)).toBe('due in less than 1 min');
    expect(actorText({ ...actor({ approvals: [approval] }), title: 'Umbrella' })).toBe(
      'a-1 · approval of pay: 80, to: Ada · also accepts cancel · actor of order',
    );
  });

  it('is due if no process has continued it after its delay', () => {
    const late = { dueAtMs: NOW_MS - 5 * MINUTE };
    expect(dueText(actor(late), NOW_MS)).toBe('due 5 min ago');
    expect(viewsOf(actor(late))).toEqual(['due']);
    expect(viewsOf(actor(late, 'running'))).toEqual(['running']);
  });

  it('waits for a person while an approval is open, until it has ended', () => {
    const asking = actor({ approvals: [approval] });
    expect(statusWords(asking)).toMatchObject({ label: 'waiting for approval', tone: 'asks' });
    expect(viewsOf(asking)).toEqual(['for-you']);
    expect(viewsOf(actor({ approvals: [approval] }, 'degraded'))).toEqual(['failed']);
    expect(waitedText(actor({}, 'cancelled'), NOW_MS)).toBeNull();
  });

  it('is found by its id, its machine and what it waits for', () => {
    const all = [{ ...actor({ approvals: [approval] }), title: 'Umbrella' }, actor()];
    for (const q of ['umbrella a-1', 'order ada', 'approval'])
      expect(queriedRuns(all, parseRunQuery({ q }), NOW_MS)).toEqual([all[0]]);
  });

  it('is counted before those that failed and those that need no person', () => {
    const all = [aRun('r'), actor(), actor({ approvals: [approval] }), actor({}, 'degraded')];
    expect(countedViews(all, NOW_MS)).toEqual([
      ['for-you', 1],
      ['failed', 1],
      ['waiting', 1],
      ['completed', 1],
    ]);
  });

  it('has its question in full as a text, and other values as JSON', () => {
    const asks = (question: unknown) =>
      actorText(actor({ approvals: [{ ...approval, question: question as never }], events: [] }));
    expect(asks('Pay Ada?')).toBe('approval of Pay Ada? · actor of order');
    expect(asks([1, { a: null }])).toBe('approval of [1, {"a": null}] · actor of order');
    expect(asks(null)).toBe('approval of null · actor of order');
  });
});

describe('a system of another program', () => {
  it('ends in a state, whatever that means, and has a duration', () => {
    const ending = { states: 'canceled', failure: 'charge failed: card declined', durationMs: 300 };
    const system = aRun('s', { kind: 'system', summary: null, ending });
    expect(statusWords(system)).toMatchObject({ text: 'completed', tone: 'ok' });
    expect(durationOf(system, 0)).toBe(300);
  });
});

describe('the status of a run, in words', () => {
  it.each([
    ['completed, confidence 0.95', aRun('a', {}, { confidence: 0.95, unsupported: 0 })],
    ['completed, partly unsupported, confidence 0.50', aRun('a', {}, { confidence: 0.5, unsupported: 2 })],
    ['degraded: tool failed', aRun('a', { status: 'degraded' }, { reason: 'capability_failed' })],
    [
      'degraded: unsupported, confidence 0.30',
      aRun('a', { status: 'degraded' }, { reason: 'not_grounded', confidence: 0.3 }),
    ],
    ['degraded: a phase has no result', aRun('a', { status: 'degraded' }, { reason: 'incomplete_state' })],
    ['degraded: loop detected', aRun('a', { status: 'degraded' }, { reason: 'loop_detected' })],
    ['waiting for approval', aRun('a', { status: 'running' }, { waitingFor: 'approval', phase: 'action' })],
    ['waiting for a direction', aRun('a', { status: 'waiting' }, { waitingFor: 'direction' })],
    ['running in Experience', aRun('a', { status: 'running' }, { phase: 'experience' })],
    ['running', aRun('a', { status: 'running', summary: null })],
    ['interrupted, last entry after 100 ms', aRun('a', { status: 'interrupted' })],
    ['interrupted, waiting for approval', aRun('a', { status: 'interrupted' }, { waitingFor: 'approval' })],
    ['waiting', aRun('a', { kind: 'system', status: 'running', summary: null, isIdle: true })],
    ['completed', aRun('a', { kind: 'system', status: 'completed', summary: null })],
    ['disconnected', aRun('a', { status: 'disconnected', summary: null })],
  ])('%s', (text, run) => {
    expect(statusWords(run).text).toBe(text);
  });
});

it('counts the time of a run in progress up to now', () => {
  const nowMs = Date.parse('2026-01-01T00:00:30Z');
  const clockStartMs = Date.parse('2026-01-01T00:00:00Z');
  expect(durationOf(aRun('a', { status: 'running' }, { clockStartMs }), nowMs)).toBe(30_000);
  expect(durationOf(aRun('a', {}, { clockStartMs }), nowMs)).toBe(100);
  expect(durationOf(aRun('a', { status: 'interrupted' }, { clockStartMs }), nowMs)).toBeNull();
  expect(durationOf(aRun('a', { summary: null }), nowMs)).toBeNull();
});

it.each([
  [30, 'just now'],
  [-30, 'just now'],
  [4 * 60, '4 min ago'],
  [3 * 3_600 + 100, '3 h ago'],
  [6 * 86_400, '6 d ago'],
])('writes an age of %i s as "%s"', (seconds, text) => {
  expect(ageText('2026-01-10T12:00:00Z', Date.parse('2026-01-10T12:00:00Z') + seconds * 1_000)).toBe(text);
});

it('writes older times, and those to come, as a date', () => {
  expect(ageText('2026-01-10T12:00:00Z', Date.parse('2026-01-20T12:00:00Z'))).toBe('Jan 10');
  expect(ageText('2026-01-10T12:00:00Z', Date.parse('2026-01-09T12:00:00Z'))).toBe('Jan 10');
  expect(ageText('no time', 0)).toBeNull();
});

describe('the runs that a run can be compared with', () => {
  const original = aRun('original', { ...day(1), title: 'Why?' });
  const all = [
    original,
    aRun('fork', { ...day(2), title: 'Other', forkedFrom: { runId: 'original', seq: 3 } }),
    aRun('same', { ...day(3), title: 'Why?' }),
    aRun('new', { ...day(9) }),
    aRun('damaged', { ...day(9), status: 'damaged' }),
    aRun('system', { ...day(9), kind: 'system' }),
  ];

  it('is its fork or original, else one with the same question, else none; never a damaged run or a system', () => {
    const order = ['fork', 'same', undefined];
    for (const [at, expected] of order.entries())
      expect(
        closestTo(
          original,
          all.filter(({ runId }) => !order.slice(0, at).includes(runId)),
        )?.runId,
      ).toBe(expected);
    expect(closestTo(aRun('x', { forkedFrom: { runId: 'original', seq: 1 } }), all)).toBe(original);
  });

  it('is compared with the earlier one first', () => {
    const late = aRun('late', day(9));
    expect([earlierFirst(late, original), earlierFirst(original, late)]).toEqual(Array(2).fill(['original', 'late']));
  });
});
