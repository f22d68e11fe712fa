import * as bundled from 'elkjs/lib/elk.bundled.js';
import type { ELK, ElkNode } from 'elkjs/lib/elk-api.js';
import type { Chart, ChartState } from '../../src/durable/charts/chart.ts';
import { indexChart, placeIn } from '../fold/chart-index.ts';
import { isOwnChart, lineWords, wayText } from '../fold/chart-words.ts';
import { excerpt } from '../fold/text.ts';
import { joined, type Part, partsOf } from './blocks.ts';
import { boxLinesOf } from './box-text.ts';
import { type Box, type BoxLine, type Drawing, type DrawnEdge, type DrawnLevel, ownOf } from './drawing.ts';
import { BOX, FONT, labelSize, linesSize, MAX_PATH, stubLines, widthOf } from './label-text.ts';
import { type Level, type LevelEdge, levelsOf } from './level.ts';
import { MAX_BADGE, MAX_NAME, normalizeChart } from './normalize-chart.ts';
import { straightened } from './straight.ts';

const Elk = bundled.default as unknown as new () => ELK;

/** Lays out the charts, each with its levels. `onWhole` receives the whole charts before the insides of their states are laid out. */
export async function drawingsOf(
  charts: readonly Chart[],
  onWhole: (drawings: Readonly<Record<string, Drawing>>) => void = () => {},
  aspect: number = ASPECT.other,
): Promise<Record<string, Drawing>> {
  const elk = new Elk();
  const plans = charts.map(normalizeChart).map((chart) => ({ chart, levels: levelsOf(chart) }));
  const drawn = new Map(plans.map(({ chart }) => [chart.id, new Map<string, DrawnLevel>()]));
  const drawings = (): Record<string, Drawing> =>
    Object.fromEntries([...drawn].map(([id, levels]) => [id, Object.fromEntries(levels)]));
  const layOut = async (chart: Chart, level: Level): Promise<void> => {
    const drawing = await layOutLevel(level, chart, elk, isOwnChart(chart.id) ? ASPECT.own : aspect);
    drawn.get(chart.id)?.set(level.root.id, drawing);
  };
  for (const { chart, levels } of plans) for (const level of levels.slice(0, 1)) await layOut(chart, level);
  if (plans.some(({ levels }) => levels.length > 1)) onWhole(drawings());
  for (const { chart, levels } of plans) for (const level of levels.slice(1)) await layOut(chart, level);
  return drawings();
}

/** With more boxes and lines, a level is laid out in one direction. */
const MAX_VARIED = 24;
/** The width to height of the space for a chart: for the chain's in place of its trace, for others in full size. */
const ASPECT = { own: 1.1, other: 1.6 } as const;
/** A space with a larger aspect is low: large levels are laid out from left to right. */
const LOW = 2;

/** A part of a level, with the direction of all parts. */
interface Around extends Part {
  readonly way: Options;
  /** Whether it is the inside of one state. */
  readonly isBlock: boolean;
}

