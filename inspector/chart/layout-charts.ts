import * as bundled from 'elkjs/lib/elk.bundled.js';
import type { ELK, ElkNode } from 'elkjs/lib/elk-api.js';
import type { Chart, ChartState } from '../../src/durable/charts/chart.ts';
import { noteText, showsAll, transitionWords, wayText } from '../fold/chart-words.ts';
import { excerpt } from '../fold/text.ts';
import { type Box, type Drawing, type DrawnEdge, type DrawnLevel, ownOf } from './drawing.ts';
import { FONT, labelSize, widthOf } from './label-text.ts';
import { type Level, type LevelEdge, levelsOf } from './level.ts';
import { MAX_BADGE, MAX_NAME, normalizeChart } from './normalize-chart.ts';

const Elk = bundled.default as unknown as new () => ELK;

/** Lays out the charts, each with its levels. */
export async function drawingsOf(charts: readonly Chart[]): Promise<Record<string, Drawing>> {
  const elk = new Elk();
  const drawings: [string, Drawing][] = [];
  for (const chart of charts) {
    const levels: [string, DrawnLevel][] = [];
    const sound = normalizeChart(chart);
    for (const level of levelsOf(sound)) levels.push([level.root.id, await layOutLevel(level, sound, elk)]);
    drawings.push([chart.id, Object.fromEntries(levels)]);
  }
  return Object.fromEntries(drawings);
}

/** A level with more boxes and lines is laid out only once. */
const MAX_VARIED = 40;
/** The width to height of the space for a chart. */
const ASPECT = 1.1;

/** Lays out a level with room for every label, in the direction that fits its space best. */
async function layOutLevel(level: Level, chart: Chart, elk: ELK): Promise<DrawnLevel> {
  const lines = level.edges.filter(({ hasLine }) => hasLine);
  const isLarge = level.states.length + lines.length > MAX_VARIED;
  const variants = lines.length === 0 ? [PACKED] : isLarge ? [DOWN] : [DOWN, RIGHT];
  const order = { ...(level.open.size === 0 && ORDERED), ...ownOf(LEVEL_OPTIONS, level.root.id) };
  const found: DrawnLevel[] = [];
  for (const variant of variants) {
    try {
      found.push(
        levelFrom(level, await elk.layout(graphOf(level, chart, lines, { ...OPTIONS, ...variant, ...order }))),
      );
    } catch {
      // ELK cannot lay out some graphs in one of the directions.
    }
  }
  const [best] = found.sort((one, other) => room(one) - room(other));
  if (best !== undefined) return best;
  const bare = { ...level, stubs: [], edges: level.edges.map((edge) => ({ ...edge, hasLine: false })) };
  return levelFrom(bare, await elk.layout(graphOf(bare, chart, [], { ...OPTIONS, ...PACKED })));
}

const room = ({ width, height }: DrawnLevel): number => Math.max(width / ASPECT, height);

type Options = Readonly<Record<string, string>>;

const OPTIONS: Options = {
  'elk.json.edgeCoords': 'ROOT',
  'elk.json.shapeCoords': 'ROOT',
  'elk.randomSeed': '1',
  'elk.padding': '[top=2,left=2,bottom=2,right=2]',
  'elk.spacing.nodeNode': '16',
  'elk.aspectRatio': String(ASPECT),
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
  'elk.layered.cycleBreaking.strategy': 'DEPTH_FIRST',
  'elk.layered.nodePlacement.strategy': 'NETWORK_SIMPLEX',
};

const DOWN: Options = { ...LAYERED, 'elk.direction': 'DOWN' };
const RIGHT: Options = { ...LAYERED, 'elk.direction': 'RIGHT' };

/** ELK fails with the order of the chart if states contain others. */
const ORDERED: Options = {
  'elk.layered.cycleBreaking.strategy': 'MODEL_ORDER',
  'elk.layered.considerModelOrder.strategy': 'NODES_AND_EDGES',
};

/** For the chart of the whole chain: without them, the line to the next cycle takes a detour around `recovering`. */
const LEVEL_OPTIONS: Readonly<Record<string, Options>> = {
  postChain: { 'elk.layered.layering.strategy': 'LONGEST_PATH', 'elk.spacing.edgeNode': '7' },
};

/** For levels without lines. */
const PACKED: Options = { 'elk.algorithm': 'rectpacking' };

const HEIGHT = 26;
const HEAD = 26;
const PAD = 10;
/** Space beside a name. */
const SIDE = 14;
/** Room for the count of a branch. */
const COUNT_WIDTH = 30;

