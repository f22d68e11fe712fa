import type { Edge } from '../../src/engine/charts/edges.ts';
import type { View } from '../../src/engine/charts/view.ts';
import type { Piece } from './elk-graph.ts';

/**
 * Edges cut at the borders that they cross, by the state that each piece lies in: out of the source's boxes, across the
 * innermost state that holds both ends, and into the target's boxes. That middle piece has the label.
 */
export function piecesOf(edges: readonly Edge[], view: View): ReadonlyMap<string, readonly Piece[]> {
  const pieces = new Map<string, Piece[]>();
  for (const [edge, { source, target, labels }] of edges.entries()) {
    const up = wayUp(source, view);
    const down = wayUp(target, view);
    const common = up.find((id) => down.includes(id)) ?? '';
    const out = up.slice(0, up.indexOf(common));
    const into = down.slice(0, down.indexOf(common));
    let step = 0;
    const add = (container: string, piece: Omit<Piece, 'edge' | 'step'>): void => {
      const known = pieces.get(container) ?? [];
      known.push({ edge, step, ...piece });
      pieces.set(container, known);
      step += 1;
    };
    for (const [level, id] of out.slice(0, -1).entries())
      add(out[level + 1] as string, { from: id, to: null, throughFrom: level > 0, throughTo: false, labels: [] });
    const ends = { from: out.at(-1) ?? null, to: into.at(-1) ?? null };
    add(common, { ...ends, throughFrom: out.length > 1, throughTo: into.length > 1, labels });
    for (const [level, id] of [...into.slice(0, -1).entries()].reverse())
      add(into[level + 1] as string, { from: null, to: id, throughFrom: false, throughTo: level > 0, labels: [] });
  }
  return pieces;
}

/** The state and those that it is in, up to the root. */
function wayUp(id: string, view: View): readonly string[] {
  const parent = view.parentOf(id);
  return parent === null ? [id] : [id, ...wayUp(parent, view)];
}
