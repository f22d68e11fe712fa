import { describe, expect, it } from 'vitest';
import { addressParameters, parseAddress, printAddress } from '../../../inspector/ui-state/address.ts';

describe('an address of the page', () => {
  it('names the list of runs, a run, or a run with a selected entry, and a panel', () => {
    for (const address of ['#/', '#/?sort=cost&q=a+b', '#/run/r1', '#/run/r1/12?panel=why', '#/run/a%2Fb%20c/0'])
      expect(printAddress(parseAddress(address))).toBe(address);
    expect(parseAddress('#/run/a%2Fb/12?panel=why&state=x')).toEqual({
      runId: 'a/b',
      seq: 12,
      panel: 'why',
      parameters: { state: 'x' },
    });
    expect(addressParameters.value).toEqual({});
  });

  it('leaves out what makes no sense, and leaves the run open if it names none', () => {
    expect(parseAddress('#/run/r1/-3?panel=nonsense')).toEqual({ runId: 'r1', seq: null, panel: null, parameters: {} });
    expect(parseAddress('').runId).toBe(undefined);
    expect(parseAddress('#?panel=context')).toMatchObject({ runId: undefined, panel: 'context' });
    expect(parseAddress('#/elsewhere').runId).toBe(null);
    expect(parseAddress('#/run/%E0%A4%A').runId).toBe('%E0%A4%A');
  });
});
