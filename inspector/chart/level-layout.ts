import type { ELK, ElkExtendedEdge, ElkNode } from 'elkjs/lib/elk-api.js';
import type { ChartState } from '../../src/durable/charts/chart.ts';
import { excerpt } from '../fold/text.ts';
import type { Box, DrawnEdge, DrawnLevel, DrawnState, Inset, Point } from './drawing.ts';
import { BADGE_LENGTH, FONT, labelWidth, NAME_LENGTH, widthOf } from './label-text.ts';
import type { Level, LevelEdge } from './level.ts';
import { COUNT_WIDTH, LABEL_LINE, type SnakeNode, snakeLayouts } from './snake-layout.ts';

/** A picture that can be drawn inside a folded state. */
export interface Inner {
  readonly chartId: string;
  readonly level: string;
  readonly width: number;
  readonly height: number;
}

interface LayoutInputs {
  readonly elk: Pick<ELK, 'layout'>;
  /** The preferred width to height. */
  readonly aspect: number;
  /** Only one arrangement is tried. */
  readonly isFast: boolean;
  readonly innerOf: (state: ChartState) => Inner | null;
}

const PAD = 10;
const NAME_LINE = 18;
const BADGE_LINE = 16;
/** Room for a badge, even if the state has none yet. */
const BADGE_WIDTH = widthOf('3 calls · 1 retry', FONT.badge);
/** A level with more boxes or lines is laid out only once. */
const MAX_VARIED = 40;

/** Lays out a level with room for every label, in the direction that fits the proportions best. */
export async function layOutLevel(level: Level, { elk, aspect, isFast, innerOf }: LayoutInputs): Promise<DrawnLevel> {
  const lines = level.edges.filter(({ kind }) => kind === 'line');
  const isLarge = isFast || level.states.length + lines.length > MAX_VARIED;
  const inRows = lines.length === 0 ? null : inSnake(level, lines, aspect, isLarge, innerOf);
  if (isLarge && inRows !== null) return inRows;
  const variants = lines.length === 0 ? [PACKED] : isLarge ? [LARGE] : VARIANTS;
  let best = inRows;
  for (const variant of variants) {
    const root = await elk.layout(
      graphOf(
        level,
        lines,
        {
          ...OPTIONS,
          ...variant,
          ...(level.open.size === 0 ? ORDERED : {}),
          'elk.aspectRatio': String(aspect),
        },
        innerOf,
      ),
    );
    const drawn = levelFrom(level, root, innerOf);
    if (best === null || fitScore(drawn, aspect) < fitScore(best, aspect)) best = drawn;
  }
  return best as DrawnLevel;
}

/** How well a box fits an area of these proportions; lower is better. */
const fitScore = ({ width, height }: Pick<Box, 'width' | 'height'>, aspect: number): number =>
  Math.max(width / aspect, height) + (width / aspect + height) * 0.1;

type Options = Readonly<Record<string, string>>;

const OPTIONS: Options = {
  'elk.json.edgeCoords': 'ROOT',
  'elk.json.shapeCoords': 'ROOT',
  'elk.randomSeed': '1',
  'elk.padding': '[top=14,left=14,bottom=14,right=14]',
  'elk.spacing.nodeNode': '14',
};

const LAYERED: Options = {
  'elk.algorithm': 'layered',
  'elk.hierarchyHandling': 'INCLUDE_CHILDREN',
  'elk.edgeRouting': 'ORTHOGONAL',
  'elk.spacing.edgeNode': '10',
  'elk.spacing.edgeEdge': '8',
  'elk.spacing.edgeLabel': '2',
  'elk.spacing.labelLabel': '4',
  'elk.spacing.componentComponent': '20',
  'elk.layered.spacing.nodeNodeBetweenLayers': '12',
  'elk.layered.spacing.edgeNodeBetweenLayers': '10',
  'elk.layered.spacing.edgeEdgeBetweenLayers': '8',
  'elk.layered.cycleBreaking.strategy': 'DEPTH_FIRST',
  'elk.layered.nodePlacement.strategy': 'NETWORK_SIMPLEX',
};

const VARIANTS: readonly Options[] = ['RIGHT', 'DOWN'].map((direction) => ({ ...LAYERED, 'elk.direction': direction }));

/** ELK fails with the order of the model if children are included. */
const ORDERED: Options = { 'elk.layered.considerModelOrder.strategy': 'NODES_AND_EDGES' };

const LARGE: Options = {
  ...LAYERED,
  'elk.direction': 'RIGHT',
  'elk.layered.thoroughness': '2',
  'elk.layered.nodePlacement.strategy': 'BRANDES_KOEPF',
};

/** For levels without lines. */
const PACKED: Options = { 'elk.algorithm': 'rectpacking' };

