import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { createPostChain } from '../../../src/entries/index.ts';
import { onAbort } from '../../../src/internal/async.ts';
import { createStructuredOutput } from '../../../src/llm/attempts/structured-output.ts';
import { settle } from '../../../src/testing/settle.ts';
import { neverSettles, partModel } from '../../support/scripted-models.ts';

const listeners = (signal: AbortSignal): number => getEventListeners(signal, 'abort').length;

describe('abort handlers of one signal', () => {
  it('share one listener, which is removed with the last handler', () => {
    const controller = new AbortController();
    const fired: number[] = [];
    const forgets = Array.from({ length: 50 }, (_, at) => onAbort(controller.signal, () => void fired.push(at)));
    expect(listeners(controller.signal)).toBe(1);
    for (const forget of forgets.slice(1)) forget();
    expect(listeners(controller.signal)).toBe(1);
    forgets[0]?.();
    forgets[0]?.();
    expect(listeners(controller.signal)).toBe(0);
    controller.abort();
    expect(fired).toEqual([]);
  });

  it('run once each, in order, unless they were removed in the meantime', () => {
    const controller = new AbortController();
    const fired: string[] = [];
    onAbort(controller.signal, () => {
      fired.push('a');
      forget();
    });
    onAbort(controller.signal, () => void fired.push('b'));
    const forget = onAbort(controller.signal, () => void fired.push('c'));
    controller.abort();
    expect(fired).toEqual(['a', 'b']);
    expect(listeners(controller.signal)).toBe(0);
  });

  it('can be numerous without a leak warning from Node', async () => {
    const controller = new AbortController();
    const { signal } = controller;
    const warnings: Error[] = [];
    const note = (warning: Error): void => void warnings.push(warning);
    process.on('warning', note);
    const model = partModel([neverSettles]);
    const outputs = Array.from({ length: 20 }, () =>
      createStructuredOutput({ model, schema: z.object({}), prompt: 'x', signal }).value.catch(({ code }) => code),
    );
    const answers = Array.from({ length: 20 }, () => createPostChain({ model }).run({ request: 'x', signal }).answer);
    await settle();
    expect(listeners(signal)).toBe(1);
    controller.abort();
    expect(new Set(await Promise.all(outputs))).toEqual(new Set(['cancelled']));
    for (const { status } of await Promise.all(answers)) expect(status).toBe('degraded');
    await settle();
    process.off('warning', note);
    expect(warnings).toEqual([]);
    expect(model.open()).toBe(0);
  });
});
