import { describe, expect, it } from 'vitest';
import { contextChanges } from '../../../inspector/fold/context-changes.ts';
import { selectionAt, selectionOf } from '../../../inspector/fold/selection.ts';
import type { PhaseSpan } from '../../../inspector/fold/spans.ts';
import { hasFailed, stepCalls, toolUses } from '../../../inspector/fold/step.ts';
import { stepTitle } from '../../../inspector/fold/step-title.ts';
import { decidedRunOf } from '../../../inspector/fold/what-if.ts';
import { calledAgainBecause, enteredBecause } from '../../../inspector/fold/why.ts';
import type { JournalEntry } from '../../../machines/contracts/journal.ts';
import { outcomeWith } from '../../../src/chain/journal/decided-run.ts';
import { readDecidingNumbers, whatIf } from '../../../src/chain/journal/what-if.ts';
import { contextRun, failingRun, folded, manualRun, recordedEntries } from '../../support/inspector/inspected-runs.ts';

const pruning = await contextRun();
const failing = recordedEntries(await failingRun());
const runs = [failing, recordedEntries(await manualRun()), pruning].map((entries) => ({ entries, ...folded(entries) }));

const run = { kind: 'run', live: false, status: 'completed' } as const;

type EntryOf<Type extends JournalEntry['type']> = Extract<JournalEntry, { type: Type }>;
const all = <Type extends JournalEntry['type']>(entries: readonly JournalEntry[], type: Type) =>
  entries.filter((entry): entry is EntryOf<Type> => entry.type === type);

describe('the context changes of a step', () => {
  it('are the operations of the journal: those that the phase applied, and those that it proposed', () => {
    for (const { entries, log, fold } of runs)
      for (const span of fold.spans.phases) {
        const at = entries.length - 1;
        const groups = contextChanges(log, fold, selectionOf('phase', span, entries.length), at);
        const told = groups.filter(({ isAppliedHere }) => isAppliedHere).flatMap(({ changes }) => changes);
        // The first after its end: what the user overrules later has an entry of its own.
        const own = all(entries, 'operations')
          .filter(({ seq, step }) => seq > span.from && step === span.step)
          .slice(0, 1);
        expect(told.map(({ messageId }) => messageId)).toEqual(
          own.flatMap(({ applied }) => applied.map(({ target }) => target)),
        );
        expect(told.map(({ reason }) => reason)).toEqual(
          own.flatMap(({ applied }) => applied.map((one) => one.reason)),
        );
      }
  });

  it('name as many removed and shortened messages as Understanding counted', () => {
    const { entries, log, fold } = runs[2] as (typeof runs)[number];
    const evaluated = all(entries, 'context-evaluated');
    expect(evaluated.some(({ pruningLog }) => pruningLog.length > 0)).toBe(true);
    for (const { seq, pruningLog } of evaluated) {
      const span = fold.spans.phases.findLast(({ from }) => from <= seq);
      if (span === undefined) continue;
      const selection = selectionOf('phase', span, entries.length);
      for (const at of [seq, entries.length - 1]) {
        const groups = contextChanges(log, fold, selection, at).filter(({ isAppliedHere }) => !isAppliedHere);
        const told = groups
          .flatMap(({ changes }) => changes)
          .filter(({ kind }) => kind === 'removed' || kind === 'shortened');
        expect(told.map(({ messageId }) => messageId).sort()).toEqual(
          pruningLog.map(({ messageId }) => messageId).sort(),
        );
      }
    }
  });
});

describe('the title of a step', () => {
  it('says at no entry of an ended run that something is running', () => {
    for (const { entries, log, fold } of runs)
      for (const { seq } of entries) {
        const selection = selectionAt(fold, seq, entries.length);
        const title = stepTitle({ run, log, fold, at: seq, selection });
        expect(title.status?.word).not.toBe('running');
        expect(title.name).not.toBe('');
      }
  });

  it('says how many tools of a phase failed', () => {
    const down = { success: false, error: 'down' };
    const fail = (one: EntryOf<'capability-end'>) => ({ ...one, result: { ...one.result, ...down } });
    const entries = failing.map((one) => (one.type === 'capability-end' ? fail(one) : one));
    const { log, fold } = folded(entries);
    const [count, [action]] = [entries.length, fold.spans.phases];
    const selection = selectionOf('phase', action as PhaseSpan, count);
    const status = { word: 'done, 1 of its tools failed', tone: 'warn' };
    expect(stepTitle({ run, log, fold, at: count - 1, selection })).toMatchObject({ status });
  });

  it('counts each model call in one phase', () => {
    const { entries, fold } = runs[0] as (typeof runs)[number];
    const counted = fold.spans.phases.flatMap((span) => {
      const selection = selectionOf('phase', span, entries.length);
      const calls = stepCalls(fold, selection, entries.length - 1)?.all ?? [];
      return calls
        .filter(({ span: call }) => call.attemptId.startsWith(`s${span.step}.`))
        .map((call) => call.span.number);
    });
    const inPhases = fold.spans.attempts.filter(({ task }) => task !== 'synthesis').length;
    expect(counted).toEqual(Array.from({ length: inPhases }, (_, index) => index + 1));
  });
});

describe('the reasons of a step', () => {
  it('are a sentence for each phase and each repeated call', () => {
    const { log, fold } = runs[0] as (typeof runs)[number];
    const sentences = fold.spans.phases.map((span) => enteredBecause(log, fold, span));
    expect(sentences.slice(0, 2)).toEqual(['The run begins with Action.', 'Entered because Action succeeded.']);
    expect(sentences.find((one) => one.includes('cycle 1'))).toMatch(
      /^Entered because the run continued after cycle 1: /u,
    );
    expect(sentences.some((one) => one.startsWith('Entered because Observation failed and was left out: '))).toBe(true);
    const again = fold.spans.attempts.filter(({ attempt }) => attempt > 1);
    expect(again.length).toBeGreaterThan(0);
    for (const span of again)
      expect(calledAgainBecause(log, fold, span)).toMatch(/^Called again because attempt \d failed/u);
  });

  it('list failed tools first', () => {
    for (const { entries, log, fold } of runs) {
      const whole = { kind: 'phase', from: 0, to: entries.length - 1 } as const;
      const failed = toolUses(log, fold, whole, entries.length - 1).map(hasFailed);
      expect(failed).toEqual([...failed].sort((one, other) => Number(other) - Number(one)));
    }
  });
});

describe('what if, on the page', () => {
  it('ends a run where the replay of the command line does', () => {
    const sets = [{ 'thresholds.confidence': 0.2 }, { 'thresholds.confidence': 0.99 }, { 'limits.maxCycles': 1 }];
    for (const { entries, log, fold } of runs)
      for (const set of sets) {
        const decided = decidedRunOf({ log, fold, count: entries.length, stateCount: fold.states.count });
        expect(decided).not.toBe(null);
        if (decided !== null) expect(outcomeWith(decided, readDecidingNumbers(set))).toEqual(whatIf(entries, set));
      }
  });
});
