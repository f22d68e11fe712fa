import { strict as assert } from 'node:assert';
import { assign, createActor, fromPromise, setup, toPromise } from 'xstate';
import { MODEL_PHASES } from './replies.mjs';

const { createMachine } = setup({
  types: {
    context: /** @type {{ cycles: number, cycle: number, steps: number }} */ ({}),
    input: /** @type {{ cycles: number }} */ ({}),
  },
  actors: { respond: fromPromise(async () => ({ ok: true })) },
  guards: {
    succeeded: (_, /** @type {{ ok: boolean }} */ { ok }) => ok,
    hasCyclesLeft: ({ context }) => context.cycle < context.cycles,
  },
  actions: {
    countStep: assign({ steps: ({ context }) => context.steps + 1 }),
    countCycle: assign({ cycle: ({ context }) => context.cycle + 1 }),
  },
});

/** @param {string} target */
const phase = (target) => ({
  invoke: {
    src: /** @type {const} */ ('respond'),
    onDone: [
      {
        guard: {
          type: /** @type {const} */ ('succeeded'),
          params: (/** @type {{ event: { output: { ok: boolean } } }} */ { event }) => event.output,
        },
        target,
        actions: /** @type {const} */ ('countStep'),
      },
      { target: 'failed' },
    ],
  },
});

const machine = createMachine({
  context: ({ input }) => ({ cycles: input.cycles, cycle: 1, steps: 0 }),
  initial: 'experience',
  states: {
    ...Object.fromEntries(MODEL_PHASES.map((name, at) => [name, phase(MODEL_PHASES[at + 1] ?? 'deciding')])),
    deciding: { always: [{ guard: 'hasCyclesLeft', target: 'experience', actions: 'countCycle' }, { target: 'done' }] },
    done: { type: 'final' },
    failed: { type: 'final' },
  },
});

/**
 * Measures microseconds per step of a minimal machine: an invoked promise and a guard.
 *
 * @param {{ cycles: number }} options
 */
export async function measure({ cycles }) {
  const startedAt = performance.now();
  const actor = createActor(machine, { input: { cycles } });
  const done = toPromise(actor);
  actor.start();
  await done;
  const elapsedMs = performance.now() - startedAt;
  const { context, value } = actor.getSnapshot();
  assert.deepEqual([value, context.steps], ['done', cycles * MODEL_PHASES.length]);
  return { microseconds: (elapsedMs * 1000) / context.steps };
}
