import {
  type Actor,
  type ActorRefLike,
  type AnyActorLogic,
  type AnyTransitionDefinition,
  type InspectedMicrostepEvent,
  type InspectionEvent,
  StateMachine,
} from 'xstate';
import type { EmittedEvent } from '../../../machines/contracts/events.ts';
import type { JournalEvent, RuntimeEvent } from '../../../machines/contracts/journal.ts';
import { guardLabel } from '../../durable/charts/guard-label.ts';
import { transitionsTaken } from '../../internal/xstate-internals.ts';
import type { GuardLog, GuardLogs } from './guard-logs.ts';

export const OBSERVED_TYPES: ReadonlySet<InspectionEvent['type']> = new Set(['@xstate.microstep', '@xstate.actor']);

/**
 * Returns an XState inspector that records an actor system: what its machines emit, and each transition with the guards that were
 * evaluated for it. It never throws, because an error in an inspector would stop the run.
 */
export function observeSystem(append: (event: JournalEvent) => void, logs: GuardLogs) {
  return (event: InspectionEvent): void => {
    if (event.type === '@xstate.microstep') {
      for (const transition of transitionEvents(event, logs)) append(transition);
    } else if (event.type === '@xstate.actor') {
      recordEmitted(event.actorRef, append);
    }
  };
}

function recordEmitted(actor: ActorRefLike, append: (event: JournalEvent) => void): void {
  const { logic, on } = actor as Actor<AnyActorLogic>;
  if (logic instanceof StateMachine) on.call(actor, '*', (event) => append(event as EmittedEvent));
}

type TransitionEvent = Extract<RuntimeEvent, { type: 'transition' }>;
type Candidate = TransitionEvent['candidates'][number];

function transitionEvents(step: InspectedMicrostepEvent, logs: GuardLogs): readonly TransitionEvent[] {
  const events: TransitionEvent[] = [];
  const transitions = transitionsTaken(step);
  for (const taken of transitions) {
    if (isInternal(taken)) continue;
    const { machine, source, target, candidates } = outlineOf(taken);
    events.push({
      type: 'transition',
      machine,
      event: step.event.type,
      source,
      target,
      candidates: withInputs(candidates, logs.of(machine)),
    });
  }
  for (const { source } of transitions) logs.of(source.machine.id).clear();
  return events;
}

/** A transition without a target and a guard only runs actions: it enters no state and decides nothing. */
function isInternal({ target, guard }: AnyTransitionDefinition): boolean {
  return target === undefined && guard === undefined;
}

type Outline = Pick<TransitionEvent, 'machine' | 'source' | 'target' | 'candidates'>;

/** Everything about a transition except its event and its guards' inputs: computed once and shared by its journal events. */
const outlines = new WeakMap<AnyTransitionDefinition, Outline>();

function outlineOf(taken: AnyTransitionDefinition): Outline {
  const known = outlines.get(taken);
  if (known !== undefined) return known;
  const { source } = taken;
  const outline = {
    machine: source.machine.id,
    source: source.id,
    target: targetIds(taken),
    candidates: candidatesOf(taken),
  };
  outlines.set(taken, outline);
  return outline;
}

/** Returns the candidates in order of evaluation; none if the only one has no guard. */
function candidatesOf(taken: AnyTransitionDefinition): Candidate[] {
  const { source, eventType } = taken;
  const all: readonly AnyTransitionDefinition[] =
    eventType === '' ? (source.always ?? []) : (source.transitions.get(eventType) ?? []);
  if (all.length === 1 && taken.guard === undefined) return [];
  const position = all.indexOf(taken);
  return all.map((candidate, index) => ({
    guard: candidate.guard === undefined ? null : guardLabel(candidate.guard),
    target: targetIds(candidate),
    result: index < position ? 'false' : index === position ? 'taken' : 'not-evaluated',
    inputs: null,
  }));
}

/** Returns the candidates with the values that their guards compared, or the shared candidates if there are none. */
function withInputs(candidates: Candidate[], log: GuardLog): Candidate[] {
  if (log.size === 0) return candidates;
  return candidates.map((candidate) => {
    if (candidate.guard === null || candidate.result === 'not-evaluated') return candidate;
    const result = log.get(candidate.guard);
    return result === undefined ? candidate : { ...candidate, inputs: result.inputs };
  });
}

const targetIds = ({ target }: AnyTransitionDefinition): string[] => (target ?? []).map(({ id }) => id);
