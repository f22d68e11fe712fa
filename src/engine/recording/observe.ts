import { type Actor, type ActorRefLike, type AnyActorLogic, type InspectionEvent, StateMachine } from 'xstate';
import type { EmittedEvent } from '../../../machines/contracts/emitted-event.ts';
import type { JournalEvent } from '../../../machines/contracts/journal-entry.ts';
import type { GuardLogs } from './guard-logs.ts';
import { transitionFacts } from './transitions.ts';

/**
 * An XState inspector that writes a system of actors into a journal: what the machines emit, and every transition with its
 * guards. It never throws: an error in here would stop the run that it watches.
 */
export function observeSystem(append: (fact: JournalEvent) => void, logs: GuardLogs) {
  return (event: InspectionEvent): void => {
    if (event.type === '@xstate.microstep') {
      for (const fact of transitionFacts(event, logs)) append(fact);
    } else if (event.type === '@xstate.actor') {
      listenTo(event.actorRef, append);
    }
  };
}

/** Of all actors in the system, only machines emit: the facts of the charts. */
function listenTo(actor: ActorRefLike, append: (fact: JournalEvent) => void): void {
  const { logic, on } = actor as Actor<AnyActorLogic>;
  if (logic instanceof StateMachine) on.call(actor, '*', (fact) => append(fact as EmittedEvent));
}
