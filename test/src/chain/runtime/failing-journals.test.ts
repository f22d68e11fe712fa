import { describe, expect, it } from 'vitest';
import { PostChainError } from '../../../../machines/contracts/error.ts';
import { memorySessions } from '../../../../src/chain/runtime/memory-sessions.ts';
import type { DurableEntry } from '../../../../src/durable/entries.ts';
import type { JournalStore, JournalWriter } from '../../../../src/durable/journals/journal-store.ts';
import { memoryJournals } from '../../../../src/durable/journals/memory-journals.ts';
import { throwing } from '../../../support/errors.ts';
import { startScripted } from '../../../support/run-chain.ts';

/** A store that writes the first steps and then does as told. */
function storeThat(fail: (entries: readonly DurableEntry[]) => void | Promise<void>, goodSteps = 3): JournalStore {
  let steps = 0;
  const writer: JournalWriter = {
    failure: null,
    write(entries) {
      steps += 1;
      return steps > goodSteps ? fail(entries) : undefined;
    },
    close: () => {},
  };
  return { ...memoryJournals(), create: () => writer };
}

const diskFull = throwing('the disk is full');

describe('a run whose journal cannot be written', () => {
  it('[R4] continues by default, and its answer says that the journal is incomplete', async () => {
    const { run, model } = startScripted({}, { journals: storeThat(diskFull) });
    const answer = await run.answer;
    expect(answer.status).toBe('completed');
    expect(answer.notes).toContain('The journal is incomplete: the disk is full');
    expect(model.calls).toHaveLength(7);
  });

  it('stops if the chain is told to, and makes no call of the step that was not written', async () => {
    const { run, model } = startScripted({}, { journals: storeThat(diskFull, 2), whenJournalFails: 'stop' });
    const answer = await run.answer;
    expect(answer).toMatchObject({ status: 'degraded', metadata: { reason: 'interrupted' } });
    expect(answer.notes).toContain('the disk is full');
    expect(model.calls).toHaveLength(1);
  });

  const taken = async (): Promise<never> => {
    throw new PostChainError('journal_fenced', 'process 7 has taken it over');
  };

  it('stops whatever the option says if another process has taken over the journal', async () => {
    const { run, model } = startScripted({}, { journals: storeThat(taken, 2) });
    expect((await run.answer).status).toBe('degraded');
    expect(run.journalFailure).toBe('process 7 has taken it over');
    expect(model.calls).toHaveLength(1);
  });

  it.each([
    ['leaves its turn to a process that has taken over the journal', taken, 0],
    ['still stores its turn if it goes on without the journal', diskFull, 1],
  ])('%s', async (_, fail, turns) => {
    const sessions = memorySessions();
    const { run } = startScripted({}, { journals: storeThat(fail, 2), sessions }, { sessionId: 'chat' });
    await run.answer;
    expect(await sessions.recall('chat', { turns: 5, signal: new AbortController().signal })).toHaveLength(turns);
  });
});

it('a journal that is written later holds back the calls and the answer until each step is written', async () => {
  const written: (() => void)[] = [];
  const journals = storeThat(() => new Promise<void>((resolve) => written.push(resolve)), 0);
  const { run, model } = startScripted({}, { journals });
  let answered = false;
  void run.answer.then(() => {
    answered = true;
  });
  await turn();
  expect([model.calls.length, written.length, answered]).toEqual([0, 1, false]);
  for (let steps = 0; !answered && steps < 200; steps += 1) {
    const callsBefore = model.calls.length;
    written.shift()?.();
    await turn();
    expect(model.calls.length - callsBefore).toBeLessThanOrEqual(1);
  }
  expect(run.entries.at(-1)?.type).toBe('end');
  expect(answered).toBe(true);
});

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
