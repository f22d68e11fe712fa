import { expect, it } from 'vitest';
import { createMachine } from 'xstate';
import { createDurableMachine, fileJournals } from '../../../src/entries/durable.ts';
import { temporaryFolder } from '../../support/cli.ts';

it('forks an actor with a past of any size, and the fork continues from a keyframe', async () => {
  const machine = createMachine({ id: 'm', on: { NOTE: {} } });
  const actors = createDurableMachine(machine, { journals: fileJournals(temporaryFolder()) });
  const actor = await actors.open('a');
  const large = 'a'.repeat(10_000_000);
  for (let at = 0; at < 28; at += 1) await actor.send({ type: 'NOTE', large });
  await Promise.all(Array.from({ length: 2_100 }, () => actor.send({ type: 'NOTE' })));
  await actor.close();
  await (await actors.fork('a', { at: actor.entries.length - 1, id: 'fork' })).close();
  const fork = await actors.open('fork');
  expect(fork.entries[1]).toMatchObject({ type: 'keyframe', seq: expect.toSatisfy((seq: number) => seq > 1) });
  await fork.close();
});
