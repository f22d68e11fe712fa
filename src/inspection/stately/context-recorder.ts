import { changesBetween } from '../../engine/recording/state-changes.ts';
import { sharedJson } from './shared-json.ts';
import type { SystemEvent } from './system-entries.ts';

const LEAST_ENTRIES = 256;
/** Roughly what an entry takes, as for the states of a run: see src/engine/runtime/state-recorder.ts. */
const ENTRY_CHARS = 150;

/** Tells the contexts of all actors as one state, by their names; all of it first, and then again every so often. */
export function createContextRecorder(append: (fact: SystemEvent) => void, count: () => number) {
  const contexts = new Map<string, unknown>();
  let due = 0;
  const keyframe = (): void => {
    const state = Object.fromEntries(contexts);
    append({ type: 'keyframe', state });
    due = count() + Math.max(LEAST_ENTRIES, Math.ceil(JSON.stringify(state).length / ENTRY_CHARS));
  };
  const tell = (actor: string, context: unknown): void => {
    const known = contexts.has(actor);
    const before = contexts.get(actor);
    const next = sharedJson(before, context);
    if (known && next === before) return;
    contexts.set(actor, next);
    if (count() >= due) keyframe();
    else {
      const changes = known ? changesBetween(before, next, [actor]) : [{ path: [actor], value: next }];
      append({ type: 'state', changes });
    }
  };
  /** `keyframe` begins the journal, before any context is known. */
  return { keyframe, tell };
}
