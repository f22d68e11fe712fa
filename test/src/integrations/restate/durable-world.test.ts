import { describe, expect, it } from 'vitest';
import { SimulatedClock } from 'xstate';
import type { Activity } from '../../../../src/engine/activities.ts';
import { createDurableTime } from '../../../../src/integrations/restate/durable-time.ts';
import type { CallOutcome, Host, Pending } from '../../../../src/integrations/restate/host.ts';
import { createRestateExecutor } from '../../../../src/integrations/restate/restate-executor.ts';

/** A host that only writes down what it is asked for. */
function createRig() {
  const steps: (() => Promise<CallOutcome>)[] = [];
  const pendingOf = (what: string) => ({ what }) as unknown as Pending & { readonly what: string };
  const host: Host = {
    step(name, act) {
      steps.push(act);
      return pendingOf(name);
    },
    sleep: (ms) => pendingOf(`sleep ${ms}`),
    sent: (number) => pendingOf(`sent ${number}`),
    first: () => new Promise(() => {}),
  };
  const time = createDurableTime(0);
  const notes: unknown[] = [];
  const note = (fact: unknown) => void notes.push(fact);
  const world = createRestateExecutor({ host, time, clock: new SimulatedClock(), note });
  const waitingFor = () => world.pending().map((pending) => (pending as Pending & { what: string }).what);
  return { world, time, notes, steps, waitingFor };
}

const callThat = (isWaiting: () => boolean, perform: Activity['execute'] = () => {}): Activity => ({
  port: 'port',
  input: null,
  isWaiting,
  execute: perform,
  onEvent: () => {},
});

describe('the world of a run on a cluster', () => {
  it('gives up a call that its chart no longer waits for, so that its step ends too', async () => {
    const { world, steps, waitingFor } = createRig();
    let isWaiting = true;
    world.execute(
      7,
      callThat(() => isWaiting),
    );
    world.wait(0, 50);
    const made = steps[0]?.();
    expect(waitingFor()).toEqual(['sent 0', 'sleep 50', 'port 7']);
    isWaiting = false;
    expect(waitingFor()).toEqual(['sent 0', 'sleep 50']);
    expect(await made).toMatchObject({ call: 7, events: [] });
  });

  it('writes what a call told beside its answer before the answer, and goes by the time of it', async () => {
    const { world, steps, notes, time } = createRig();
    const fact = { type: 'retrieval', query: 'so', passages: 0, widened: false, failure: null } as const;
    world.execute(
      0,
      callThat(
        () => true,
        (tell) => {
          world.record?.({ type: 'text-delta', attemptId: 'a', text: 'piece' });
          world.record?.(fact);
          tell({ type: 'settled', output: 1 });
        },
      ),
    );
    const outcome = await steps[0]?.();
    expect(notes).toEqual([]);
    const stimuli = [...world.take({ ...(outcome as CallOutcome), atMs: 80 })];
    expect(notes).toEqual([fact]);
    expect(stimuli).toEqual([{ type: 'call-event', call: 0, port: 'port', event: { type: 'settled', output: 1 } }]);
    expect(time.nowMs).toBe(80);
  });

  it('waits for the next event when one was sent', () => {
    const { world, waitingFor } = createRig();
    const event = { type: 'run.finished' } as const;
    expect([...world.take({ type: 'sent', id: 'one', event, atMs: 5 })]).toEqual([{ type: 'delivery', event }]);
    expect(waitingFor()).toEqual(['sent 1']);
  });
});
