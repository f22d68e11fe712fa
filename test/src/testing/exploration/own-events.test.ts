import { expect, it } from 'vitest';
import { type AnyStateMachine, createMachine, raise, sendTo } from 'xstate';
import { explore } from '../../../../src/testing/exploration/explore.ts';

const sentTo = (machine: AnyStateMachine): readonly string[] =>
  explore(machine).edges.flatMap(({ occurrence: { kind, name } }) => (kind === 'sent' ? [name] : []));

const reminder = { type: 'reminder' } as const;

it.each<[string, object, object?]>([
  ['at an entry', { entry: raise(reminder, { delay: 60_000 }) }],
  ['at an exit', { exit: raise(reminder) }],
  ['in a transition', { on: { finish: { target: 'over', actions: raise(reminder) } } }],
  ['in an action that has a name', { entry: 'remind' }, { remind: raise(reminder) }],
])('an event that the machine raises %s is not sent from outside by default', (_, open, actions = {}) => {
  const machine: AnyStateMachine = createMachine({
    id: 'task',
    initial: 'open',
    states: { open: { on: { finish: 'over' }, ...open }, over: { on: { reminder: 'open' } } },
  }).provide({ actions });
  expect(new Set(sentTo(machine))).toEqual(new Set(['finish']));
  const { edges } = explore(machine, { events: [reminder] });
  expect(edges.some(({ occurrence: { kind } }) => kind === 'sent')).toBe(true);
});

it('sends an event that a function computes, because its type is not known', () => {
  const machine = createMachine({
    on: { GO: { actions: [raise(() => ({ type: 'NEXT' })), sendTo(({ self }) => self, { type: 'NEXT' })] }, NEXT: {} },
  });
  expect(sentTo(machine)).toEqual(['GO', 'NEXT']);
});
