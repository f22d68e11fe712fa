import type { Chart, ChartState } from './chart.ts';
import { type ChartView, createChartView, type Edge, edgesOf } from './edges.ts';

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
  const edges = edgesOf(chart, view);
  const output = [WIDE, 'flowchart TD'];
  for (const state of view.childrenOf(chart.id)) writeState(state, view, edges.listed, output, 1);
  writeAnywhere(chart.id, edgeTexts(chart.id, edges.listed, view), output, 1);
  const first = view.initialLeaf(chart.id);
  const begun = first === chart.id ? view.childrenOf(chart.id).map(({ id }) => id) : [first];
  output.push('  begin((" "))', ...begun.map((id) => `  begin --> ${nodeId(id)}`));
  for (const { source, target, labels, dashed } of edges.lines) {
    const text = labels
      .filter((label) => label !== '')
      .map(escaped)
      .join('<br/>');
    output.push(`  ${nodeId(source)} ${dashed ? '-.->' : '-->'}${text === '' ? '' : `|"${text}"|`} ${nodeId(target)}`);
  }
  return `${output.join('\n')}\n`;
}

function writeState(
  state: ChartState,
  view: ChartView,
  listed: readonly Edge[],
  output: string[],
  indent: number,
): void {
  const pad = '  '.repeat(indent);
  const id = nodeId(state.id);
  const children = view.childrenOf(state.id);
  const invoked = state.invokes.map((name) => `<i>${escaped(name)}</i>`);
  const leaving = edgeTexts(state.id, listed, view);
  if (state.type === 'history') output.push(`${pad}${id}(("H"))`);
  else if (children.length === 0) {
    const label = `"${[`<b>${escaped(state.name)}</b>`, ...invoked, ...leaving].join('<br/>')}"`;
    output.push(`${pad}${id}${state.type === 'final' ? `([${label}])` : `[${label}]`}`);
  } else {
    output.push(`${pad}subgraph ${id} ["${[escaped(state.name), ...invoked].join(' · ')}"]`);
    for (const child of children) writeState(child, view, listed, output, indent + 1);
    writeAnywhere(state.id, leaving, output, indent + 1);
    output.push(`${pad}end`);
  }
}

function edgeTexts(id: string, listed: readonly Edge[], view: ChartView): readonly string[] {
  return listed
    .filter(({ source }) => source === id)
    .map(({ labels, target }) => `<small>${labels.map(escaped).join(', ')} → ${escaped(view.nameOf(target))}</small>`);
}

/** Writes the edges that leave a compound state from any of its children. */
function writeAnywhere(id: string, leaving: readonly string[], output: string[], indent: number): void {
  if (leaving.length === 0) return;
  const text = ['<i>anywhere in here</i>', ...leaving].join('<br/>');
  output.push(`${'  '.repeat(indent)}${nodeId(id)}_anywhere{{"${text}"}}`);
}

const ENTITIES: Readonly<Record<string, string>> = { '"': '#quot;', '<': '#lt;', '>': '#gt;' };

/** Labels are HTML in quotation marks, with Mermaid's own entities. */
const escaped = (text: string): string => text.replace(/["<>]/gu, (found) => ENTITIES[found] ?? '');

const nodeId = (id: string): string => id.replace(/[^A-Za-z0-9]/g, '_');
