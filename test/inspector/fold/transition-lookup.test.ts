import { describe, expect, it } from 'vitest';
import type { AnyStateMachine, AnyTransitionDefinition } from 'xstate';
import { chartIndexOf, indexChart } from '../../../inspector/fold/chart-index.ts';
import { actionMachine } from '../../../machines/action/action.machine.ts';
import { attemptMachine } from '../../../machines/attempt/attempt.machine.ts';
import { chainMachine } from '../../../machines/chain/chain.machine.ts';
import type { Chart } from '../../../src/durable/charts/chart.ts';
import { ownCharts } from '../../support/inspector/inspected-runs.ts';
import { transitionDefinitions } from '../../support/inspector/observed-run.ts';

const byMachine = new Map<string, readonly AnyTransitionDefinition[]>(
  [chainMachine, attemptMachine, actionMachine].map((machine) => [
    machine.id,
    transitionDefinitions(machine as AnyStateMachine),
  ]),
);

describe('transitions of a journal in a chart', () => {
  it('are found by exactly the XState event that takes them', () => {
    for (const { id, transitions, indexOf } of chartIndexOf(ownCharts).all)
      for (const [place, { source, target, guard }] of transitions.entries()) {
        const taken = byMachine.get(id)?.[place];
        const event = taken?.eventType === '' ? 'anything.at.all' : (taken?.eventType ?? '');
        const way = { event, source, target, guard };
        expect(indexOf(way)).toBe(place);
        expect(indexOf({ ...way, guard: 'another' })).toBeNull();
        if (taken?.eventType !== '') expect(indexOf({ ...way, event: 'another' })).toBeNull();
      }
  });

  it('prefer a named event over a wildcard, and match a wildcard by its prefix', () => {
    const step = { source: 'm.a', target: ['m.b'], guard: null, otherwise: false, actions: [] };
    const chart: Chart = {
      id: 'm',
      states: [],
      transitions: [
        { ...step, event: '' },
        { ...step, event: 'go' },
        { ...step, event: 'mouse.*' },
      ],
    };
    const placeOf = (event: string) => indexChart(chart).indexOf({ event, ...step });
    expect([placeOf('go'), placeOf('mouse.up'), placeOf('mouse'), placeOf('mice.up')]).toEqual([1, 2, 2, 0]);
  });
});
