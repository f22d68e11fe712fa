import { describe, expect, it } from 'vitest';
import { PostChainError } from '../../../../machines/contracts/error.ts';
import { startScripted } from '../../../support/run-chain.ts';

describe('deadlines per phase', () => {
  it.each([
    [
      { dessert: 5 },
      '.dessert: unknown option; expected one of action, experience, intention, observation, understanding, yield.',
    ],
    [{ action: 0 }, '.action: expected a number above 0; received 0.'],
    [{ yield: -5 }, '.yield: expected a number above 0; received -5.'],
    [{ yield: 'soon' }, '.yield: expected a number; received "soon".'],
    [-5, ': expected a number above 0; received -5.'],
    [3e9, ': expected a number of at most 2147483647; received 3000000000.'],
    ['soon', ': expected milliseconds, or an object with milliseconds per phase; received "soon".'],
    [null, ': expected milliseconds, or an object with milliseconds per phase; received null.'],
  ])('[C8] reject %j, and say what is expected', (phaseMs, message) => {
    const start = () => startScripted({}, { limits: { phaseMs: phaseMs as never } });
    expect(start).toThrow(new PostChainError('invalid_option', `limits.phaseMs${message}`));
  });
});
