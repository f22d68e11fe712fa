import { createInspector } from '@statelyai/inspect';
import { describe, expect, it } from 'vitest';
import type { AnyStateMachine } from 'xstate';
import { actionMachine } from '../../../../machines/action/action.machine.ts';
import { attemptMachine } from '../../../../machines/attempt/attempt.machine.ts';
import { chainMachine } from '../../../../machines/chain/chain.machine.ts';
import { type Chart, chartOf } from '../../../../src/diagram/chart.ts';
import { chartOfOutline } from '../../../../src/inspection/stately/chart-of-definition.ts';
import { decodeDefinition } from '../../../../src/inspection/stately/decode.ts';
import { machineOutline } from '../../../../src/inspection/stately/machine-outline.ts';
import { callerMachine, flatMachine, playerMachine } from './machines.ts';

const machines: readonly AnyStateMachine[] = [
  chainMachine,
  attemptMachine,
  actionMachine,
  playerMachine,
  callerMachine,
  flatMachine,
];

/** What the package sends of a machine. */
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

/** In the order of names, by which the package sorts; a guard that is a function has no name in `chartOf`. */
function sorted({ id, states, transitions }: Chart): unknown {
  const byText = (one: unknown, other: unknown) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1);
  const guarded = transitions.map((transition) => ({
    ...transition,
    guard: transition.guard === undefined ? 'inline' : transition.guard,
    actions: transition.actions.map((action) => action),
  }));
  return { id, states: [...states].sort(byText), transitions: guarded.sort(byText) };
}

describe('the chart of a definition that an inspector sent', () => {
  it.each(machines.map((machine) => [machine.id, machine] as const))(
    'is the chart of the machine: %s',
    (_, machine) => {
      expect(sorted(chartFrom(sentDefinition(machine, 30)))).toEqual(sorted(chartOf(machine)));
    },
  );
});
