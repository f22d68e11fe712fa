import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { PostChainOptions } from '../../../../src/entries/index.ts';
import { replies } from '../../../../src/testing/replies.ts';
import { throwing } from '../../../support/errors.ts';
import { capabilityNamed, type Plan, settle, startScripted, unsureAnswer } from '../../../support/run-chain.ts';
import { neverSettles } from '../../../support/scripted-models.ts';

interface Setting {
  readonly execute: () => unknown;
  readonly calls?: readonly { readonly capability: string; readonly arguments: string }[];
  readonly limits?: PostChainOptions['limits'];
  readonly plan?: Plan;
}

const CALL = { capability: 'lookup', arguments: '{}' };

async function answerWith({ execute, calls = [CALL], limits = {}, plan = {} }: Setting) {
  const lookup = capabilityNamed('lookup', execute, { arguments: z.object({ id: z.number().optional() }) });
  const options = { capabilities: [lookup], limits: { ...limits, capabilityMs: 50 } };
  const { run, clock } = startScripted({ ...plan, action: { ...replies.action, calls: [...calls] } }, options);
  await settle();
  clock.increment(50);
  return run.answer;
}

const throws = throwing('db down\nat line 3');

describe('the answer of a run whose capability failed', () => {
  it.each<[string, string, RegExp, Setting]>([
    ['threw', 'unexpected', /The capability "lookup" failed: db down\./, { execute: throws }],
    ['timed_out', 'deadline', /"lookup" failed: no result within 50 ms\./, { execute: () => neverSettles }],
    [
      'result_too_long',
      'unexpected',
      /"lookup" failed: /,
      { execute: () => 'too long', limits: { maxResultChars: 5 } },
    ],
    [
      'arguments_misfit',
      'schema',
      /"lookup" failed: /,
      { execute: throws, calls: [{ ...CALL, arguments: '{"id":"x"}' }] },
    ],
    [
      'unknown_capability',
      'schema',
      /"other" failed: /,
      { execute: throws, calls: [{ ...CALL, capability: 'other' }] },
    ],
  ])('[R7] [S1] reports it in its status, reasons, notes and metadata: %s', async (code, stage, note, setting) => {
    const { notes, reasons, metadata, status } = await answerWith(setting);
    expect(notes).toMatch(note);
    expect(notes).not.toContain('\n');
    expect(metadata.failures).toMatchObject([{ phase: 'action', cycle: 1, failure: { stage, code } }]);
    expect(reasons).toMatchObject([{ code: 'capability_failed', message: expect.stringMatching(note) }]);
    expect(status).toBe('degraded');
  });

  it('[R7] has each failure once, after several cycles too', async () => {
    const plan = { yield: (call: number) => unsureAnswer(call, { proposedPhase: 'action' }) };
    const { metadata } = await answerWith({ execute: throws, plan, limits: { maxCycles: 3 } });
    expect(metadata.cycles).toBe(3);
    expect(metadata.failures).toHaveLength(1);
  });
});