/** Lays out a level with room for every label, in the direction that fits its space best. */
async function layOutLevel(
  level: Level,
  chart: Chart,
  elk: ELK,
  aspect: number,
  around: Around | null = null,
): Promise<DrawnLevel> {
  if (level.blocks.length > 0) return layOutBlocks(level, chart, elk, aspect);
  const lines = level.edges.filter(({ hasLine }) => hasLine);
  const isOwn = isOwnChart(chart.id);
  const order = { ...(level.open.size === 0 && ORDERED), ...ownOf(LEVEL_OPTIONS, level.root.id) };
  const layOut = async (shown: Level, drawn: readonly LevelEdge[], options: Options) => {
    const named = around?.isBlock === false ? shown.states : [shown.root, ...shown.states];
    const texts = new Map(named.map((state) => [state.id, boxTextOf(state, chart, shown)]));
    const all = {
      ...OPTIONS,
      'elk.aspectRatio': String(aspect),
      ...options,
      ...(!isOwn && (options['elk.direction'] !== 'RIGHT' || aspect <= LOW ? WIDE : around === null ? {} : NEAR)),
    };
    const drawnLevel = levelFrom(shown, texts, await elk.layout(graphOf(shown, chart, texts, drawn, all, around)));
    return isOwn ? drawnLevel : straightened(drawnLevel);
  };
  const found: DrawnLevel[] = [];
  const isVaried = isOwn || level.states.length + lines.length <= MAX_VARIED;
  // The chain's chart has to fit its area at a readable size. Of others, `COMPACT` is hardly ever smaller.
  const variants = (around === null ? waysFor(isVaried, aspect) : [around.way]).map((way) => ({
    ...way,
    ...(isOwn ? COMPACT : STRAIGHT),
  }));
  for (const variant of lines.length === 0 ? [PACKED] : variants) {
    try {
      found.push(await layOut(level, lines, { ...variant, ...order }));
    } catch {
      // ELK cannot lay out some graphs in one of the directions.
    }
  }
  const bare = { ...level, stubs: [], edges: level.edges.map((edge) => ({ ...edge, hasLine: false })) };
  return cheapest(found, aspect) ?? layOut(bare, [], PACKED);
}

function cheapest(drawn: readonly DrawnLevel[], aspect: number): DrawnLevel | undefined {
  const costOf = ({ width, height, edges }: DrawnLevel): number =>
    Math.max(width / aspect, height) +
    BEND * edges.reduce((sum, { points }) => sum + Math.max(0, points.length - 2), 0);
  return drawn.toSorted((one, other) => costOf(one) - costOf(other))[0];
}

/** Lays out each block of a level on its own, and its other states as one more block. */
async function layOutBlocks(level: Level, chart: Chart, elk: ELK, aspect: number): Promise<DrawnLevel> {
  const { lines } = boxTextOf(level.root, chart, level);
  const found: DrawnLevel[] = [];
  for (const way of waysFor(chart.states.length <= MAX_VARIED, aspect)) {
    const [parts, drawn] = [partsOf(level), [] as DrawnLevel[]];
    for (const part of parts) {
      const isBlock = level.blocks.includes(part.level);
      drawn.push(await layOutLevel(part.level, chart, elk, aspect, { ...part, way, isBlock }));
    }
    found.push(joined(parts, drawn, { root: level.root.id, lines, aspect, isRow: way === RIGHT }));
  }
  return cheapest(found, aspect) as DrawnLevel;
}

const waysFor = (isVaried: boolean, aspect: number): readonly Options[] =>
  isVaried ? [DOWN, RIGHT] : [aspect > LOW ? RIGHT : DOWN];

/** What each bend of a line costs, in pixels of the larger side of a level. */
const BEND = 5;

type Options = Readonly<Record<string, string>>;

const OPTIONS: Options = {
  'elk.json.edgeCoords': 'ROOT',
  'elk.json.shapeCoords': 'ROOT',
  'elk.randomSeed': '1',
  'elk.spacing.nodeNode': '16',
};

const LAYERED: Options = {
  'elk.algorithm': 'layered',
  'elk.hierarchyHandling': 'INCLUDE_CHILDREN',
  'elk.edgeRouting': 'ORTHOGONAL',
  'elk.spacing.edgeNode': '12',
  'elk.spacing.edgeEdge': '10',
  'elk.spacing.edgeLabel': '2',
  'elk.spacing.labelLabel': '4',
  'elk.spacing.componentComponent': '20',
  'elk.layered.spacing.nodeNodeBetweenLayers': '7',
  'elk.layered.spacing.edgeNodeBetweenLayers': '5',
  'elk.layered.spacing.edgeEdgeBetweenLayers': '6',
  'elk.layered.mergeHierarchyEdges': 'false',
  'elk.layered.cycleBreaking.strategy': 'DEPTH_FIRST',
};

/** Room for the heads of lines beside their labels; the chain's chart has none to spare. */
const WIDE: Options = {
  'elk.layered.spacing.nodeNodeBetweenLayers': '9',
  'elk.layered.spacing.edgeNodeBetweenLayers': '7',
};

