import { describe, expect, it } from 'vitest';
import { activeStatesAt } from '../../../inspector/fold/active-states.ts';
import { entriesOfSelection, lastEntryInside, visitOf, visitsOf } from '../../../inspector/fold/state-visit.ts';
import { visitText } from '../../../inspector/fold/step-title.ts';
import { TransitionLog } from '../../../inspector/fold/transition-log.ts';
import { PHASES } from '../../../machines/contracts/phase.ts';
import { threeRegions } from '../../support/inspector/example-charts.ts';
import { folded, ownCharts, readmeRun } from '../../support/inspector/inspected-runs.ts';

describe('the visit of a state', () => {
  const log = new TransitionLog();
  const moved = (seq: number, states: readonly string[]): void =>
    log.take({
      type: 'transition',
      actor: '',
      seq,
      atMs: 0,
      machine: 'regions',
      event: 'TOGGLE',
      source: 'regions.a',
      target: states.map((state) => `regions.${state}`),
      candidates: [],
    });
  moved(2, ['a.on', 'b.off', 'c.off']);
  moved(4, ['a.on', 'b.on', 'c.off']);
  moved(7, ['a.off', 'b.on', 'c.off']);
  moved(9, ['a.on', 'b.on', 'c.off']);
  const visit = (state: string, at: number) =>
    visitOf(log, threeRegions, { chartId: 'regions', stateId: `regions.${state}` }, { at, count: 12 });

  it('is the latest up to an entry, from entering to the entry before leaving', () => {
    expect(visit('a.on', 8)).toEqual({ kind: 'state', from: 2, to: 6, stateId: 'regions.a.on' });
    expect(visit('a.on', 9)).toMatchObject({ from: 9, to: 11 });
  });

  it('is the first if there was none before the entry, and null if there was none at all', () => {
    expect(visit('b.on', 1)).toMatchObject({ from: 4, to: 11 });
    expect(visit('c.on', 11)).toBeNull();
  });

  it('lasts up to the entry that left it, or until now; every visit is listed', () => {
    const state = { chartId: 'regions', stateId: 'regions.a.on' };
    const visits = visitsOf(log, threeRegions, state, 12);
    expect(visits.map(({ from, to }) => [from, to])).toEqual([
      [2, 6],
      [9, 11],
    ]);
    const timeLine = { passedMs: (from: number, to: number) => 1_000 * (to - from) };
    const view = { run: { kind: 'system', live: true, status: 'running' }, log: { count: 12 }, fold: { timeLine } };
    const texts = visits.map((visit) => visitText({ ...view, sinceMs: 720_000 } as never, visit));
    expect(texts).toEqual(['5.0 s', '12 min 2 s so far']);
  });

  it('was entered or left at the entries that a selected state marks, also by a transition of the states around it', () => {
    const marked = (state: string) =>
      entriesOfSelection(log, threeRegions, { kind: 'state', chartId: 'regions', stateId: `regions.${state}` });
    expect([...marked('a.on')]).toEqual([2, 7, 9]);
    expect([...marked('b.on')]).toEqual([4]);
  });

  it('ends a step with the last entry in the state of most of its entries', () => {
    const inside = (from: number, to: number) => lastEntryInside(log, 'regions', { kind: 'phase', from, to });
    expect(inside(4, 7)).toBe(6);
    expect(inside(5, 6)).toBe(6);
    expect(inside(3, 8)).toBe(6);
    expect(inside(0, 1)).toBe(1);
    expect(inside(9, 11)).toBe(11);
  });

  it('of a state with states inside shows those at its last entry, not those with the most entries', () => {
    const shown = visit('a', 11);
    expect(shown).toEqual({ kind: 'state', from: 2, to: 11, stateId: 'regions.a' });
    expect(shown && lastEntryInside(log, 'regions', shown)).toBe(11);
  });

  it('of a phase is in its own state, also if the phase is left in the step that enters it', async () => {
    const { run } = readmeRun();
    await run.answer;
    const { fold } = folded(run.entries);
    const main = ownCharts.charts[0]?.id ?? '';
    const shown = fold.spans.phases.map(({ phase, from, to }) => {
      const at = lastEntryInside(fold.transitions, main, { kind: 'phase', from, to: to ?? from }, phase);
      return PHASES.find((name) => activeStatesAt(fold.transitions, ownCharts, at).active[main]?.has(name));
    });
    expect(shown).toEqual(PHASES);
  });
});
