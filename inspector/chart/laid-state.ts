import type { ElkNode } from 'elkjs/lib/elk-api.js';
import type { ChartState } from '../../src/engine/charts/chart.ts';
import type { Box, Inset } from './drawing.ts';
import { edgeId, type LayoutPort, nodeId, type Piece, portId, type Room } from './elk-graph.ts';
import type { Head } from './state-box.ts';

export interface Point {
  readonly x: number;
  readonly y: number;
}

/** A piece of an edge, in the coordinates of the state that it lies in. */
export interface Line {
  readonly step: number;
  readonly points: readonly Point[];
  readonly label: Box | null;
}

/** A state with everything in it, at its own origin. */
export interface LaidState extends Room {
  readonly state: ChartState;
  readonly head: Head;
  readonly inset: Inset | null;
  readonly rooms: readonly { readonly at: Point; readonly laid: LaidState }[];
  /** By the number of the edge. */
  readonly lines: ReadonlyMap<number, Line>;
}

/** What elk made of the inside of a state. */
export function readLaid(
  state: ChartState,
  head: Head,
  rooms: readonly LaidState[],
  pieces: readonly Piece[],
  around: ElkNode,
): LaidState {
  const inside = around.children?.[0] as ElkNode;
  const placeOf = new Map(inside.children?.map((node) => [node.id, node]));
  const ports = new Map(inside.ports?.map((port) => [port.id, port]));
  const doors = pieces.flatMap(({ edge, from, to }): readonly LayoutPort[] => {
    if (from !== null && to !== null) return [];
    const { x = 0, y = 0 } = ports.get(portId(state.id, edge)) ?? {};
    return [{ edge, x, y, isEntry: from === null }];
  });
  return {
    id: state.id,
    state,
    width: inside.width ?? 0,
    height: inside.height ?? 0,
    head,
    inset: null,
    isFixed: true,
    doors,
    rooms: rooms.map((laid) => {
      const { x = 0, y = 0 } = placeOf.get(nodeId(laid.id)) ?? {};
      return { at: { x, y }, laid };
    }),
    lines: linesOf(inside, pieces),
  };
}

function linesOf({ edges = [] }: ElkNode, pieces: readonly Piece[]): ReadonlyMap<number, Line> {
  const byId = new Map(edges.map((edge) => [edge.id, edge]));
  return new Map(
    pieces.map(({ edge, step }): [number, Line] => {
      const { sections = [], labels = [] } = byId.get(edgeId(edge)) ?? {};
      const points = sections.flatMap(({ startPoint, bendPoints = [], endPoint }) => [
        startPoint,
        ...bendPoints,
        endPoint,
      ]);
      const [label] = labels;
      const { x = 0, y = 0, width = 0, height = 0 } = label ?? {};
      return [edge, { step, points, label: label === undefined ? null : { x, y, width, height } }];
    }),
  );
}
