import type { Chart, ChartState } from './chart.ts';
import { type ChartView, createChartView, type Edge, edgesOf } from './edges.ts';

export interface MermaidOptions {
  /** How many levels of states are drawn; what is deeper counts as its ancestor. All by default. */
  readonly depth?: number;
}

/** Lines of text in a state are not broken. */
const WIDE = '%%{init: {"flowchart": {"wrappingWidth": 600}}}%%';

/**
 * A chart as a Mermaid flowchart: a compound state is a box with its children in it, a dashed edge is an event from outside, a
 * time-out or an error. Edges between the same two states are drawn as one. An edge that would tangle the picture is a line of
 * text in the state that it leaves: `else → recovering`.
 */
export function mermaid(chart: Chart, { depth = Number.POSITIVE_INFINITY }: MermaidOptions = {}): string {
  const view = createChartView(chart, depth);
  const { drawn, asText: told } = edgesOf(chart, view);
  const lines = [WIDE, 'flowchart TD'];
  for (const state of view.childrenOf(chart.id)) drawState(state, view, told, lines, 1);
  drawAnywhere(chart.id, leavingOf(chart.id, told, view), lines, 1);
  lines.push('  begin((" "))', `  begin --> ${nodeId(view.initialLeaf(chart.id))}`);
  for (const { source, target, labels, dashed } of drawn) {
    const text = labels.filter((label) => label !== '').join('<br/>');
    lines.push(`  ${nodeId(source)} ${dashed ? '-.->' : '-->'}${text === '' ? '' : `|"${text}"|`} ${nodeId(target)}`);
  }
  return `${lines.join('\n')}\n`;
}

function drawState(state: ChartState, view: ChartView, told: readonly Edge[], lines: string[], indent: number): void {
  const pad = '  '.repeat(indent);
  const id = nodeId(state.id);
  const children = view.childrenOf(state.id);
  const runs = state.invokes.map((name) => `<i>${name}</i>`);
  const leaving = leavingOf(state.id, told, view);
  if (children.length === 0) {
    const label = `"${[`<b>${state.name}</b>`, ...runs, ...leaving].join('<br/>')}"`;
    lines.push(`${pad}${id}${state.type === 'final' ? `([${label}])` : `[${label}]`}`);
    return;
  }
  lines.push(`${pad}subgraph ${id} ["${[state.name, ...runs].join(' · ')}"]`);
  for (const child of children) drawState(child, view, told, lines, indent + 1);
  drawAnywhere(state.id, leaving, lines, indent + 1);
  lines.push(`${pad}end`);
}

/** The edges that are told in words. */
function leavingOf(id: string, told: readonly Edge[], view: ChartView): readonly string[] {
  return told
    .filter(({ source }) => source === id)
    .map(({ labels, target }) => `<small>${labels.join(', ')} → ${view.nameOf(target)}</small>`);
}

/** What holds in each state of a compound one, the whole machine included. */
function drawAnywhere(id: string, leaving: readonly string[], lines: string[], indent: number): void {
  if (leaving.length === 0) return;
  const text = ['<i>anywhere in here</i>', ...leaving].join('<br/>');
  lines.push(`${'  '.repeat(indent)}${nodeId(id)}_anywhere{{"${text}"}}`);
}

const nodeId = (id: string): string => id.replace(/[^A-Za-z0-9]/g, '_');
