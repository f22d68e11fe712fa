import { describe, expect, it } from 'vitest';
import type { JournalEntry } from '../../../machines/contracts/journal.ts';
import type { Phase } from '../../../machines/contracts/phase.ts';
import type { Pruning } from '../../../machines/contracts/phase-io.ts';
import { failureOf } from '../../../machines/policies/failures.ts';
import { NO_USAGE } from '../../../machines/policies/usage.ts';

import { createProgress } from '../../../src/cli/progress.ts';
import { createScreen } from '../../../src/cli/screen.ts';
import { replies } from '../../../src/testing/replies.ts';
import { fakeTerminal } from '../../support/terminal.ts';

type Evaluated = Extract<JournalEntry, { type: 'context-evaluated' }>;

const at = { seq: 0, atMs: 0 };
const untouched: Evaluated['statistics'] = {
  messagesBefore: 20,
  messagesAfter: 20,
  tokensBefore: 4900,
  tokensAfter: 4900,
  tokensAllowed: 8000,
  estimated: true,
  pruned: 0,
  summarized: 0,
  tokensOver: 0,
  messagesOver: 0,
};

function loss(number: number, reason = 'nothing has referred to it since cycle 1'): Pruning {
  const messageId = `p${number}`;
  const operation = number % 2 === 0 ? 'TRANSFORM' : 'PRUNE';
  return {
    operationId: `o${number}`,
    operation,
    messageId,
    role: 'search',
    preview: '',
    tokens: 9,
    relevance: 0.2,
    code: 'not_referenced',
    reason,
  };
}

function replyOf(value: unknown) {
  const usage = { inputTokens: 1, outputTokens: 1, estimated: true };
  const reply = { text: JSON.stringify(value), value, prose: false, failure: null, usage };
  return { type: 'reply.ended' as const, openedAtMs: 0, atMs: 0, chars: 1, promptChars: null, reply };
}

const CALL = { type: 'activity-start', source: 'readReply', actor: '/attempt', inputDigest: '' } as const;
const REPLY = { type: 'activity-event', source: 'readReply', actor: '/attempt' } as const;

type Progress = ReturnType<typeof createProgress>;

function progressAt(columns: number) {
  const fake = fakeTerminal(columns);
  return { fake, progress: createProgress(createScreen(fake.terminal.out)) };
}

/** Returns the progress lines of one Understanding phase. */
function shown(evaluated: Partial<Evaluated>, asked = false, earlier: (progress: Progress) => void = () => {}) {
  const { fake, progress } = progressAt(120);
  earlier(progress);
  const phase = { phase: 'understanding', cycle: 1, step: 5 } as const;
  progress({ ...at, type: 'phase-start', ...phase });
  if (asked) progress({ ...at, type: 'consent-asked', questionId: 's5.consent', request: { items: [] } });
  const { statistics = untouched, pruningLog = [], problem = null } = evaluated;
  progress({ ...at, type: 'context-evaluated', step: 5, statistics, pruningLog, problem });
  const understood = { integrated: 'It is so.', assessments: [{ messageId: 'p1', relevance: 0.2, reason: 'old' }] };
  progress({ ...at, ...CALL, activity: 5, subject: { task: 'understanding', attemptId: 's5.a1' } });
  progress({ ...at, ...REPLY, activity: 5, event: replyOf(understood) });
  progress({ ...at, type: 'phase-end', ...phase, summary: 'It is so.', failure: null, attemptId: 's5.a1' });
  progress({ ...at, type: 'phase-end', ...phase, phase: 'yield', summary: 'So.', failure: null });
  const all = fake.shown().map((line) => line.trim());
  const lines = all.slice(all.indexOf('Cycle 1'));
  expect(lines[1]).toMatch(/^understanding .*1 message rated by the model$/);
  expect(lines.at(-1)).toMatch(/^yield /);
  return lines.slice(2, -1);
}

