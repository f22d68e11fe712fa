/**
 * Returns the label of a guard in a chart and in journals: its name with its static parameters, such as `nextPhaseIs(action)`; `inline` for an
 * anonymous function.
 */
export function guardLabel(guard: unknown): string {
  if (typeof guard === 'string') return guard;
  // JavaScript names an anonymous function after the property it is assigned to.
  if (typeof guard === 'function') return guard.name === '' || guard.name === 'guard' ? 'inline' : guard.name;
  const { type, params } = guard as { type: string; params?: unknown };
  const values = typeof params === 'object' ? Object.values(params ?? {}).filter((one) => typeof one === 'string') : [];
  return values.length === 0 ? type : `${type}(${values.join(', ')})`;
}
