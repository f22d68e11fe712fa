import { describe, expect, it } from 'vitest';
import { contractCases } from '../../support/contract-cases.ts';

describe('contracts', () => {
  it.each(contractCases)('$title survives JSON unchanged and is accepted again', ({ schema, value }) => {
    expect(schema.parse(JSON.parse(JSON.stringify(value)))).toEqual(value);
  });
});
