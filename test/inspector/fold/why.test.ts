import { describe, expect, it } from 'vitest';
import { chartIndexOf, nameIn, statePath } from '../../../inspector/fold/chart-index.ts';
import type { ComparedValue } from '../../../inspector/fold/explain.ts';
import { triggerText } from '../../../inspector/fold/system-words.ts';
import { isInternal } from '../../../inspector/fold/transition-log.ts';
import { type StepReasons, why } from '../../../inspector/fold/why.ts';
import type { JournalEntry } from '../../../machines/contracts/journal.ts';
import {
  failingRun,
  folded,
  manualRun,
  ownCharts,
  plainRun,
  recordedEntries,
} from '../../support/inspector/inspected-runs.ts';

const runs = await Promise.all([plainRun(), failingRun(), manualRun()].map(async (run) => recordedEntries(await run)));
const [, stumbled = [], directed = []] = runs;

type EntryOf<T extends JournalEntry['type']> = Extract<JournalEntry, { type: T }>;

const all = <T extends JournalEntry['type']>(entries: readonly JournalEntry[], type: T): readonly EntryOf<T>[] =>
  entries.filter((entry): entry is EntryOf<T> => entry.type === type);

function asked(entries: readonly JournalEntry[]): (at: number | undefined) => StepReasons {
  const { log, fold } = folded(entries);
  const run = { live: false };
  return (at) => why({ run, log, fold, charts: ownCharts, at: at ?? entries.length - 1, end: null });
}

const sourceOf = ({ transitions }: StepReasons): string | undefined => transitions[0]?.source.split('.').at(-1);

/** Parses the inputs back from their displayed form. */
const inputsOf = (compared: readonly ComparedValue[]): Record<string, unknown> =>
  Object.fromEntries(
    compared.flatMap(({ name, value, limit }) => [[name, value], ...(limit ? [[limit.name, limit.value]] : [])]),
  );

describe('the Why view', () => {
  it('shows for every transition all candidates in order with their guard results, numbers, and targets', () => {
    for (const entries of runs) {
      const ask = asked(entries);
      for (const entry of all(entries, 'transition').filter((one) => !isInternal(one))) {
        const [transition] = ask(entry.seq).transitions;
        expect([transition?.seq, transition?.source]).toEqual([entry.seq, entry.source]);
        const chart = chartIndexOf(ownCharts).chart(entry.machine);
        const paths = [[entry.source], entry.target].map((ids) => ids.map((id) => statePath(chart, id)).join(', '));
        expect(transition?.moves).toBe(paths.map((path) => path || 'stays').join(' → '));
        const told = transition?.candidates.map(({ name, result, target, compared }) => ({
          guard: name,
          target,
          result,
          inputs: inputsOf(compared),
        }));
        expect(told).toEqual(
          entry.candidates.map((candidate) => ({
            ...candidate,
            target: candidate.target.map((id) => nameIn(chart, id)).join(', ') || 'stays',
            inputs: candidate.inputs ?? {},
          })),
        );
      }
    }
  });

  it('shows a number next to the limit it was compared with', () => {
    const seq = all(stumbled, 'decision').at(-1)?.seq;
    const [transition] = asked(stumbled)(seq).transitions;
    const taken = transition?.candidates.find(({ result }) => result === 'taken');
    expect(taken?.guard).toBe('confidence reached');
    expect(taken?.compared[0]).toEqual({
      name: 'confidence',
      value: 0.95,
      limit: { name: 'above', value: 0.9 },
      share: { value: 0.95, limit: 0.9 },
    });
    const budget = transition?.candidates.find(({ guard }) => guard === 'budget exhausted');
    expect(budget?.compared).toContainEqual(
      expect.objectContaining({ name: 'modelCalls', limit: { name: 'maxModelCalls', value: 100 } }),
    );
  });

  it('attributes every decision, retry, and recovery to the latest transition before it', () => {
    for (const entries of runs) {
      const ask = asked(entries);
      for (const { seq, decision } of all(entries, 'decision')) {
        const [transition] = ask(seq).transitions;
        const taken = transition?.candidates.find(({ result }) => result === 'taken')?.name;
        const guard = { nextPhaseChosen: `nextPhaseIs(${decision.nextPhase})`, directedByUser: 'directionFits' };
        expect(taken).toBe((guard as Record<string, string>)[decision.rule] ?? decision.rule);
        expect(entries.slice(transition?.seq, seq).filter(({ type }) => type === 'phase-start')).toEqual([]);
      }
      for (const { seq } of all(entries, 'recovery')) expect(sourceOf(ask(seq))).toBe('recovering');
      for (const { seq } of all(entries, 'attempt-retry')) expect(sourceOf(ask(seq))).toBe('recordingFailure');
    }
  });

  it('shows at the end of a run what led to its answer', () => {
    expect(asked(stumbled)(undefined).transitions[0]?.moves).toBe('cycling › yield › deciding → synthesizing');
    expect(asked(directed)(undefined).transitions[0]?.about).toBe('on run.finished, in postChain');
  });

  it('shows the last transition before a run was stopped from outside', () => {
    const cut = stumbled.slice(0, 200);
    const stopped = [...cut, { seq: 200, atMs: 3_000, type: 'stopped' } as const];
    const [transition] = asked(stopped)(200).transitions;
    expect(transition?.seq).toBe(all(cut, 'transition').at(-1)?.seq);
  });

  it('explains an event without effect: the state at that time and the events accepted there', () => {
    const [, consent] = all(directed, 'delivery');
    const { outcome, facts } = asked(directed)(consent?.seq);
    expect(outcome).toEqual({
      words: 'Rejected: no question is pending.',
      isIgnored: true,
    });
    expect(facts).toContainEqual(['Current states', 'cycling › action › running']);
    expect(facts.at(-1)?.[1]).toContain('run.directed');
  });

  it('describes XState events in words and knows transitions without an event', () => {
    const { fold } = folded(stumbled);
    const events = new Set(all(stumbled, 'transition').map((entry) => triggerText({ fold, charts: ownCharts }, entry)));
    for (const reason of [
      'on intention finished',
      'without an event, after the start',
      'on after backoff',
      'on reply.ended',
    ])
      expect(events).toContain(reason);
    for (const reason of events) expect(reason).not.toMatch(/xstate|^$/u);
  });
});

it('a state that is its own ancestor, as a damaged file may have it, has a finite path', () => {
  const state = (name: string, parent: string) =>
    ({ id: name, name, parent, type: 'compound', description: '', initial: null, invokes: [] }) as const;
  const charts = { charts: [{ id: 'm', states: [state('a', 'b'), state('b', 'a')], transitions: [] }], version: '' };
  expect(statePath(chartIndexOf(charts as never).chart('m'), 'a')).toBe('a');
});
