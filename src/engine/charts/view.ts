import type { Chart, ChartState } from './chart.ts';

/** A chart seen down to some depth. Depth counts from the root: its children are at 1. */
export interface View {
  readonly childrenOf: (id: string) => readonly ChartState[];
  /** The state that this one counts as: itself, or its deepest ancestor that is drawn. */
  readonly seenAs: (id: string) => string;
  readonly initialLeaf: (id: string) => string;
  readonly nameOf: (id: string) => string;
  readonly parentOf: (id: string) => string | null;
}

export function createView({ states }: Chart, maxDepth: number): View {
  const byId = new Map(states.map((state) => [state.id, state]));
  const depthOf = (id: string): number => {
    const parent = byId.get(id)?.parent ?? null;
    return parent === null ? 0 : depthOf(parent) + 1;
  };
  const childrenOf = (id: string): readonly ChartState[] =>
    depthOf(id) < maxDepth ? states.filter(({ parent }) => parent === id) : [];
  const seenAs = (id: string): string => (depthOf(id) <= maxDepth ? id : seenAs(byId.get(id)?.parent ?? id));
  const initialLeaf = (id: string): string => {
    const initial = byId.get(id)?.initial ?? null;
    return initial === null || childrenOf(id).length === 0 ? id : initialLeaf(initial);
  };
  const parentOf = (id: string): string | null => byId.get(id)?.parent ?? null;
  return { childrenOf, seenAs, initialLeaf, parentOf, nameOf: (id) => byId.get(id)?.name ?? id };
}
