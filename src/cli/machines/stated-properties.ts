import type { AnyMachineSnapshot, AnyStateMachine } from 'xstate';
import { PostChainError } from '../../../machines/contracts/error.ts';
import { nodesOf } from '../../durable/charts/chart-nodes.ts';
import { alwaysEventually } from '../../testing/properties/always-eventually.ts';
import { endsWithin } from '../../testing/properties/ends.ts';
import { precedes } from '../../testing/properties/precedes.ts';
import { atMost, never, noIgnoredEvent, type Property } from '../../testing/properties/properties.ts';
import { respond, until } from '../../testing/properties/until-and-respond.ts';
import { activeNodes } from '../../xstate/actors.ts';
import { lintProperties } from '../explore-module.ts';
import { fieldOf } from './explore-file.ts';
import type { StatedProperty } from './tool-schemas.ts';

/** Returns the properties that a caller states as JSON. */
export function propertiesOf(machine: AnyStateMachine, stated: readonly StatedProperty[]): readonly Property[] {
  return stated.flatMap((one) =>
    one.property === 'soundness' ? lintProperties({ properties: [] }) : propertyOf(machine, one),
  );
}

function propertyOf(machine: AnyStateMachine, stated: Exclude<StatedProperty, { property: 'soundness' }>): Property {
  switch (stated.property) {
    case 'precedes':
      for (const mark of [stated.first, stated.before]) if ('state' in mark) requireState(machine, mark.state);
      return precedes(stated.first, stated.before, stated.times);
    case 'endsWithin':
      return endsWithin(stated.events);
    case 'ends':
      return alwaysEventually('ended', ({ status }) => status !== 'active');
    case 'eventually':
      return alwaysEventually(...isInOne(machine, stated.states));
    case 'until':
      return until(...isInOne(machine, stated.states), ...isInOne(machine, stated.end));
    case 'respond':
      return respond(...isInOne(machine, stated.states), ...isInOne(machine, stated.response));
    case 'never': {
      const active = stated.states.map((name) => isIn(machine, name));
      return never(stated.states.join(' and '), (snapshot) => active.every((matches) => matches(snapshot)));
    }
    case 'atMost':
      return atMost(stated.field, stated.most, ({ context }) => numberIn(context, stated.field));
    case 'handlesEvents':
      return noIgnoredEvent(stated.mayIgnore ?? {});
    default:
      return stated satisfies never;
  }
}

function numberIn(context: unknown, field: string): number {
  const value = fieldOf(context, field);
  return typeof value === 'number' ? value : Number.NaN;
}

/** Whether a state, by its id with or without that of the machine, is active. */
function isIn(machine: AnyStateMachine, name: string): (snapshot: AnyMachineSnapshot) => boolean {
  const id = requireState(machine, name);
  return (snapshot) => activeNodes(snapshot).some((node) => node.id === id);
}

/** Returns the name of the condition that one of several states is active, and the condition. */
function isInOne(machine: AnyStateMachine, names: readonly string[]) {
  const active = names.map((name) => isIn(machine, name));
  return [names.join(' or '), (snapshot: AnyMachineSnapshot) => active.some((matches) => matches(snapshot))] as const;
}

const MAX_NAMES = 30;

/** Returns the id of a state. */
function requireState(machine: AnyStateMachine, name: string): string {
  const ids = nodesOf(machine).map(({ id }) => id);
  const found = ids.find((id) => id === name) ?? ids.find((id) => id === `${machine.id}.${name}`);
  if (found !== undefined) return found;
  const known = ids.slice(0, MAX_NAMES).join(', ');
  throw new PostChainError(
    'invalid_option',
    `"${name}" is not a state of ${machine.id}; expected one of ${known}${ids.length > MAX_NAMES ? ', …' : ''}`,
  );
}
