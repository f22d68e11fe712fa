/** Returns a guard's name with its parameters, as the journal records it: `nextPhaseIs(action)`. */
function guardName(name: string, params: unknown): string {
  if (params === undefined || params === null || typeof params !== 'object') return name;
  const values = Object.values(params).filter((value) => typeof value === 'string');
  return values.length === 0 ? name : `${name}(${values.join(', ')})`;
}

/** Returns the label of a guard in a chart: its name with its static parameters; `inline` for an anonymous function. */
export function guardLabel(guard: unknown): string {
  if (typeof guard === 'string') return guard;
  // JavaScript names an anonymous function after the property it is assigned to.
  if (typeof guard === 'function') return guard.name === '' || guard.name === 'guard' ? 'inline' : guard.name;
  const { type, params } = guard as { type: string; params?: unknown };
  return guardName(type, typeof params === 'function' ? undefined : params);
}
