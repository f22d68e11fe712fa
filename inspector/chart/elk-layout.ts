import type { ElkExtendedEdge, ElkNode, ElkPort } from 'elkjs/lib/elk-api.js';
import type { ChartState } from '../../src/engine/charts/chart.ts';
import type { Box, Inset } from './drawing.ts';
import { FONT, type Head, labelText, widthOf } from './state-box.ts';

export type Direction = 'RIGHT' | 'DOWN';

/** Options for laying out the inside of a state. */
export interface LayoutOptions {
  readonly direction: Direction;
  /** The side at which edges leave the state itself: right or bottom. */
  readonly exits: Direction;
  /** The preferred width to height. */
  readonly aspect: number;
}

/** The point where an edge crosses the border of a state. */
export interface LayoutPort {
  readonly edge: number;
  readonly x: number;
  readonly y: number;
  readonly isEntry: boolean;
}

/** A laid-out state, seen from outside. */
interface LayoutBox {
  readonly id: string;
  readonly width: number;
  readonly height: number;
  readonly crossings: readonly LayoutPort[];
  /** Lines connect at fixed points, because the state has contents. */
  readonly isFixed: boolean;
}

/** The segment of an edge inside one state. An end is a child, a port of a child (`through…`), or null: a port of the state itself. */
export interface Piece {
  readonly edge: number;
  /** Its position among the pieces of its edge. */
  readonly step: number;
  readonly from: string | null;
  readonly to: string | null;
  readonly throughFrom: boolean;
  readonly throughTo: boolean;
  readonly labels: readonly string[];
}

export const LABEL_LENGTH = 18;
export const LABEL_HEIGHT = 11;

const nodeId = (id: string): string => `node ${id}`;
const portId = (id: string, edge: number): string => `crossing ${edge} ${id}`;
const edgeId = (edge: number): string => `edge ${edge}`;
const inPort = (id: string): string => `in ${id}`;
const outPort = (id: string): string => `out ${id}`;

/** The inside of one state as an ELK graph: its children in order, and the edges between them. */
export function elkGraph(
  id: string,
  parts: readonly LayoutBox[],
  pieces: readonly Piece[],
  head: { readonly width: number; readonly height: number },
  options: LayoutOptions,
): ElkNode {
  const [entry, exit] = options.exits === 'RIGHT' ? ['WEST', 'EAST'] : ['NORTH', 'SOUTH'];
  const through = pieces.filter(({ from, to }) => from === null || to === null);
  const fixed = new Set(parts.flatMap((part) => (part.isFixed ? [part.id] : [])));
  const inside: ElkNode = {
    id: nodeId(id),
    layoutOptions: {
      ...optionsOf(options, head.height),
      'elk.nodeSize.constraints': 'MINIMUM_SIZE',
      'elk.nodeSize.minimum': `(${head.width}, ${head.height})`,
      ...(through.length > 0 ? { 'elk.portConstraints': 'FIXED_SIDE' } : {}),
    },
    ports: through.map(({ edge, from }) => portOf(portId(id, edge), 0, 0, from === null ? entry : exit)),
    children: parts.map((part) => elkBox(part, pieces, options.direction)),
    edges: pieces.map((piece) => elkEdge(piece, id, fixed)),
  };
  return { id: 'around', layoutOptions: { 'elk.algorithm': 'layered' }, children: [inside] };
}

function elkBox(
  { id, width, height, crossings, isFixed }: LayoutBox,
  pieces: readonly Piece[],
  direction: Direction,
): ElkNode {
  if (!isFixed) return { id: nodeId(id), width, height };
  const toRight = direction === 'RIGHT';
  const [entry, exit] = toRight ? ['WEST', 'EAST'] : ['NORTH', 'SOUTH'];
  const sideOf = ({ x, y }: LayoutPort): string => {
    if (x <= 1) return 'WEST';
    if (x >= width - 1) return 'EAST';
    return y <= 1 ? 'NORTH' : 'SOUTH';
  };
  const ports = crossings.map((crossing) =>
    portOf(portId(id, crossing.edge), crossing.x, crossing.y, sideOf(crossing)),
  );
  if (pieces.some(({ to, throughTo }) => to === id && !throughTo))
    ports.push(portOf(inPort(id), toRight ? 0 : Math.min(48, width / 2), toRight ? 20 : 0, entry));
  if (pieces.some(({ from, throughFrom }) => from === id && !throughFrom))
    ports.push(portOf(outPort(id), toRight ? width : width / 2, toRight ? height / 2 : height, exit));
  return { id: nodeId(id), width, height, ports, layoutOptions: { 'elk.portConstraints': 'FIXED_POS' } };
}

