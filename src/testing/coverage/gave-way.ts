import type { AnyMachineSnapshot, AnyTransitionDefinition } from 'xstate';
import { isWithin, leftBy } from '../structure/entered.ts';
import { activeNodes } from '../structure/nodes.ts';

/**
 * Those of several transitions that a machine took: XState's inspection tells of all that were enabled, but of two in parallel regions that
 * would leave the same state, one gives way: the later, unless it is further within (SCXML, `removeConflictingTransitions`).
 */
export function withoutThoseThatGaveWay(
  enabled: readonly AnyTransitionDefinition[],
  before: AnyMachineSnapshot | undefined,
): readonly AnyTransitionDefinition[] {
  if (enabled.length < 2 || before === undefined) return enabled;
  const active = activeNodes(before);
  let kept: readonly AnyTransitionDefinition[] = [];
  for (const one of enabled) {
    const left = new Set(leftBy(one, active));
    const rivals = kept.filter((other) => leftBy(other, active).some((node) => left.has(node)));
    const isInner = rivals.every((other) => one.source !== other.source && isWithin(one.source, other.source));
    if (isInner) kept = [...kept.filter((other) => !rivals.includes(other)), one];
  }
  return kept;
}
