import { describe, expect, it } from 'vitest';
import { resolveOptions } from '../../../../src/engine/runtime/options.ts';
import { partsFor, startOf } from '../../../../src/integrations/restate/run-request.ts';

const parts = resolveOptions({});
const begin = (asked = {}, options = {}) =>
  startOf('run-7', { request: 'Is it so?', ...asked }, resolveOptions(options));

describe('the start of a run on a cluster', () => {
  it('is known by its key, and has the time-outs of a reply out of the charts’ way', () => {
    const { start, patience } = begin({ host: { tenant: 'a' } }, { limits: { firstChunkMs: 5000, chunkMs: 700 } });
    expect(start).toMatchObject({ type: 'run-start', runId: 'run-7', host: { tenant: 'a' } });
    expect(start.limits).toMatchObject({ firstChunkMs: 2_147_483_647, chunkMs: 2_147_483_647, phaseMs: 120_000 });
    expect(patience).toEqual({ firstChunkMs: 5000, chunkMs: 700 });
  });

  it.each([
    [{ request: '' }, 'invalid_request'],
    [{ mode: 'nonsense' }, 'invalid_option'],
    [{ signal: {} }, 'invalid_option'],
  ])('refuses %j', (asked, code) => {
    expect(() => begin(asked)).toThrow(expect.objectContaining({ code }));
  });

  it('is not gone on with on another chart, and the error names both', () => {
    const { start, patience } = begin();
    expect(partsFor({ start, patience }, parts).models).toHaveLength(1);
    const other = { patience, start: { ...start, chart: { ...start.chart, digest: '0000' } } };
    expect(() => partsFor(other, parts)).toThrow(`0000; this process has ${start.chart.digest}`);
    expect(() => partsFor(other, parts)).toThrow(expect.objectContaining({ code: 'invalid_journal' }));
  });
});