/** Narrow spacing, for blocks from left to right in a low space. */
const NEAR: Options = {
  'elk.layered.spacing.nodeNodeBetweenLayers': '4',
  'elk.layered.spacing.edgeNodeBetweenLayers': '3',
  'elk.layered.spacing.edgeEdgeBetweenLayers': '3',
};

const STRAIGHT: Options = { 'elk.layered.nodePlacement.strategy': 'BRANDES_KOEPF' };
const COMPACT: Options = { 'elk.layered.nodePlacement.strategy': 'NETWORK_SIMPLEX' };

const DOWN: Options = { ...LAYERED, 'elk.direction': 'DOWN' };
const RIGHT: Options = { ...LAYERED, 'elk.direction': 'RIGHT' };

/** ELK fails with the order of the chart if states contain others. */
const ORDERED: Options = {
  'elk.layered.cycleBreaking.strategy': 'MODEL_ORDER',
  'elk.layered.considerModelOrder.strategy': 'NODES_AND_EDGES',
};

/** For the chart of the whole chain: without them, the line to the next cycle takes a detour around `recovering`. */
const LEVEL_OPTIONS: Readonly<Record<string, Options>> = {
  postChain: {
    'elk.layered.layering.strategy': 'LONGEST_PATH',
    'elk.spacing.edgeNode': '7',
    ...NEAR,
  },
};

/** For levels without lines. */
const PACKED: Options = { 'elk.algorithm': 'rectpacking' };

const PAD = 10;
/** Space between the text of a state and the ring of a state inside it. */
const HALO = 6;
/** Space beside a name. */
const SIDE = 12;
/** Room for the count of a branch. */
const COUNT_WIDTH = 30;

/** The text of a box, and the size that it needs. */
interface BoxText {
  readonly lines: readonly BoxLine[];
  readonly width: number;
  readonly height: number;
}

function boxTextOf(state: ChartState, chart: Chart, level: Level): BoxText {
  const lines = boxLinesOf(state, chart, level);
  const textOf = ({ kind, text }: BoxLine): string => {
    const path = kind === 'inside' ? excerpt(longestPath(state, chart), MAX_PATH) : '';
    return path.length > text.length ? path : text;
  };
  const texts = lines.map((line) => linesSize([{ text: textOf(line) }]).width + 2 * BOX.side);
  const width = Math.max(headWidth(state, chart, level), ...texts);
  return { lines, width, height: BOX.head + linesSize(lines).height };
}

/** Returns the path with the longest text to a state inside a state: `b › c`. */
function longestPath({ id }: ChartState, chart: Chart): string {
  const paths = chart.states
    .filter(({ parent }) => parent === id)
    .map((inner) => [inner.name, longestPath(inner, chart)].filter(Boolean).join(' › '));
  return paths.reduce((longest, path) => (path.length > longest.length ? path : longest), '');
}