describe('context changes in the progress output', () => {
  it('[U13] prints nothing if nothing changed', () => {
    expect(shown({})).toEqual([]);
  });

  it('[U13] prints nothing if only an earlier cycle asked for consent', () => {
    const lines = shown({}, false, (progress) => {
      progress({ ...at, type: 'phase-start', phase: 'understanding', cycle: 7, step: 4 });
      progress({ ...at, type: 'consent-asked', questionId: 's5.consent', request: { items: [] } });
    });
    expect(lines).toEqual([]);
  });

  it('[U13] prints under Understanding how much was kept, and each loss with its reason', () => {
    const statistics = { ...untouched, messagesAfter: 12, tokensAfter: 3010, pruned: 1, summarized: 1 };
    expect(shown({ statistics, pruningLog: [loss(3), loss(4, 'relevance 0.4 is below 0.7')] })).toEqual([
      'kept 12 of 20 messages, 3,010 of 4,900 tokens (estimated, 8,000 allowed)',
      'removed p3 (search): nothing has referred to it since cycle 1',
      'summarized p4 (search): relevance 0.4 is below 0.7',
    ]);
  });

  it('[U13] does not call counted tokens estimated', () => {
    expect(shown({ statistics: { ...untouched, estimated: false } }, true)).toEqual([
      'kept 20 of 20 messages, 4,900 of 4,900 tokens (8,000 allowed)',
    ]);
  });

  it('[U13] prints at most five losses, and how many more there are', () => {
    const pruningLog = Array.from({ length: 12 }, (_, index) => loss(index));
    const lines = shown({ statistics: { ...untouched, pruned: 12 }, pruningLog });
    expect(lines).toHaveLength(7);
    expect(lines.at(-1)).toBe('… and 7 more');
    expect(shown({ statistics: { ...untouched, pruned: 5 }, pruningLog: pruningLog.slice(0, 5) })).toHaveLength(6);
  });

  it.each([
    [1200, 0, 'by 1,200 tokens'],
    [0, 1, 'by 1 message'],
    [1, 3, 'by 1 token and 3 messages'],
  ])('[U10] prints %i tokens and %i messages over the limit', (tokensOver, messagesOver, by) => {
    const lines = shown({ statistics: { ...untouched, tokensOver, messagesOver } });
    expect(lines[0]).toContain('kept 20 of 20 messages');
    expect(lines[1]).toBe(`still over the limit ${by}; removing more needs your consent`);
  });

  it('[U13] prints what could not be measured, even if nothing else changed', () => {
    expect(shown({ problem: 'the embeddings\n failed' })).toEqual(['context not measured: the embeddings failed']);
  });

  it('prints no control characters from a message id or a reason', () => {
    const evil = { ...loss(1, 'b\u001b[2J\ncause'), messageId: 'p\u001b]0;x\u0007' };
    expect(shown({ statistics: { ...untouched, pruned: 1 }, pruningLog: [evil] }).at(-1)).toBe(
      'removed p]0;x (search): b[2J cause',
    );
  });
});

