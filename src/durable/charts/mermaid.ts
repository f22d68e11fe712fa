import { oneLine } from '../../internal/printable.ts';
import type { Chart, ChartState } from './chart.ts';

export interface MermaidOptions {
  /** How many levels of states are drawn; deeper states are merged into their ancestor. Default: all. */
  readonly depth?: number;
}

/** Prevents line breaks inside the lines of a state's text. */
const WIDE = '%%{init: {"flowchart": {"wrappingWidth": 600}}}%%';

/**
 * Returns a chart as a Mermaid flowchart. A compound state is a box around its children, and a history state a circle; a dashed edge is an
 * external event, a timeout or an error. Edges between the same two states are drawn as one. An edge that would tangle the diagram is a line
 * of text in its source state, for example `else → recovering`.
 */
export function mermaid(chart: Chart, { depth = Number.POSITIVE_INFINITY }: MermaidOptions = {}): string {
  const view = createChartView(chart, depth);
  const { lines, listed } = edgesOf(chart, view);
  const newId = createNodeIds();
  const ids = new Map(chart.states.map(({ id }) => [id, newId(id)]));
  const nodeId = (id: string): string => ids.get(id) ?? '';
  const output = [WIDE, 'flowchart TD'];

  function writeState(state: ChartState, indent: number): void {
    const pad = '  '.repeat(indent);
    const id = nodeId(state.id);
    const children = view.childrenOf(state.id);
    const invoked = state.invokes.map((name) => `<i>${escaped(name)}</i>`);
    if (state.type === 'history') output.push(`${pad}${id}(("H"))`);
    else if (children.length === 0) {
      const label = `"${[`<b>${escaped(state.name)}</b>`, ...invoked, ...edgeTexts(state.id)].join('<br/>')}"`;
      output.push(`${pad}${id}${state.type === 'final' ? `([${label}])` : `[${label}]`}`);
    } else {
      output.push(`${pad}subgraph ${id} ["${[escaped(state.name), ...invoked].join(' · ')}"]`);
      for (const child of children) writeState(child, indent + 1);
      writeAnywhere(state.id, indent + 1);
      output.push(`${pad}end`);
    }
  }
  function edgeTexts(id: string): readonly string[] {
    return listed
      .filter(({ source }) => source === id)
      .map(
        ({ labels, target }) => `<small>${labels.map(escaped).join(', ')} → ${escaped(view.nameOf(target))}</small>`,
      );
  }
  /** Writes the edges that leave a compound state from any of its children. */
  function writeAnywhere(id: string, indent: number): void {
    const leaving = edgeTexts(id);
    if (leaving.length === 0) return;
    const text = ['<i>anywhere in here</i>', ...leaving].join('<br/>');
    output.push(`${'  '.repeat(indent)}${newId(`${id}.anywhere`)}{{"${text}"}}`);
  }

  for (const state of view.childrenOf(chart.id)) writeState(state, 1);
  writeAnywhere(chart.id, 1);
  const first = view.initialLeaf(chart.id);
  const begun = first === chart.id ? view.childrenOf(chart.id).map(({ id }) => id) : [first];
  output.push('  begin((" "))', ...begun.map((id) => `  begin --> ${nodeId(id)}`));
  for (const { source, target, labels, dashed } of lines) {
    const text = labels
      .filter((label) => label !== '')
      .map(escaped)
      .join('<br/>');
    output.push(`  ${nodeId(source)} ${dashed ? '-.->' : '-->'}${text === '' ? '' : `|"${text}"|`} ${nodeId(target)}`);
  }
  return `${output.join('\n')}\n`;
}

/** Ids that Mermaid rejects, and `begin`, the id of the start node. */
const RESERVED =
  'accDescr accTitle begin call class classDef click default end flowchart graph href interpolate linkStyle style subgraph';

/** Returns a function that makes a unique id from a name, even for names that differ only in punctuation. */
function createNodeIds(): (name: string) => string {
  const taken = new Set(RESERVED.split(' '));
  return (name) => {
    let id = name.replace(/[^A-Za-z0-9]/g, '_');
    while (taken.has(id)) id += '_';
    taken.add(id);
    return id;
  };
}

const ENTITIES: Readonly<Record<string, string>> = { '"': 'quot', '<': 'lt', '>': 'gt' };

