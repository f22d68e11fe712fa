import { describe, expect, it } from 'vitest';
import type { AnyStateMachine } from 'xstate';
import type { DurableEntry } from '../../../../src/durable/entries.ts';
import { idempotencyKey } from '../../../../src/durable/hosted-call.ts';
import { createDurableMachine, memoryJournals } from '../../../../src/entries/durable.ts';
import { scenarios } from '../../../support/durable-machines.ts';
import { repeatedAfterEnd } from '../../../support/durable-runs.ts';
import { playActor } from '../../../support/restate-actors.ts';

/** Returns the divergence of a replay. */
function divergenceOf(machine: AnyStateMachine, entries: readonly DurableEntry[]): unknown {
  const steps = createDurableMachine(machine, { journals: memoryJournals(), logger: () => {} }).replaySteps(entries);
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value.divergence;
  }
}

/** Only the process of an actor can send an event to a child from outside. */
const played = Object.entries(scenarios).filter(
  ([, { steps }]) => !steps.some((step) => typeof step === 'object' && 'child' in step),
);

describe.each(played)('%s', (_, { machine: build, input, steps, ends }) => {
  const play = async (kills: readonly number[]) => {
    const calls: string[] = [];
    const machine = build({ called: (name, args) => void calls.push(`${name} ${idempotencyKey(args)}`) });
    return { calls, machine, ...(await playActor({ machine, input, steps, kills })) };
  };

  it('has one journal, killed at each outcome, and repeats nothing that ended', async () => {
    const whole = await play([]);
    const [journal = []] = whole.journals;
    expect(whole.status.value).toEqual(ends);
    expect(divergenceOf(whole.machine, journal)).toBeNull();
    const each = Array.from({ length: whole.outcomes }, (__, kill) => kill);
    for (const kills of [...each.map((kill) => [kill]), each]) {
      const killed = await play(kills);
      expect(killed.journals.at(-1), `killed at ${kills}`).toEqual(journal);
      expect(killed.requests, `killed at ${kills}`).toEqual(whole.requests);
      for (const stored of killed.journals.slice(0, -1))
        expect(stored, `killed at ${kills}`).toEqual(journal.slice(0, stored.length));
      if (kills.length === 1) expect(repeatedAfterEnd(killed.calls, killed.journals[0] ?? [])).toEqual([]);
      expect(new Set(killed.calls), `killed at ${kills}`).toEqual(new Set(whole.calls));
    }
  });
});
