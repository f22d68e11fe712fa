import { DurableActorSystem, type SystemParts } from './actor-system.ts';
import { type DurableEntry, type DurableEvent, isAnnotation, isExternal, type StartEntry } from './entries.ts';
import type { ReplayedSystem } from './replay.ts';

/**
 * Evaluates the past of a fork with another input: feeds the external events of a journal to the machine, and returns what it does as the
 * journal of the fork. Notes are copied; events that nothing receives are left out.
 */
export function deriveSystem(past: readonly DurableEntry[], start: StartEntry, parts: SystemParts): ReplayedSystem {
  const entries: DurableEntry[] = [];
  const sentIds = new Set<string>();
  let atMs = 0;
  const append = (event: DurableEvent): void => void entries.push({ seq: entries.length, atMs, ...event });
  const values = past.filter((entry) => entry.type === 'value');
  const system = new DurableActorSystem(start, parts, {
    record: append,
    recorded(name) {
      const next = values.shift();
      return next && { type: 'value', name, value: next.value, error: next.error };
    },
    receive: () => {},
    note: () => {},
  });
  append(start);
  let hasBegun = false;
  for (const entry of past.slice(1)) {
    if (!hasBegun && !isAnnotation(entry)) {
      system.begin();
      hasBegun = true;
    }
    if ((!isExternal(entry) && !isAnnotation(entry)) || entry.type === 'keyframe') continue;
    const { seq: _, atMs: recordedMs, ...event } = entry;
    const { status } = hasBegun ? system.root.getSnapshot() : { status: 'active' };
    if (status !== 'active' && event.type !== 'effect-end') continue;
    atMs = recordedMs;
    if (event.type === 'effect-end') {
      const effects = event.effects.filter((effect) => system.openEffects.delete(effect));
      const isLast = status !== 'active' && system.openEffects.size === 0;
      if (effects.length > 0) append({ type: 'effect-end', effects, ...(isLast && { status: status as 'done' }) });
    } else if (isAnnotation(event)) {
      if (!('activity' in event) || system.activities.has(event.activity as number)) append(event);
    } else if (system.accepts(event)) {
      if (event.type === 'delivery' && event.id !== undefined) sentIds.add(event.id);
      system.apply(event, atMs);
    }
  }
  if (!hasBegun) system.begin();
  return { system, start, entries, divergence: null, unstored: [], sentIds };
}
