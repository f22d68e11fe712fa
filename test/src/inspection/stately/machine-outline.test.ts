import { createInspector } from '@statelyai/inspect';
import { describe, expect, it } from 'vitest';
import { type AnyStateMachine, assign, createMachine, not } from 'xstate';
import { actionMachine } from '../../../../machines/action/action.machine.ts';
import { attemptMachine } from '../../../../machines/attempt/attempt.machine.ts';
import { chainMachine } from '../../../../machines/chain/chain.machine.ts';
import { type Chart, chartOf } from '../../../../src/durable/charts/chart.ts';
import { machineDefinition } from '../../../../src/inspection/stately/journal-messages.ts';
import { machineOutline } from '../../../../src/inspection/stately/machine-outline.ts';
import { decodeDefinition } from '../../../../src/inspection/stately/messages.ts';
import { chartOfOutline } from '../../../../src/inspection/stately/system-charts.ts';
import { callerMachine, flatMachine, playerMachine } from '../../../support/example-machines.ts';

const machines: readonly AnyStateMachine[] = [
  chainMachine,
  attemptMachine,
  actionMachine,
  playerMachine,
  callerMachine,
  flatMachine,
];

/** Returns what the package sends for a machine. */
function sentDefinition(machine: AnyStateMachine, serializationDepthLimit?: number): string {
  const sent: { definition?: string }[] = [];
  const inspector = createInspector(
    { send: (message) => void sent.push(message as never) },
    serializationDepthLimit === undefined ? {} : { serializationDepthLimit },
  );
  inspector.actor({ logic: machine, sessionId: 'x:0' } as never);
  return sent[0]?.definition ?? '';
}

function chartFrom(text: string): Chart {
  const read = decodeDefinition(text);
  if (read === null) throw new Error('no definition');
  return chartOfOutline(machineOutline(read.definition));
}

/** Sorted by name like in the package; `chartOf` has no name for an inline guard. */
function sorted({ id, states, transitions }: Chart): unknown {
  const byText = (one: unknown, other: unknown) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1);
  const guarded = transitions.map((transition) => ({
    ...transition,
    guard: transition.guard === undefined ? 'inline' : transition.guard,
  }));
  return { id, states: [...states].sort(byText), transitions: guarded.sort(byText) };
}

describe('the chart of a received machine definition', () => {
  it.each(machines.map((machine) => [machine.id, machine] as const))(
    'equals the chart of the machine: %s',
    (_, machine) => {
      expect(sorted(chartFrom(sentDefinition(machine, 30)))).toEqual(sorted(chartOf(machine)));
    },
  );

  it('keeps the order of the machine if the definition contains it, as ours does', () => {
    const plain = (value: unknown) => JSON.parse(JSON.stringify(value));
    for (const machine of [chainMachine, attemptMachine, actionMachine])
      expect(chartFrom(machineDefinition(machine))).toEqual(plain(chartOf(machine)));
  });

  it('reports the parts below ten levels, which the package cuts by default', () => {
    const read = decodeDefinition(sentDefinition(chainMachine));
    expect(read?.truncated).toBe(true);
    const chart = chartFrom(sentDefinition(chainMachine));
    expect(chart.states).toHaveLength(chartOf(chainMachine).states.length);
    expect(decodeDefinition(sentDefinition(chainMachine, 30))?.truncated).toBe(false);
  });

  it('names functions, or calls them inline if they have only a positional name', () => {
    const isLate = () => true;
    const machine = createMachine({
      id: 'm',
      on: {
        A: { guard: isLate, actions: [function ring() {}, () => {}, assign({})] },
        B: { guard: () => true, actions: () => {} },
        C: { guard: not('open'), actions: [{ type: 'note', params: () => 1 }] },
      },
    });
    const { transitions } = chartFrom(sentDefinition(machine));
    expect(transitions.map(({ guard, actions }) => [guard, ...actions])).toEqual([
      ['isLate', 'ring', 'inline', 'xstate.assign'],
      ['inline', 'inline'],
      ['not', 'note'],
    ]);
  });

  it('is absent for an actor that is not a machine', () => {
    for (const text of ['{"id":"x:1"}', '{"type":"fetch"}', '"id"', '[1]', '{', undefined])
      expect(decodeDefinition(text)).toBeNull();
  });
});
