import { describe, expect, it } from 'vitest';
import {
  addressParameters,
  parseAddress,
  parseChartSelection,
  parseStep,
  printAddress,
  printChartSelection,
} from '../../../inspector/ui-state/address.ts';

describe('an address of the page', () => {
  it('names the list of runs, a run, a run with a selected entry, or two runs', () => {
    for (const address of [
      '#/',
      '#/?sort=cost&q=a+b',
      '#/run/r1',
      '#/run/r1/12?view=chart',
      '#/run/a%2Fb%20c/0',
      '#/compare/a%2Fb/c',
    ])
      expect(printAddress(parseAddress(address))).toBe(address);
    expect(parseAddress('#/run/a%2Fb/12?state=x')).toEqual({
      runId: 'a/b',
      seq: 12,
      compared: null,
      parameters: { state: 'x' },
    });
    expect(addressParameters.value).toEqual({});
  });

  it('names the selected step, and what is selected in the chart', () => {
    const phase = { kind: 'phase', from: 3, to: 12 } as const;
    const state = { kind: 'state', from: 0, to: 12, stateId: 'a-1.b c' } as const;
    expect(['phase-3', 'state-0-a-1.b c'].map((step) => parseStep({ step }, 12))).toEqual([phase, state]);
    for (const selected of [
      { kind: 'state', chartId: 'door', stateId: 'a-1.b c' },
      { kind: 'transitions', chartId: 'door', transitions: [3, 14] },
    ] as const)
      expect(parseChartSelection(printChartSelection(selected))).toEqual(selected);
  });

  it('selects nothing for an address without a step, or with an invalid one', () => {
    for (const step of [undefined, '', 'phase', 'nonsense-3', 'phase-13', 'phase--1', 'phase-1e3'])
      expect(parseStep(step === undefined ? {} : { step }, 12)).toBe(null);
    expect(parseStep({ step: 'phase-3' }, null)).toBe(null);
    for (const parameters of [{}, { state: 'x' }, { chart: 'door' }, { chart: 'door', lines: 'x' }])
      expect(parseChartSelection(parameters)).toBe(null);
  });

  it('leaves out what makes no sense, and leaves the run open if it names none', () => {
    expect(parseAddress('#/run/r1/-3')).toEqual({ runId: 'r1', seq: null, compared: null, parameters: {} });
    expect(parseAddress('').runId).toBe(undefined);
    expect(parseAddress('#/compare/r1')).toMatchObject({ runId: null, compared: ['r1', ''] });
    expect(parseAddress('#/elsewhere').runId).toBe(null);
    expect(parseAddress('#/run/%E0%A4%A').runId).toBe('%E0%A4%A');
  });
});
