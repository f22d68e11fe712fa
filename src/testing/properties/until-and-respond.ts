import type { AnyMachineSnapshot } from 'xstate';
import { requireKnownOptions } from '../../internal/require-known.ts';
import type { EventuallyOptions } from './always-eventually.ts';
import { labeledStates, snapshotAfter } from './labeled-states.ts';
import { describeState, type Property } from './properties.ts';
import { findUnfulfilled } from './unfulfilled.ts';

type Predicate = (snapshot: AnyMachineSnapshot) => boolean;

/**
 * On every path, the first predicate holds in each state before the first state in which the second one holds, which need not come. With an
 * `abstraction`, it must contain everything that the predicates read.
 *
 * @example
 * until('nothing is paid', ({ context }) => context.paid === 0, 'approved', ({ context }) => context.approved);
 */
export function until(name: string, holds: Predicate, end: string, ends: Predicate): Property {
  const labelOf = (snapshot: AnyMachineSnapshot) => (ends(snapshot) ? null : holds(snapshot) ? 'holds' : 'broken');
  return {
    name: `${name} until ${end}`,
    check(exploration) {
      const states = labeledStates<'holds' | 'broken'>(exploration, (before, step) =>
        before === 'broken' ? null : labelOf(snapshotAfter(exploration, step)),
      );
      const broken = states.find(({ label }) => label === 'broken');
      if (broken === undefined) return null;
      return { what: `neither holds in ${describeState(broken.state)}`, path: broken.path() };
    },
  };
}

/**
 * Whenever the first predicate holds, the second one holds in the same state or later, whatever is sent meanwhile and whatever the outcomes of
 * actors. As for `alwaysEventually`, nothing more need be sent, delays elapse, actors end, and an actor that repeats an event without leaving
 * the state is assumed to stop. With an `abstraction`, it must contain everything that the predicates read.
 *
 * @example
 * respond('charged', ({ context }) => context.charged, 'shipped or refunded', (snapshot) => snapshot.status === 'done');
 */
export function respond(
  name: string,
  asks: Predicate,
  response: string,
  responds: Predicate,
  options: EventuallyOptions = {},
): Property {
  requireKnownOptions('respond', options, 'finitely');
  const { finitely = () => false } = options;
  const isOwed = (snapshot: AnyMachineSnapshot, was: boolean): boolean =>
    (was || asks(snapshot)) && !responds(snapshot);
  return {
    name: `${name} leads to ${response}`,
    requiresComplete: true,
    check(exploration) {
      const states = labeledStates<boolean>(exploration, (was, step) =>
        isOwed(snapshotAfter(exploration, step), was ?? false),
      );
      const owed = states.filter(({ label }) => label);
      return findUnfulfilled(exploration, owed, finitely);
    },
  };
}
