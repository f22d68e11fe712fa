import { describe, expect, it } from 'vitest';
import type { AnyStateMachine, AnyTransitionDefinition } from 'xstate';
import { transitionLookup } from '../../../inspector/fold/transition-lookup.ts';
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
    const ways = transitionLookup(ownCharts.charts);
    for (const { id, transitions } of ownCharts.charts)
      for (const [place, { source, target, guard }] of transitions.entries()) {
        const taken = byMachine.get(id)?.[place];
        const event = taken?.eventType === '' ? 'anything.at.all' : (taken?.eventType ?? '');
        const way = { machine: id, event, source, target, guard };
        expect(ways.indexOf(way)).toBe(place);
        expect(ways.indexOf({ ...way, guard: 'another' })).toBeNull();
        if (taken?.eventType !== '') expect(ways.indexOf({ ...way, event: 'another' })).toBeNull();
      }
  });

  it('are unknown for a machine without a chart', () => {
    const way = { machine: 'elsewhere', event: 'x', source: 'elsewhere.a', target: ['elsewhere.b'], guard: null };
    expect(transitionLookup(ownCharts.charts).indexOf(way)).toBeNull();
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
    const placeOf = (event: string) => transitionLookup([chart]).indexOf({ machine: 'm', event, ...step });
    expect([placeOf('go'), placeOf('mouse.up'), placeOf('mouse'), placeOf('mice.up')]).toEqual([1, 2, 2, 0]);
  });
});
