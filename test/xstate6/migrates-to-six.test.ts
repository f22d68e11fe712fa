import { beforeAll, expect, it } from 'vitest';
import { type AnyStateMachine, setup } from 'xstate';
import { createActor, createMachine } from 'xstate6';
import { describeFinding, explore, findingsOf, migratesTo } from '../../src/entries/testing.ts';
import { hostXState6 } from '../../src/entries/xstate6.ts';

beforeAll(() => hostXState6({ createActor }));

const five = setup({}).createMachine({
  id: 'order',
  version: '1',
  initial: 'waiting',
  states: { waiting: { on: { pay: 'paid' }, after: { 1000: 'late' } }, late: {}, paid: { type: 'final' } },
});

const six = (states: object): AnyStateMachine =>
  createMachine({ id: 'order', version: '2', initial: 'open', states } as never) as unknown as AnyStateMachine;

const open = { on: { pay: { target: 'paid' } }, after: { 1000: { target: 'late' } } };

it('proves that each state of a machine of XState 5 moves to one of XState 6', () => {
  const next = six({ open, late: {}, paid: { type: 'final' } });
  const [finding] = findingsOf(explore(five), [migratesTo(explore(next), { state: { waiting: 'open' } })]);
  expect(finding?.witness).toBeNull();
});

it('names the state of a machine of XState 5 that XState 6 does not reach', () => {
  const next = six({ open, overdue: {}, late: { type: 'final' }, paid: { type: 'final' } });
  const findings = findingsOf(explore(five), [
    migratesTo(explore(next), { state: { waiting: 'open', late: 'overdue' } }),
  ]);
  expect(findings.map(describeFinding)).toEqual([
    'FAILS: each state at rest migrates to version "2": "late" leads to "overdue", which the current version never reaches, after start → after 1000 ms',
  ]);
});
