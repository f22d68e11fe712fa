import { beforeAll, expect, it } from 'vitest';
import type { AnyStateMachine } from 'xstate';
import { createActor } from 'xstate6';
import { createMachineFromSCXML } from 'xstate6/scxml';
import { createDurableMachine, memoryJournals } from '../../src/entries/durable.ts';
import { cover, explore, runPath } from '../../src/entries/testing.ts';
import { hostXState6 } from '../../src/entries/xstate6.ts';

beforeAll(() => hostXState6({ createActor }));

const door = (): AnyStateMachine =>
  createMachineFromSCXML(`
    <scxml xmlns="http://www.w3.org/2005/07/scxml" version="1.0" name="door" initial="closed" datamodel="ecmascript">
      <datamodel><data id="opened" expr="0"/></datamodel>
      <state id="closed">
        <transition event="open" cond="opened &lt; 2" target="opened"><assign location="opened" expr="opened + 1"/></transition>
        <transition event="open" target="worn"/>
      </state>
      <state id="opened"><transition event="close" target="closed"/></state>
      <final id="worn"/>
    </scxml>`) as unknown as AnyStateMachine;

it('a machine from SCXML is explored, and each path runs', () => {
  const machine = createMachineFromSCXML(`
    <scxml xmlns="http://www.w3.org/2005/07/scxml" version="1.0" name="line" initial="calls">
      <parallel id="calls">
        <state id="audio" initial="muted">
          <state id="muted"><transition event="audio.toggle" target="on"/></state>
          <state id="on"><transition event="audio.toggle" target="muted"/></state>
          <history id="last"><transition target="muted"/></history>
        </state>
        <state id="video"><transition event="video.*"/></state>
        <transition event="hang.up" target="ended"/>
      </parallel>
      <final id="ended"/>
    </scxml>`) as unknown as AnyStateMachine;
  const events = [{ type: 'audio.toggle' }, { type: 'video.toggle' }, { type: 'hang.up' }];
  // Its context contains the last event.
  const exploration = explore(machine, { events, abstraction: () => null });
  expect(exploration.states.map(({ value }) => JSON.stringify(value))).toEqual([
    '{"calls":{"audio":"muted","video":{}}}',
    '{"calls":{"audio":"on","video":{}}}',
    '"ended"',
    // With another history.
    '"ended"',
  ]);
  for (const path of cover(exploration)) runPath(exploration, path);
});

it('an exploration refuses a machine from SCXML that assigns data, because XState changes its context in place', () => {
  expect(() => explore(door(), { events: [{ type: 'open' }, { type: 'close' }] })).toThrow(
    /door changes its context in place/u,
  );
});

it('a machine from SCXML is durable', async () => {
  const journals = memoryJournals();
  const first = await createDurableMachine(door(), { journals }).open('d', { input: undefined });
  await first.send({ type: 'open' });
  await first.close();
  const doors = createDurableMachine(door(), { journals });
  const again = await doors.open('d');
  await again.send({ type: 'close' });
  for (const type of ['open', 'close', 'open']) await again.send({ type });
  expect(again.getSnapshot().value).toBe('worn');
  expect((await doors.replay('d')).divergence).toBeNull();
});
