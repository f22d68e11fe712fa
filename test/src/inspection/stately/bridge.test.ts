import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AnyStateMachine } from 'xstate';
import { actionMachine } from '../../../../machines/action/action.machine.ts';
import { attemptMachine } from '../../../../machines/attempt/attempt.machine.ts';
import { chainMachine } from '../../../../machines/chain/chain.machine.ts';
import type { JournalEntry } from '../../../../machines/contracts/journal.ts';
import { stateAt } from '../../../../src/chain/journal/state-at.ts';
import { memoryJournals } from '../../../../src/chain/journal/stores.ts';
import { chartOf } from '../../../../src/durable/charts/chart.ts';
import { statelyBridge } from '../../../../src/inspection/stately/bridge.ts';
import type { StatelyMessage } from '../../../../src/inspection/stately/journal-messages.ts';
import { type ReceivedSystem, statelyReceiver } from '../../../../src/inspection/stately/receiver.ts';
import { fullChain, fullRunArbitrary, fullRunOptions, runUntilEnded } from '../../../support/random-runs.ts';
import { scriptedChain } from '../../../support/run-chain.ts';

const machines: readonly AnyStateMachine[] = [chainMachine, actionMachine, attemptMachine];

async function bridged(run: Parameters<typeof statelyBridge>[0]): Promise<StatelyMessage[]> {
  const messages: StatelyMessage[] = [];
  await statelyBridge(run, (message) => void messages.push(message)).done;
  return messages;
}

function received(messages: readonly unknown[]): ReceivedSystem {
  const receiver = statelyReceiver({ id: 'a' });
  for (const message of messages) receiver.receive(JSON.stringify(message));
  const [system] = receiver.systems;
  if (system === undefined) throw new Error('no system came');
  return system;
}

async function playedRun() {
  const { chain } = scriptedChain({}, { journals: memoryJournals() });
  const run = chain.run({ request: 'Is it so?' });
  await run.answer;
  return run;
}

describe('a run in the Stately protocol', () => {
  it('round-trips its charts unchanged', async () => {
    const system = received(await bridged(await playedRun()));
    const plain = (value: unknown) => JSON.parse(JSON.stringify(value));
    const { charts, invoked } = system.charts();
    expect(charts.map(({ id }) => id)).toEqual(['postChain', 'actionLoop', 'attempt']);
    for (const [index, chart] of charts.entries()) expect(chart).toEqual(plain(chartOf(machines[index] as never)));
    expect(invoked).toEqual({ action: 'actionLoop', attempt: 'attempt' });
  });

  it('round-trips every visited state in order and the final state', async () => {
    await fc.assert(
      fc.asyncProperty(fullRunArbitrary, async (full) => {
        const { chain, clock } = fullChain(full, { journals: memoryJournals() });
        const run = chain.run(fullRunOptions(full));
        await runUntilEnded(run, clock, full.random.words);
        const messages = await bridged(run.journal);
        const system = received(messages);
        const seen = transitionsOf(system.entries, 'postChain').map(({ target }) => target);
        expect(seen).toEqual(statesOf(run.journal));
        expect(attemptStates(system.entries)).toEqual(attemptStatesOf(run.journal));
        expect(system.info().fidelity.length, system.info().fidelity.join(' ')).toBe(3);
        const last = stateAt(run.journal, run.journal.length);
        const state = stateAt(system.entries, system.entries.length) as unknown as { postChain: unknown };
        expect(state.postChain).toEqual(JSON.parse(JSON.stringify(last)));
        expect(system.info()).toMatchObject({ title: 'postChain', live: false });
      }),
      { numRuns: 30 },
    );
  });
});

const transitionsOf = (entries: readonly JournalEntry[], machine: string) =>
  entries.flatMap((entry) => (entry.type === 'transition' && entry.machine === machine ? [entry] : []));

/** The states of all attempts in the system; each attempt starts with its first state. */
const attemptStates = (entries: readonly JournalEntry[]) =>
  transitionsOf(entries, 'attempt').map(({ target }) => target[0]);

function attemptStatesOf(journal: readonly JournalEntry[]): string[] {
  const first = leafOf(attemptMachine.root);
  const states: string[] = [];
  let attemptId: string | null = null;
  for (const entry of journal) {
    if (entry.type === 'attempt-start' && entry.attemptId !== attemptId) {
      attemptId = entry.attemptId;
      states.push(first);
    } else if (entry.type === 'transition' && entry.machine === 'attempt') {
      const leaf = leafOf(attemptMachine.getStateNodeById(entry.target[0] ?? ''));
      if (leaf !== states.at(-1)) states.push(leaf);
    }
  }
  return states;
}

/** The states of the chain in its journal, without consecutive duplicates. */
function statesOf(journal: readonly JournalEntry[]): string[][] {
  const states = [leafOf(chainMachine.root)];
  for (const { target } of transitionsOf(journal, 'postChain')) {
    const [id] = target;
    const leaf = id === undefined ? states.at(-1) : leafOf(chainMachine.getStateNodeById(id));
    if (leaf !== undefined && leaf !== states.at(-1)) states.push(leaf);
  }
  return states.map((leaf) => [leaf]);
}

function leafOf(node: AnyStateMachine['root']): string {
  const [first] = node.initial.target;
  return first === undefined ? node.id : leafOf(first);
}
