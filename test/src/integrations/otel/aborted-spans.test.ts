import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { traceRun } from '../../../../src/integrations/otel/trace-run.ts';
import { replies } from '../../../../src/testing/replies.ts';
import { defineCapability } from '../../../../src/tools/capability.ts';
import { LONG_HISTORY } from '../../../support/journal-files.ts';
import { settle, startScripted } from '../../../support/run-chain.ts';
import { memoryTelemetry, tableOf } from '../../../support/telemetry.ts';

const hang = { hang: true } as const;

async function linesOf(run: ReturnType<typeof startScripted>['run'], about: string): Promise<readonly string[]> {
  const telemetry = memoryTelemetry();
  await traceRun(run.journal, telemetry.options);
  const spans = telemetry.spans();
  const from = spans.findIndex(({ name }) => name === about);
  return tableOf(spans).split('\n').slice(from).slice(0, 3);
}

describe('aborted spans', () => {
  it('end when the chart leaves the phase, not when the session is stored', async () => {
    const sessions = { recall: () => [], append: () => new Promise<void>(() => {}) };
    const { run, clock } = startScripted({ observation: hang }, { sessions }, { sessionId: 'u42' });
    await settle();
    clock.increment(3000);
    run.cancel();
    await settle();
    clock.increment(250);
    await run.answer;
    expect(await linesOf(run, 'invoke_agent observation')).toEqual([
      '  invoke_agent observation 0–3000 ! aborted',
      '    chat scripted 0–3000 ! aborted',
    ]);
    expect(await linesOf(run, 'invoke_workflow postChain')).toContain('invoke_workflow postChain 0–3250');
  });

  it('end before their phase, if the phase continues without them', async () => {
    const limits = { phaseMs: 10_000, consentMs: 60_000, firstChunkMs: 50_000 };
    const { run, clock } = startScripted({ summary: hang }, { limits }, { history: LONG_HISTORY });
    await settle();
    clock.increment(10_000);
    await settle();
    clock.increment(60_000);
    await run.answer;
    expect(await linesOf(run, 'invoke_agent understanding')).toEqual([
      '  invoke_agent understanding 0–70000',
      '    chat scripted 0–0',
      '    chat scripted 0–10000 ! aborted',
    ]);
  });

  it('include a capability of a run that was stopped from outside', async () => {
    const wait = defineCapability({
      name: 'wait',
      description: 'Waits.',
      arguments: z.object({}),
      execute: () => new Promise(() => {}),
    });
    const call = { capability: 'wait', arguments: '{}' };
    const { run, clock } = startScripted({ action: { ...replies.action, calls: [call] } }, { capabilities: [wait] });
    await settle();
    clock.increment(4000);
    run.actor.stop();
    await run.answer;
    expect(await linesOf(run, 'invoke_agent action')).toEqual([
      '  invoke_agent action 0–4000',
      '    chat scripted 0–0',
      '    execute_tool wait 0–4000 ! aborted',
    ]);
  });

  it('do not include a capability that timed out: that is a result', async () => {
    const wait = defineCapability({
      name: 'wait',
      description: 'Waits.',
      arguments: z.object({}),
      timeoutMs: 4000,
      execute: () => new Promise(() => {}),
    });
    const call = { capability: 'wait', arguments: '{}' };
    const { run, clock } = startScripted({ action: { ...replies.action, calls: [call] } }, { capabilities: [wait] });
    await settle();
    clock.increment(4000);
    await run.answer;
    expect((await linesOf(run, 'invoke_agent action')).at(-1)).toBe('    execute_tool wait 0–4000 ! timed_out');
  });
});