describe('the phases, in the progress of a run', () => {
  const replied: readonly [Phase, unknown, string][] = [
    ['action', { response: 'Perhaps.', confidence: 0.4, calls: [] }, 'draft, confidence 0.40'],
    ['action', { response: '', confidence: 0.4, calls: [{ capability: 'add', arguments: '{}' }] }, 'requested add'],
    [
      'experience',
      { summary: 'It says so.', relevantPassageIds: ['a', 'b'], missing: [], confidence: 0.7 },
      '2 relevant passages, confidence 0.70',
    ],
    [
      'intention',
      { goal: 'To know', alternatives: ['To guess'], clarity: 0.9, unclearIntent: false, alignment: [] },
      'goal, clarity 0.90, 1 alternative',
    ],
    [
      'observation',
      { insights: ['It is so'], undigested: false, entities: [], connections: [], importance: [] },
      '1 insight, 0 entities, 0 connections',
    ],
    ['yield', replies.yield, 'answer, confidence 0.95'],
    ['yield', 'not a reply', '–'],
  ];

  it.each(replied)('prints what %s found, and not its text', (phase, value, expected) => {
    const { fake, progress } = progressAt(80);
    progress({ ...at, type: 'phase-start', phase, cycle: 1, step: 1 });
    progress({ ...at, ...CALL, activity: 0, subject: { task: phase, attemptId: 's1.a1' } });
    progress({ ...at, ...REPLY, activity: 0, event: replyOf(value) });
    progress({
      ...at,
      type: 'phase-end',
      phase,
      cycle: 1,
      step: 1,
      summary: 'It is so.',
      failure: null,
      attemptId: 's1.a1',
    });
    expect(fake.shown().slice(1).join('\n').trim()).toBe(`${phase.padEnd(14)}    0 ms  ${expected}`);
  });

  it('prints nothing of a call that started early while the user is asked for consent', () => {
    const { fake, progress } = progressAt(80);
    const early = { attemptId: 's6.yield', task: 'yield', attempt: 1 } as const;
    progress({ ...at, type: 'phase-start', phase: 'understanding', cycle: 1, step: 5 });
    progress({ ...at, type: 'consent-asked', questionId: 's5.consent', request: { items: [] } });
    const asking = fake.shown();
    progress({ type: 'answer-delta', attemptId: early.attemptId, text: 'It is so.' });
    progress({
      ...at,
      type: 'attempt-end',
      ...early,
      failure: failureOf('transport', 'server_error', 'Try later.'),
      usage: NO_USAGE,
    });
    expect(fake.shown()).toEqual(asking);
    progress({ ...at, type: 'consent-resolved', by: 'user', kept: 1, summarized: 0, removed: 0 });
    expect(fake.shown().join('\n')).toMatch(
      /yield, attempt 1 failed: transport\/server_error: Try\s+later\.\n.*1 kept, 0 summarized/u,
    );
  });

  describe('of a phase with attempts', () => {
    const failure = failureOf('transport', 'server_error', 'Try later.');
    const end = (attempt: number, failed: typeof failure | null = failure): JournalEntry => ({
      ...at,
      type: 'attempt-end',
      attemptId: 's1.experience',
      task: 'experience',
      attempt,
      failure: failed,
      usage: NO_USAGE,
    });
    const retry = (attempt: number): JournalEntry => ({
      ...at,
      type: 'attempt-retry',
      attemptId: 's1.experience',
      attempt,
      model: 0,
      delayMs: 500,
    });
    const phase = (type: 'phase-start' | 'phase-end', name: Phase, more: object = {}): JournalEntry =>
      ({ ...at, type, phase: name, cycle: 1, step: 1, summary: '', failure: null, attemptId: null, ...more }) as never;
    function linesOf(...events: readonly JournalEntry[]): readonly string[] {
      const { fake, progress } = progressAt(120);
      for (const event of events) progress(event);
      return fake
        .shown()
        .map((line) => line.trim().replaceAll(/\s+/gu, ' '))
        .filter(Boolean);
    }
    const text = 'transport/server_error: Try later.';

    it('prints below its line what happened in it, and equal failures once', () => {
      const started = phase('phase-start', 'experience');
      const failures = [end(1), retry(2), end(2), retry(3), end(3, failureOf('schema', 'invalid_reply', 'No JSON.'))];
      expect(linesOf(started, ...failures, phase('phase-end', 'experience', { attemptId: 's1.experience' }))).toEqual([
        'Cycle 1',
        'experience 0 ms –',
        `experience, attempts 1 to 2 failed: ${text}`,
        'experience, attempt 3 failed: schema/invalid_reply: No JSON.',
      ]);
      expect(linesOf(started, end(1), retry(2), end(2), phase('phase-end', 'experience', { failure }))).toEqual([
        'Cycle 1',
        `experience 0 ms ${text} (2 attempts)`,
      ]);
    });

    it('prints one line for phases without a model call, before what follows', () => {
      const idle = (['action', 'experience'] as const).flatMap((name) => [
        phase('phase-start', name),
        phase('phase-end', name),
      ]);
      const started = phase('phase-start', 'yield');
      expect(linesOf(...idle, started, phase('phase-end', 'yield', { failure }))).toEqual([
        'Cycle 1',
        'no model call in action, experience',
        `yield 0 ms ${text}`,
      ]);
    });
  });

  it('prints the end of the answer while it is written', () => {
    const { fake, progress } = progressAt(76);
    const answer = { attemptId: 's6.yield' };
    for (const text of ['It was so, ', 'and\nit is so', ' even now, as everybody says.'])
      progress({ type: 'answer-delta', ...answer, text });
    expect(fake.shown().at(-1)).toMatch(/^ {2}answer +….* it is so even now, as everybody says\.$/u);
    progress({ type: 'answer-void', ...answer, reason: 'next_cycle' });
    expect(fake.shown().at(-1)?.trim()).toBe('answer');
    progress({ type: 'answer-delta', ...answer, text: 'No.' });
    expect(fake.shown().at(-1)).toMatch(/^ {2}answer +No\.$/u);
  });

  it('wraps a long line to the terminal, without losing any of it', () => {
    const fake = fakeTerminal(60);
    const message = 'The server closed the connection before the reply was complete, twice in a row.';
    const failure = failureOf('transport', 'connection_lost', message);
    const progress = createProgress(createScreen(fake.terminal.out));
    progress({ ...at, type: 'phase-end', phase: 'yield', cycle: 1, step: 1, summary: '', failure });
    const lines = fake.shown().filter((line) => line.trim() !== '');
    expect(lines.length).toBeGreaterThan(1);
    for (const line of lines) expect(line.length).toBeLessThan(60);
    expect(lines.map((line) => line.slice(26).trim()).join(' ')).toBe(`transport/connection_lost: ${message}`);
  });
});

