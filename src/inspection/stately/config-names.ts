import { guardName } from '../../engine/recording/guard-logs.ts';
import { isMembers, type Members } from './json-members.ts';

/** The package writes a function as an object of its name: these are actions that XState makes, by the names of their functions. */
const BUILT_IN: ReadonlyMap<string, string> = new Map([
  ...['assign', 'raise', 'sendTo', 'emit', 'log', 'cancel', 'enqueueActions', 'spawnChild', 'stopChild'].map(
    (name) => [name, `xstate.${name}`] as const,
  ),
  ['stop', 'xstate.stopChild'],
]);
/** A function without a name of its own is called as the member that it stands in. */
const UNNAMED: ReadonlySet<string> = new Set(['', 'guard', 'actions', 'params']);

/** A guard of a transition; null for none. */
export function guardOf(guard: unknown): string | null {
  if (guard === undefined || guard === null) return null;
  if (typeof guard === 'string') return guard;
  const type = typeOf(guard);
  if (type === null || (isFunction(guard) && UNNAMED.has(type))) return 'inline';
  const { params } = guard as Members;
  return guardName(type, isFunction(params) ? undefined : params);
}

export function actionOf(action: unknown): string {
  if (typeof action === 'string') return action;
  const type = typeOf(action);
  if (type === null) return 'inline';
  if (!isFunction(action)) return type;
  return UNNAMED.has(type) ? 'inline' : (BUILT_IN.get(type) ?? type);
}

const typeOf = (value: unknown): string | null =>
  isMembers(value) && typeof value['type'] === 'string' ? value['type'] : null;

/** Cannot be told from an object that has a type and nothing else, for which a string would do. */
function isFunction(value: unknown): boolean {
  return typeOf(value) !== null && Object.keys(value as Members).length === 1;
}