function graphOf(
  level: Level,
  chart: Chart,
  texts: ReadonlyMap<string, BoxText>,
  lines: readonly LevelEdge[],
  options: Options,
  around: Around | null,
): ElkNode {
  const { root, states, open, stubs } = level;
  const nodes = new Map<string, ElkNode>([[root.id, { id: 'root', children: [] }]]);
  for (const state of states) {
    const { width, height, lines: own } = texts.get(state.id) as BoxText;
    const top = height + (own.length > 0 ? HALO : 0);
    const inside = {
      ...options,
      'elk.padding': `[top=${top},left=${PAD},bottom=${PAD},right=${PAD}]`,
      'elk.nodeSize.constraints': 'MINIMUM_SIZE',
      'elk.nodeSize.minimum': `(${width}, ${height + PAD})`,
    };
    const size = open.has(state.id)
      ? { children: [], layoutOptions: inside }
      : {
          width,
          height,
          layoutOptions: { 'elk.portConstraints': 'FIXED_SIDE' },
          ports: portsOf(state.id, lines, options),
        };
    nodes.set(state.id, { id: nodeId(state.id), ...size });
  }
  const addStubs = (areTargets: boolean): void => {
    for (const { id, parent, text } of stubs) {
      if (lines.some(({ target }) => target === id) !== areTargets) continue;
      // A line from another block is named there.
      const isHidden =
        !areTargets && around !== null && lines.every((line) => line.source !== id || around.entering.includes(line));
      const size = isHidden ? { width: 0, height: 0 } : stubSize(text, parent, chart);
      const ports = portsOf(id, lines, options);
      const layoutOptions = around === null || isAnyState(id) ? {} : AT_BORDER[areTargets ? 'target' : 'source'];
      nodes.get(parent)?.children?.push({ id: nodeId(id), ...size, ports, layoutOptions });
    }
  };
  addStubs(false);
  for (const { id, parent } of states) nodes.get(parent ?? root.id)?.children?.push(nodes.get(id) as ElkNode);
  addStubs(true);
  const edges = lines.map((line, index) => ({
    id: `edge ${index}`,
    sources: [open.has(line.source) ? nodeId(line.source) : portId('source', line, lines)],
    targets: [open.has(line.target) ? nodeId(line.target) : portId('target', line, lines)],
    labels: around?.entering.includes(line)
      ? []
      : [
          {
            text: 'label',
            ...(isBranch(line, lines)
              ? { width: COUNT_WIDTH, height: 14 }
              : labelSize(wordsOf(line, chart), !isOwnChart(chart.id))),
            layoutOptions: { 'elk.edgeLabels.inline': line.source === line.target ? 'false' : 'true' },
          },
        ],
  }));
  const top = Math.max(2, linesSize(texts.get(root.id)?.lines ?? []).height);
  const padding = { 'elk.padding': `[top=${top},left=2,bottom=2,right=2]` };
  return { ...(nodes.get(root.id) as ElkNode), layoutOptions: { ...options, ...padding }, edges };
}

/** Room for the text of a stub, and for the state that its lines last left. */
function stubSize(text: string, parent: string, chart: Chart) {
  const index = indexChart(chart);
  const around = text.startsWith('any of ') ? chart.id : parent;
  const places = index.states.flatMap(({ id }) =>
    index.childrenOf(id).length === 0 && index.isInside(id, around) ? placeIn(index, id) : [],
  );
  const isFixed = isOwnChart(chart.id) || !text.startsWith('any');
  const texts = [stubLines(text), ...(isFixed ? [] : places.map((place) => stubLines(text, place)))];
  const height = isOwnChart(chart.id) || texts.every(({ length }) => length === 1) ? 20 : 34;
  const lines = isOwnChart(chart.id) ? [excerpt(text, MAX_NAME)] : texts.flat();
  return { width: Math.max(...lines.map((one) => widthOf(one, FONT.label))) + 12, height };
}

/** Whether a stub stands for any state: lines from it begin inside a block. */
const isAnyState = (stub: string): boolean => JSON.parse(stub)[0] === 'any';

/** The ends of lines to and from other blocks. */
const AT_BORDER: Readonly<Record<'source' | 'target', Options>> = {
  source: { 'elk.layered.layering.layerConstraint': 'FIRST' },
  target: { 'elk.layered.layering.layerConstraint': 'LAST' },
};

/** Lines enter a box at one side and leave it at the other, each at a place of its own. */
function portsOf(id: string, lines: readonly LevelEdge[], options: Options) {
  const [to, from] = options['elk.direction'] === 'RIGHT' ? ['WEST', 'EAST'] : ['NORTH', 'SOUTH'];
  const portsAt = (end: 'source' | 'target', side = '') =>
    [...new Set(lines.flatMap((line) => (line[end] === id ? portId(end, line, lines) : [])))].map((port) => ({
      id: port,
      layoutOptions: { 'elk.port.side': side },
    }));
  return [...portsAt('target', to), ...portsAt('source', from)];
}