function portOf(id: string, x: number, y: number, side: string): ElkPort {
  return { id, x, y, width: 0, height: 0, layoutOptions: { 'elk.port.side': side } };
}

function elkEdge(
  { edge, from, to, throughFrom, throughTo, labels }: Piece,
  around: string,
  fixed: ReadonlySet<string>,
) {
  const end = (part: string | null, through: boolean, crossing: (id: string) => string): string => {
    if (part === null) return portId(around, edge);
    if (through) return portId(part, edge);
    return fixed.has(part) ? crossing(part) : nodeId(part);
  };
  const text = labelText(labels, LABEL_LENGTH);
  const label = {
    text,
    width: widthOf(text, FONT.label) + 4,
    height: LABEL_HEIGHT,
    layoutOptions: { 'elk.edgeLabels.inline': 'true' },
  };
  const layout: ElkExtendedEdge = {
    id: edgeId(edge),
    sources: [end(from, throughFrom, outPort)],
    targets: [end(to, throughTo, inPort)],
    labels: text === '' ? [] : [label],
  };
  return layout;
}

function optionsOf({ direction, aspect }: LayoutOptions, top: number): Record<string, string> {
  return {
    'elk.algorithm': 'layered',
    'elk.direction': direction,
    'elk.aspectRatio': String(aspect),
    'elk.edgeRouting': 'ORTHOGONAL',
    'elk.padding': `[top=${top},left=12,bottom=12,right=12]`,
    'elk.randomSeed': '1',
    'elk.spacing.nodeNode': '14',
    'elk.spacing.edgeNode': '9',
    'elk.spacing.edgeEdge': '7',
    'elk.spacing.edgeLabel': '2',
    'elk.spacing.componentComponent': '18',
    'elk.layered.spacing.nodeNodeBetweenLayers': '18',
    'elk.layered.spacing.edgeNodeBetweenLayers': '8',
    'elk.layered.spacing.edgeEdgeBetweenLayers': '7',
    'elk.layered.considerModelOrder.strategy': 'NODES_AND_EDGES',
    'elk.layered.cycleBreaking.strategy': 'MODEL_ORDER',
    'elk.layered.nodePlacement.strategy': 'LINEAR_SEGMENTS',
    'elk.layered.nodePlacement.favorStraightEdges': 'true',
  };
}

export interface Point {
  readonly x: number;
  readonly y: number;
}

/** A piece of an edge, in the coordinates of its state. */
export interface Line {
  readonly step: number;
  readonly points: readonly Point[];
  readonly label: Box | null;
}

/** A state with its contents, at its own origin. */
export interface StateLayout extends LayoutBox {
  readonly state: ChartState;
  readonly head: Head;
  readonly inset: Inset | null;
  readonly parts: readonly { readonly at: Point; readonly layout: StateLayout }[];
  /** By edge index. */
  readonly lines: ReadonlyMap<number, Line>;
}

/** Reads ELK's layout of the inside of a state. */
export function readLayout(
  state: ChartState,
  head: Head,
  parts: readonly StateLayout[],
  pieces: readonly Piece[],
  around: ElkNode,
): StateLayout {
  const inside = around.children?.[0] as ElkNode;
  const placeOf = new Map(inside.children?.map((node) => [node.id, node]));
  const ports = new Map(inside.ports?.map((port) => [port.id, port]));
  const crossings = pieces.flatMap(({ edge, from, to }): readonly LayoutPort[] => {
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
    crossings,
    parts: parts.map((layout) => {
      const { x = 0, y = 0 } = placeOf.get(nodeId(layout.id)) ?? {};
      return { at: { x, y }, layout };
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