function graphOf(
  level: Level,
  lines: readonly LevelEdge[],
  options: Options,
  innerOf: LayoutInputs['innerOf'],
): ElkNode {
  const { root, states, open, stubs } = level;
  const nodes = new Map<string, ElkNode>([[root.id, { id: 'root', children: [] }]]);
  for (const state of states) {
    const isOpen = open.has(state.id);
    const node: ElkNode = isOpen
      ? {
          id: nodeId(state.id),
          children: [],
          layoutOptions: {
            ...options,
            'elk.padding': `[top=${NAME_LINE + BADGE_LINE + 8},left=12,bottom=12,right=12]`,
            'elk.nodeSize.constraints': 'MINIMUM_SIZE',
            'elk.nodeSize.minimum': `(${widthOf(state.name, FONT.name) + 2 * PAD}, 40)`,
          },
        }
      : { id: nodeId(state.id), ...sizeOf(state, innerOf(state), level) };
    nodes.set(state.id, node);
  }
  for (const { id, parent, text } of stubs) {
    if (!lines.some(({ source, target }) => source === id || target === id)) continue;
    nodes.get(parent)?.children?.push({ id: nodeId(id), ...stubSize(text) });
  }
  for (const { id, parent } of states) nodes.get(parent ?? root.id)?.children?.push(nodes.get(id) as ElkNode);
  const edges = lines.map(
    (line, index): ElkExtendedEdge => ({
      id: `edge ${index}`,
      sources: [nodeId(line.source)],
      targets: [nodeId(line.target)],
      labels: [
        {
          text: 'label',
          width: labelWidth(line),
          height: LABEL_LINE,
          layoutOptions: { 'elk.edgeLabels.inline': line.source === line.target ? 'false' : 'true' },
        },
      ],
    }),
  );
  return { ...(nodes.get(root.id) as ElkNode), layoutOptions: options, edges };
}

const nodeId = (id: string): string => `node ${id}`;

const stubSize = (text: string) => ({ width: widthOf(excerpt(text, NAME_LENGTH), FONT.label) + 24, height: 22 });

function sizeOf(
  state: ChartState,
  inner: Inner | null,
  level: Level,
): { readonly width: number; readonly height: number } {
  const { name, type } = state;
  const note = widthOf(noteOf(state, inner, level), FONT.badge);
  const text = Math.max(note, widthOf(excerpt(name, NAME_LENGTH), FONT.name)) + 2 * PAD;
  const isSmall = type === 'final' || type === 'history';
  return {
    width: Math.max(text, isSmall ? 56 : inner === null ? 64 : BADGE_WIDTH + 2 * PAD),
    height: NAME_LINE + BADGE_LINE + 6,
  };
}

/** The part of a state's box that its inside fills. The rest is the name. */
function insetIn(box: Box, inner: Inner): Inset {
  const room = { width: box.width - 4, height: box.height - 6 };
  const scale = Math.min(room.width / inner.width, room.height / inner.height);
  return {
    chartId: inner.chartId,
    level: inner.level,
    scale,
    x: box.x + (box.width - inner.width * scale) / 2,
    y: box.y + 4.5 + (room.height - inner.height * scale) / 2,
  };
}

/** What a state invokes or, if there is nothing inside, the events that it handles without leaving. */
function noteOf({ id, invokes }: ChartState, inner: Inner | null, { edges }: Level): string {
  if (inner !== null) return '';
  if (invokes.length > 0) return excerpt(invokes.join(', '), BADGE_LENGTH);
  const events = edges.flatMap(({ kind, source, labels }) => (kind === 'inner' && source === id ? labels : []));
  return events.length === 0 ? '' : excerpt(`on ${events.join(', ')}`, BADGE_LENGTH);
}

function drawnState(state: ChartState, at: Box, level: Level, inner: Inner | null): DrawnState {
  return {
    id: state.id,
    name: state.name,
    parent: state.parent,
    type: state.type,
    description: state.description,
    note: noteOf(state, inner, level),
    isInitial: [level.root, ...level.states].some(({ initial }) => initial === state.id),
    isRegion: [level.root, ...level.states].some(({ id, type }) => id === state.parent && type === 'parallel'),
    isOpen: level.open.has(state.id),
    ...at,
    inset: inner === null ? null : insetIn(at, inner),
  };
}