/** The lines of a fan leave a state together. */
const portId = (end: 'source' | 'target', line: LevelEdge, lines: readonly LevelEdge[]): string =>
  `${end} ${end === 'source' && line.fan !== null ? line.fan : lines.indexOf(line)}`;

const nodeId = (id: string): string => `node ${id}`;

function wordsOf(edge: LevelEdge, chart: Chart): readonly string[] {
  const ways = edge.transitions.flatMap((at) => chart.transitions[at] ?? []);
  return lineWords(indexChart(chart), ways, edge);
}

const isBranch = (line: LevelEdge, lines: readonly LevelEdge[]): boolean =>
  line.fan !== null && lines.find(({ fan }) => fan === line.fan) !== line;

const FOLD = 24;
const GAP = 8;

/** The name, and beside it room for a note. */
function headWidth({ id, name, type, invokes }: ChartState, chart: Chart, { edges, open }: Level): number {
  const text = widthOf(excerpt(name, MAX_NAME), FONT.name) + 2 * SIDE;
  if (type === 'final' || type === 'history') return text;
  const isActive = type !== 'atomic' || invokes.length > 0;
  const fold = isActive ? FOLD : 0;
  const isFolded = type !== 'atomic' && !open.has(id);
  if (!isOwnChart(chart.id)) return text + fold + (isFolded ? GAP + widthOf('×99', FONT.label) : 0);
  const hasLines = edges.some(({ hasLine }) => hasLine);
  const omitted = edges.filter(({ hasLine, source, target }) => hasLines && !hasLine && source === id && target !== id);
  const ways = omitted.flatMap((edge) => edge.transitions.flatMap((at) => chart.transitions[at] ?? []));
  const notes = [invokes.join(', '), ...ways.map((way) => wayText(chart.id, way))];
  const badge = Math.max(...notes.map((note) => widthOf(excerpt(note, MAX_BADGE), FONT.label)));
  return text + (badge > 0 ? badge + GAP : 0) + fold;
}

function levelFrom(level: Level, texts: ReadonlyMap<string, BoxText>, graph: ElkNode): DrawnLevel {
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
  const routed = level.edges.filter(({ hasLine }) => hasLine);
  const routes = new Map((graph.edges ?? []).map((edge) => [edge.id, edge]));
  const edges = level.edges.map((edge): DrawnEdge => {
    const { sections = [], labels = [] } = (edge.hasLine && routes.get(`edge ${routed.indexOf(edge)}`)) || {};
    return {
      source: stateOf(edge.source),
      target: stateOf(edge.target),
      transitions: edge.transitions,
      points: sections
        .flatMap(({ startPoint, bendPoints = [], endPoint }) => [startPoint, ...bendPoints, endPoint])
        .map(({ x, y }) => ({ x: tenth(x), y: tenth(y) })),
      label: labels[0] === undefined ? null : boxOf(labels[0]),
      isBranch: isBranch(edge, routed),
    };
  });
  const lines = texts.get(level.root.id)?.lines ?? [];
  return {
    lines,
    width: Math.ceil(Math.max(graph.width ?? 0, linesSize(lines).width)),
    height: Math.ceil(graph.height ?? 0),
    states: level.states.map(({ id }) => ({
      id,
      isOpen: level.open.has(id),
      lines: texts.get(id)?.lines ?? [],
      ...(boxes.get(nodeId(id)) as Box),
    })),
    stubs: level.stubs
      .map(({ id, text }) => {
        const transitions = level.edges.flatMap((edge) => (edge.source === id ? edge.transitions : []));
        return { text, transitions, ...(boxes.get(nodeId(id)) as Box) };
      })
      .filter(({ width }) => width > 0),
    edges,
  };
}

const tenth = (length: number): number => Math.round(length * 10) / 10;

const boxOf = ({ x = 0, y = 0, width = 0, height = 0 }: Partial<Box>): Box => ({
  x: tenth(x),
  y: tenth(y),
  width: tenth(width),
  height: tenth(height),
});
