import { expect, it } from 'vitest';
import { memoryJournals } from '../../../src/journal/stores/memory-journals.ts';
import { startScripted } from '../../support/run-chain.ts';

it.each(['write', 'close'] as const)(
  'a run ends with its answer where a store throws as it is to %s',
  async (method) => {
    const writer = {
      failure: null,
      write: () => {},
      close: () => {},
      [method]: () => {
        throw new Error('the store broke');
      },
    };
    const { run } = startScripted({}, { journals: { ...memoryJournals(), create: () => writer } });
    expect((await run.answer).status).toBe('completed');
    for await (const _ of run.events);
    expect(run.journalFailure).toBe('the store broke');
  },
);