function levelFrom(level: Level, graph: ElkNode, innerOf: LayoutInputs['innerOf']): DrawnLevel {
  const boxes = new Map<string, Box>();
  const visit = ({ children = [] }: ElkNode): void => {
    for (const node of children) {
      boxes.set(node.id, boxOf(node));
      visit(node);
    }
  };
  visit(graph);
  const stubs = new Set(level.stubs.map(({ id }) => id));
  const stateOf = (id: string): string | null => (stubs.has(id) ? null : id);
  const routes = new Map((graph.edges ?? []).map((edge) => [edge.id, edge]));
  let line = 0;
  const edges = level.edges.map((edge): DrawnEdge => {
    const { kind, source, target, fan: _, ...rest } = edge;
    const ends = { source: stateOf(source), target: stateOf(target) };
    if (kind !== 'line') return { ...rest, ...ends, points: [], label: null, isBranch: false };
    const { sections = [], labels = [] } = routes.get(`edge ${line}`) ?? {};
    line += 1;
    const points = sections.flatMap(({ startPoint, bendPoints = [], endPoint }) => [
      startPoint,
      ...bendPoints,
      endPoint,
    ]);
    return {
      ...rest,
      ...ends,
      points: joined(points),
      label: labels[0] === undefined ? null : boxOf(labels[0]),
      isBranch: false,
    };
  });
  return {
    width: Math.ceil(graph.width ?? 0),
    height: Math.ceil(graph.height ?? 0),
    states: level.states.map((state) =>
      drawnState(state, boxes.get(nodeId(state.id)) as Box, level, level.open.has(state.id) ? null : innerOf(state)),
    ),
    stubs: level.stubs.flatMap(({ id, text }) => {
      const box = boxes.get(nodeId(id));
      return box === undefined ? [] : [{ text, ...box }];
    }),
    edges,
  };
}

/** Lays out the level in rows with alternating direction; null if there is no room for all labels. */
function inSnake(
  level: Level,
  lines: readonly LevelEdge[],
  aspect: number,
  isLarge: boolean,
  innerOf: LayoutInputs['innerOf'],
): DrawnLevel | null {
  const stubs = level.stubs.filter(({ id }) => lines.some(({ source, target }) => source === id || target === id));
  const isStub = new Set(stubs.map(({ id }) => id));
  const partsOf = (around: string): readonly SnakeNode[] => [
    ...level.states.filter(({ parent }) => parent === around).map(nodeOf),
    ...stubs
      .filter(({ parent }) => parent === around)
      .map(({ id, text }) => ({ id, size: stubSize(text), parts: null })),
  ];
  const nodeOf = (state: ChartState): SnakeNode => ({
    id: state.id,
    size: sizeOf(state, innerOf(state), level),
    parts: level.open.has(state.id) ? partsOf(state.id) : null,
  });
  const parts = partsOf(level.root.id);
  const fans = [...new Set(lines.map(({ fan }) => fan))];
  const isBranch = ({ fan }: LevelEdge, index: number): boolean =>
    fan !== null && lines.findIndex((line) => line.fan === fan) !== index;
  const layouts = snakeLayouts(
    { id: level.root.id, size: { width: 0, height: 0 }, parts },
    lines.map((line, index) => ({
      source: line.source,
      target: line.target,
      label: labelWidth(line),
      isBranch: isBranch(line, index),
      bundle: line.fan === null ? index + 1 : lines.length + 1 + fans.indexOf(line.fan),
    })),
    isLarge,
  );
  const score = (layout: (typeof layouts)[number]): number =>
    fitScore(layout, aspect) + layout.cost * 0.05 + layout.unlabeled * 60;
  const [best] = [...layouts].sort((one, other) => score(one) - score(other));
  if (best === undefined) return null;
  let line = 0;
  return {
    width: best.width,
    height: best.height,
    states: level.states.map((state) =>
      drawnState(
        state,
        boxOf(best.boxes.get(state.id) as Box),
        level,
        level.open.has(state.id) ? null : innerOf(state),
      ),
    ),
    stubs: stubs.map(({ id, text }) => ({ text, ...boxOf(best.boxes.get(id) as Box) })),
    edges: level.edges.map(({ kind, fan: _, source, target, ...rest }): DrawnEdge => {
      const edge = { ...rest, source: isStub.has(source) ? null : source, target: isStub.has(target) ? null : target };
      const own = kind === 'line' ? line++ : -1;
      const route = best.routes[own];
      if (route === undefined) return { ...edge, points: [], label: null, isBranch: false };
      return {
        ...edge,
        points: joined(route.points),
        label: route.label === null ? null : boxOf(route.label),
        isBranch: (route.label?.width ?? 0) <= COUNT_WIDTH,
      };
    }),
  };
}

/** Removes redundant points and rounds the others. */
function joined(points: readonly Point[]): readonly Point[] {
  const rounded = points.map(({ x, y }) => ({ x: tenth(x), y: tenth(y) }));
  return rounded.filter(({ x, y }, index) => {
    const [before, after] = [rounded[index - 1], rounded[index + 1]];
    if (before === undefined || after === undefined) return true;
    return !((before.x === x && after.x === x) || (before.y === y && after.y === y));
  });
}

const tenth = (length: number): number => Math.round(length * 10) / 10;

const boxOf = ({ x = 0, y = 0, width = 0, height = 0 }: Partial<Box>): Box => ({
  x: tenth(x),
  y: tenth(y),
  width: tenth(width),
  height: tenth(height),
});