/** Labels are HTML in quotation marks, with Mermaid's own entities; a backtick begins Markdown, `$$` a formula, and `\n` breaks a line. */
const escaped = (text: string): string =>
  oneLine(text).replace(/["<>#&`$\\]/gu, (found) => `#${ENTITIES[found] ?? found.charCodeAt(0)};`);

/** All transitions between two states, drawn as one edge. `dashed`: each is triggered by an external event, a timeout or an error. */
interface Edge {
  readonly source: string;
  readonly target: string;
  readonly labels: readonly string[];
  readonly dashed: boolean;
}

/** A state with this many incoming edges, or this many outgoing ones, is crowded. */
const CROWDED_TARGET = 5;
const CROWDED_SOURCE = 6;

/**
 * Returns the edges drawn as lines, and those listed as text in their source state, because lines would tangle the diagram. Listed are edges
 * from compound states, unless nothing else leads to their target; edges from a state to itself; and crowded edges between siblings. Every
 * crowded state keeps the first line, and every other state at least one line to it, so that all states stay connected.
 */
function edgesOf(chart: Chart, view: ChartView) {
  const edges = mergedEdges(chart, view);
  const incoming = countBy(edges, ({ target }) => target);
  const outgoing = countBy(edges, ({ source }) => source);
  const isCrowdedTarget = (id: string): boolean => (incoming.get(id) ?? 0) >= CROWDED_TARGET;
  const isCrowded = ({ source, target }: Edge): boolean =>
    view.parentOf(source) === view.parentOf(target) &&
    (isCrowdedTarget(target) || (outgoing.get(source) ?? 0) >= CROWDED_SOURCE);
  const isCompound = ({ source }: Edge): boolean => view.childrenOf(source).length > 0;
  const reached = new Set(edges.filter((edge) => !isCrowded(edge)).map(({ target }) => target));
  const lines: Edge[] = [];
  const listed: Edge[] = [];
  const connected = new Set<string>();
  for (const edge of edges) {
    const { source, target } = edge;
    const isFirst = isCrowdedTarget(target) ? !connected.has(target) : !connected.has(source) || !reached.has(target);
    const isKept = !isCrowded(edge) || isFirst;
    if (isCompound(edge) || source === target || !isKept) listed.push(edge);
    else {
      lines.push(edge);
      reached.add(target);
      if (isCrowded(edge)) connected.add(isCrowdedTarget(target) ? target : source);
    }
  }
  const bridges = listed.filter((edge) => isCompound(edge) && isOnlyEntry(edge, edges, view));
  return { lines: [...lines, ...bridges], listed: listed.filter((edge) => !bridges.includes(edge)) };
}

/** Whether no edge of another state leads to the target, which is outside the source: without a line it would be disconnected. */
function isOnlyEntry({ source, target }: Edge, edges: readonly Edge[], view: ChartView): boolean {
  return !isWithin(target, source, view) && edges.every((other) => other.target !== target || other.source === source);
}

function isWithin(id: string | null, outer: string, view: ChartView): boolean {
  return id !== null && (id === outer || isWithin(view.parentOf(id), outer, view));
}

function mergedEdges({ transitions }: Chart, view: ChartView): readonly Edge[] {
  const byEnds = new Map<string, Edge>();
  for (const { source, target, event, guard, otherwise } of transitions) {
    for (const to of target) {
      const ends = { source: view.visibleAncestor(source), target: view.visibleAncestor(to) };
      // Transitions inside a collapsed state are invisible, except those that re-enter the state itself.
      if (ends.source === ends.target && (to !== ends.target || source === to)) continue;
      const key = `${ends.source} ${ends.target}`;
      const merged = byEnds.get(key) ?? { labels: [], dashed: true };
      const label = labelOf(event, otherwise ? 'else' : guard);
      const isExternal = event !== '' && event !== 'done';
      byEnds.set(key, {
        ...ends,
        labels: [...new Set([...merged.labels, label])],
        dashed: merged.dashed && isExternal,
      });
    }
  }
  return [...byEnds.values()];
}

function labelOf(event: string, guard: string | null): string {
  if (guard === null) return event;
  return event === '' || event === 'done' ? guard : `${event}: ${guard}`;
}

function countBy(edges: readonly Edge[], keyOf: (edge: Edge) => string): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const edge of edges) counts.set(keyOf(edge), (counts.get(keyOf(edge)) ?? 0) + 1);
  return counts;
}

type ChartView = ReturnType<typeof createChartView>;

/** Returns a chart down to some depth. The root's children are at depth 1. */
function createChartView({ states }: Chart, maxDepth: number) {
  const byId = new Map(states.map((state) => [state.id, state]));
  const parentOf = (id: string): string | null => byId.get(id)?.parent ?? null;
  const depthOf = (id: string): number => {
    const parent = parentOf(id);
    return parent === null ? 0 : depthOf(parent) + 1;
  };
  const childrenOf = (id: string): readonly ChartState[] =>
    depthOf(id) < maxDepth ? states.filter(({ parent }) => parent === id) : [];
  /** Returns the state itself, or its deepest ancestor that is drawn. */
  const visibleAncestor = (id: string): string => (depthOf(id) <= maxDepth ? id : visibleAncestor(parentOf(id) ?? id));
  const initialLeaf = (id: string): string => {
    const initial = byId.get(id)?.initial ?? null;
    return initial === null || childrenOf(id).length === 0 ? id : initialLeaf(initial);
  };
  const nameOf = (id: string): string => byId.get(id)?.name ?? id;
  return { childrenOf, visibleAncestor, initialLeaf, parentOf, nameOf };
}