describe('the search of a cycle', () => {
  it('has a line of its own before Experience, though it starts with Action', () => {
    const { fake, progress } = progressAt(120);
    const phase = (type: 'phase-start' | 'phase-end', name: Phase, step: number): void => {
      const place = { ...at, phase: name, cycle: 1, step };
      progress(
        type === 'phase-start' ? { type, ...place } : { type, ...place, summary: '', failure: null, attemptId: null },
      );
    };
    phase('phase-start', 'action', 1);
    progress({ ...at, type: 'retrieval', query: 'yield', passages: 5, widened: false, failure: null });
    phase('phase-end', 'action', 1);
    phase('phase-start', 'experience', 2);
    phase('phase-end', 'experience', 2);
    const lines = fake.shown().map((line) => line.trim().replaceAll(/\s+/gu, ' '));
    expect(lines).toContain('search 5 passages found for "yield"');
    const names = lines.map((line) => line.split(' ')[0]);
    expect(names.filter((name) => ['action', 'search', 'experience'].includes(name ?? ''))).toEqual([
      'action',
      'search',
      'experience',
    ]);
  });
});

describe('session entries in the progress output', () => {
  const at = { seq: 0, atMs: 0, sessionId: 'u42' };

  it.each<[JournalEntry, RegExp | null]>([
    [{ ...at, type: 'session-recalled', turns: 2, messages: [], problem: null }, /^session +2 turns recalled$/],
    [
      { ...at, type: 'session-recalled', turns: 0, messages: [], problem: 'a\u001b[2J\nwall' },
      /^session +0 turns recalled: a\[2J wall$/,
    ],
    [{ ...at, type: 'session-stored', problem: null }, null],
    [{ ...at, type: 'session-stored', problem: 'a full disk' }, /^session +not stored: a full disk$/],
  ])('%j', (event, line) => {
    const { fake, progress } = progressAt(120);
    progress(event);
    const lines = fake.shown().map((one) => one.trim());
    expect(lines).toEqual(line === null ? [] : [expect.stringMatching(line)]);
  });
});

it('separates a long name from a long time', () => {
  const { terminal, shown } = fakeTerminal();
  createScreen(terminal.out).entry({ name: 'activity-event', ms: 42_763, text: 'x' });
  expect(shown()[0]).toBe('  activity-event 42763 ms  x');
});
