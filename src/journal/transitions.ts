import type { AnyStateNode, AnyTransitionDefinition, InspectedMicrostepEvent } from 'xstate';
import type { RuntimeFact } from '../../machines/contracts/journal-entry.ts';
import { guardName, type VerdictLog } from './guard-verdicts.ts';

type TransitionFact = Extract<RuntimeFact, { type: 'transition' }>;

/** What a microstep did, one fact a transition: the candidates in their order, what each guard said, and what it saw. */
export function transitionFacts(step: InspectedMicrostepEvent, log: VerdictLog): readonly TransitionFact[] {
  const facts = step._transitions.map((taken): TransitionFact => {
    const { source, eventType } = taken;
    return {
      type: 'transition',
      machine: source.machine.id,
      event: step.event.type,
      source: source.id,
      target: targetIds(taken),
      candidates: candidatesOf(source, eventType, taken, log),
    };
  });
  log.clear();
  return facts;
}

function candidatesOf(
  source: AnyStateNode,
  eventType: string,
  taken: AnyTransitionDefinition,
  log: VerdictLog,
): TransitionFact['candidates'] {
  const candidates: readonly AnyTransitionDefinition[] =
    eventType === '' ? (source.always ?? []) : (source.transitions.get(eventType) ?? []);
  const position = candidates.indexOf(taken);
  return candidates.map((candidate, index) => {
    const guard = nameOf(candidate);
    const verdict = index < position ? 'false' : index === position ? 'taken' : 'not-evaluated';
    const inputs = guard === null || verdict === 'not-evaluated' ? null : (log.take(guard)?.inputs ?? null);
    return { guard, target: targetIds(candidate), verdict, inputs };
  });
}

const targetIds = ({ target }: AnyTransitionDefinition): string[] => (target ?? []).map(({ id }) => id);

function nameOf({ guard }: AnyTransitionDefinition): string | null {
  if (guard === undefined) return null;
  if (typeof guard === 'string') return guard;
  if (typeof guard === 'function') return guard.name || 'inline';
  const { type, params } = guard as { type: string; params?: unknown };
  return guardName(type, typeof params === 'function' ? undefined : params);
}