function graphOf(level: Level, chart: Chart, lines: readonly LevelEdge[], options: Options): ElkNode {
  const { root, states, open, stubs } = level;
  const nodes = new Map<string, ElkNode>([[root.id, { id: 'root', children: [] }]]);
  for (const state of states) {
    const width = stateWidth(state, chart, level);
    const inside = {
      ...options,
      'elk.padding': `[top=${HEAD},left=${PAD},bottom=${PAD},right=${PAD}]`,
      'elk.nodeSize.constraints': 'MINIMUM_SIZE',
      'elk.nodeSize.minimum': `(${width}, ${HEAD + PAD})`,
    };
    const size = open.has(state.id)
      ? { children: [], layoutOptions: inside }
      : {
          width,
          height: HEIGHT,
          layoutOptions: { 'elk.portConstraints': 'FIXED_SIDE' },
          ports: portsOf(state.id, options),
        };
    nodes.set(state.id, { id: nodeId(state.id), ...size });
  }
  const addStubs = (areTargets: boolean): void => {
    for (const { id, parent, text } of stubs) {
      if (lines.some(({ target }) => target === id) !== areTargets) continue;
      const width = widthOf(excerpt(text, MAX_NAME), FONT.label) + 16;
      nodes.get(parent)?.children?.push({ id: nodeId(id), width, height: 20, ports: portsOf(id, options) });
    }
  };
  addStubs(false);
  for (const { id, parent } of states) nodes.get(parent ?? root.id)?.children?.push(nodes.get(id) as ElkNode);
  addStubs(true);
  const edges = lines.map((line, index) => ({
    id: `edge ${index}`,
    sources: [open.has(line.source) ? nodeId(line.source) : `out ${line.source}`],
    targets: [open.has(line.target) ? nodeId(line.target) : `in ${line.target}`],
    labels: [
      {
        text: 'label',
        ...(isBranch(line, lines)
          ? { width: COUNT_WIDTH, height: 14 }
          : labelSize(wordsOf(line, chart), showsAll(chart.id))),
        layoutOptions: { 'elk.edgeLabels.inline': line.source === line.target ? 'false' : 'true' },
      },
    ],
  }));
  return { ...(nodes.get(root.id) as ElkNode), layoutOptions: options, edges };
}

/** Lines enter a box at one side and leave it at the other. */
function portsOf(id: string, options: Options) {
  const [to, from] = options['elk.direction'] === 'RIGHT' ? ['WEST', 'EAST'] : ['NORTH', 'SOUTH'];
  return [
    { id: `in ${id}`, layoutOptions: { 'elk.port.side': to ?? '' } },
    { id: `out ${id}`, layoutOptions: { 'elk.port.side': from ?? '' } },
  ];
}

const nodeId = (id: string): string => `node ${id}`;

const wordsOf = ({ transitions }: LevelEdge, chart: Chart): readonly string[] =>
  transitions.flatMap((index) => chart.transitions[index] ?? []).map((one) => transitionWords(chart.id, one));

const isBranch = (line: LevelEdge, lines: readonly LevelEdge[]): boolean =>
  line.fan !== null && lines.find(({ fan }) => fan === line.fan) !== line;

const BADGE = '9 of 99 calls failed';
/** The widest badge of `action` and of the state inside it that runs tools. */
const TOOL_BADGE = '9 of 99 calls and 9 tool calls failed';
const FOLD = 24;
const GAP = 8;

/** The name, and beside it room for a badge or a note. */
function stateWidth({ id, name, type, invokes }: ChartState, chart: Chart, { edges }: Level): number {
  const { id: chartId, transitions } = chart;
  const text = widthOf(excerpt(name, MAX_NAME), FONT.name) + 2 * SIDE;
  if (type === 'final' || type === 'history') return text;
  const isActive = type !== 'atomic' || invokes.length > 0;
  const own = transitions.filter(({ source }) => source === id);
  const note = noteText(chartId, invokes, own, '×99');
  const hasBadge = isActive && !showsAll(chartId);
  const omitted = edges.some(({ hasLine }) => hasLine)
    ? edges.filter(({ hasLine, source, target }) => !hasLine && source === id && target !== id)
    : [];
  const ways = omitted.flatMap((edge) => edge.transitions.flatMap((at) => transitions[at] ?? []));
  const texts = [
    note,
    ...(hasBadge ? [id === 'action' || invokes.includes('action') ? TOOL_BADGE : BADGE] : []),
    ...ways.map((way) => wayText(chartId, way)),
  ];
  const badge = Math.max(...texts.map((text) => widthOf(excerpt(text, MAX_BADGE), FONT.label)));
  return text + (badge > 0 ? badge + GAP : 0) + (isActive ? FOLD : 0);
}

function levelFrom(level: Level, graph: ElkNode): DrawnLevel {
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
  const lines = level.edges.filter(({ hasLine }) => hasLine);
  const routes = new Map((graph.edges ?? []).map((edge) => [edge.id, edge]));
  const edges = level.edges.map((edge): DrawnEdge => {
    const { sections = [], labels = [] } = (edge.hasLine && routes.get(`edge ${lines.indexOf(edge)}`)) || {};
    return {
      source: stateOf(edge.source),
      target: stateOf(edge.target),
      transitions: edge.transitions,
      points: sections
        .flatMap(({ startPoint, bendPoints = [], endPoint }) => [startPoint, ...bendPoints, endPoint])
        .map(({ x, y }) => ({ x: tenth(x), y: tenth(y) })),
      label: labels[0] === undefined ? null : boxOf(labels[0]),
      isBranch: isBranch(edge, lines),
    };
  });
  return {
    width: Math.ceil(graph.width ?? 0),
    height: Math.ceil(graph.height ?? 0),
    states: level.states.map(({ id }) => ({
      id,
      isOpen: level.open.has(id),
      ...(boxes.get(nodeId(id)) as Box),
    })),
    stubs: level.stubs.map(({ id, text }) => ({ text, ...(boxes.get(nodeId(id)) as Box) })),
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
