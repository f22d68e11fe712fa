import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { DecidingFunction } from '../../../src/chain/runtime/decider.ts';
import { LOOP_HOSTS, REQUEST, startLoop } from '../../support/capability-loops.ts';
import { entriesOf } from '../../support/run-chain.ts';
import { nextTurn } from '../../support/simulated-clock.ts';

const CAPABILITY_MS = 500;
const limits = (maxContinuations: number) => ({ maxContinuations, capabilityMs: CAPABILITY_MS });

/** What one run of a capability does. */
const behavior = fc.constantFrom('text', 'object', 'nothing', 'throws', 'slow', 'hangs', 'late');
const step = fc.record({
  capability: fc.constantFrom('draft', 'review', 'summarize', 'publish', ''),
  arguments: fc.constantFrom<unknown>({}, { words: 3 }, { words: 'many' }, [], null),
});
const decision = fc.oneof(
  { weight: 6, arbitrary: step.map((next) => ({ done: false, next })) },
  { weight: 1, arbitrary: fc.constantFrom('In short.', ' ', null).map((finalOutput) => ({ done: true, finalOutput })) },
  { weight: 1, arbitrary: fc.constantFrom('go on', { done: false }, 'throws', 'hangs') },
);
const plan = fc.record({
  host: fc.constantFrom(...LOOP_HOSTS),
  maxContinuations: fc.integer({ min: 1, max: 6 }),
  wish: fc.option(step, { freq: 8 }),
  behaviors: fc.array(behavior, { minLength: 7, maxLength: 7 }),
  decisions: fc.array(decision, { minLength: 7, maxLength: 7 }),
});

describe('any capability loop', () => {
  it('[R1] [R3] [R4] [R7] [R8] ends within its limits, records and remembers each run once, and leaves nothing behind', async () => {
    const reasons = new Set<unknown>();
    await fc.assert(
      fc.asyncProperty(plan, async ({ host, maxContinuations, wish, behaviors, decisions }) => {
        let [ran, asked] = [0, 0];
        const late: (() => void)[] = [];
        const execute = (name: string) => (): unknown => {
          const does = behaviors[ran++];
          if (does === 'throws') throw new Error('disk full');
          if (does === 'slow')
            return new Promise((resolve) => {
              loop.clock.setTimeout(() => resolve('at last'), CAPABILITY_MS - 1);
            });
          if (does === 'hangs') return new Promise(() => {});
          if (does === 'late') return new Promise((resolve) => late.push(() => resolve('too late')));
          return does === 'text' ? `${name} ran` : does === 'object' ? { name } : undefined;
        };
        const decider = ((): unknown => {
          const says = decisions[asked++];
          if (says === 'throws') throw new Error('no idea');
          return says === 'hangs' ? new Promise(() => {}) : says;
        }) as DecidingFunction;
        const loop = startLoop(host, {
          execute: Object.fromEntries(['draft', 'review', 'summarize'].map((name) => [name, execute(name)])),
          arguments: z.object({ words: z.optional(z.number()) }),
          wish: wish && { capability: wish.capability, arguments: JSON.stringify(wish.arguments) },
          options: { continuation: decider, limits: limits(maxContinuations) },
        });
        await loop.end();
        const entries = loop.entries.length;
        for (const answer of late) answer();
        await nextTurn();

        const [stop, ...others] = entriesOf(loop, 'capability-stop');
        const results = entriesOf(loop, 'capability-end').map(({ result }) => result);
        expect(others).toEqual([]);
        expect(loop.entries).toHaveLength(entries);
        expect(loop.clock.openTimers).toBe(0);
        expect(loop.model.calls.filter(({ task }) => task === 'action')).toHaveLength(1);
        expect(ran).toBeLessThanOrEqual(maxContinuations);
        expect(entriesOf(loop, 'capability-start')).toHaveLength(ran);
        expect(stop).toMatchObject({ runs: ran, failed: results.filter(({ success }) => !success).length });
        const runs = results.filter(({ id }) => id !== null);
        expect(runs.map(({ success, code }) => (success ? 'ok' : code))).toEqual(
          behaviors
            .slice(0, ran)
            .map((does) => ({ throws: 'threw', hangs: 'timed_out', late: 'timed_out' })[does as string] ?? 'ok'),
        );
        expect(asked).toBeLessThanOrEqual(ran);
        const remembered = results.map(({ capability }) => capability);
        expect(loop.memory().map((entry) => (entry.role === 'user' ? entry.content : entry.capability))).toEqual(
          results.length === 0 ? [] : [REQUEST, ...remembered],
        );
        expect(stop?.reason === 'limit_reached').toBe(
          ran === maxContinuations && (decisions[asked - 1] as { done?: unknown })?.done === false,
        );
        reasons.add(stop?.reason);
      }),
      { numRuns: 600 },
    );
    expect([...reasons].toSorted()).toEqual([
      'decider_failed',
      'done',
      'invalid_next_step',
      'limit_reached',
      'nothing_to_run',
    ]);
  });
});
