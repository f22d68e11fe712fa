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

import { transitionsTaken } from '../../internal/xstate-internals.ts';
import { type GuardLog, type GuardLogs, guardLabel } from './guard-logs.ts';

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

type TransitionFact = Extract<RuntimeEvent, { type: 'transition' }>;
type Candidate = TransitionFact['candidates'][number];

/**
 * What a microstep did, one fact a transition: the candidates in their order, what each guard said, and what it saw. There are none
 * where there was nothing to choose: one candidate without a guard.
 */
function transitionFacts(step: InspectedMicrostepEvent, logs: GuardLogs): readonly TransitionFact[] {
  const facts: TransitionFact[] = [];
  const transitions = transitionsTaken(step);
  for (const taken of transitions) {
    if (!moves(taken)) continue;
    const { machine, source, target, candidates } = outlineOf(taken);
    const log = logs.of(machine);
    facts.push({
      type: 'transition',
      machine,
      event: step.event.type,
      source,
      target,
      candidates: withInputs(candidates, log),
    });
  }
  for (const { source } of transitions) logs.of(source.machine.id).clear();
  return facts;
}

/** A transition without a target and without a guard only takes something in: no state was left or entered. */
function moves({ target, guard }: AnyTransitionDefinition): boolean {
  return target !== undefined || guard !== undefined;
}

type Outline = Pick<TransitionFact, 'machine' | 'source' | 'target' | 'candidates'>;

/** Everything about taking a transition but the numbers: the same each time, so made once and shared by its facts. */
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

function candidatesOf(taken: AnyTransitionDefinition): Candidate[] {
  const { source, eventType } = taken;
  const all: readonly AnyTransitionDefinition[] =
    eventType === '' ? (source.always ?? []) : (source.transitions.get(eventType) ?? []);
  if (all.length === 1 && taken.guard === undefined) return [];
  const position = all.indexOf(taken);
  return all.map((candidate, index) => ({
    guard: nameOf(candidate),
    target: targetIds(candidate),
    verdict: index < position ? 'false' : index === position ? 'taken' : 'not-evaluated',
    inputs: null,
  }));
}

/** The candidates with what their guards saw; the shared ones where no guard saw anything. */
function withInputs(candidates: Candidate[], log: GuardLog): Candidate[] {
  if (log.isEmpty) return candidates;
  return candidates.map((candidate) => {
    if (candidate.guard === null || candidate.verdict === 'not-evaluated') return candidate;
    const seen = log.take(candidate.guard);
    return seen === null ? candidate : { ...candidate, inputs: seen.inputs };
  });
}

const targetIds = ({ target }: AnyTransitionDefinition): string[] => (target ?? []).map(({ id }) => id);

const nameOf = ({ guard }: AnyTransitionDefinition): string | null => (guard === undefined ? null : guardLabel(guard));
