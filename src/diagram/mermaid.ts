import type { Chart, ChartState } from './chart.ts';
import { type Edge, edgesOf } from './edges.ts';
import { createView, type View } from './view.ts';

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
  const view = createView(chart, depth);
  const { drawn, told } = edgesOf(chart, view);
  const lines = [WIDE, 'flowchart TD'];
  for (const state of view.childrenOf(chart.id)) drawState(state, view, told, lines, 1);
  lines.push('  begin((" "))', `  begin --> ${nodeId(view.initialLeaf(chart.id))}`);
  for (const { source, target, labels, dashed } of drawn) {
    const text = labels.filter((label) => label !== '').join('<br/>');
    lines.push(`  ${nodeId(source)} ${dashed ? '-.->' : '-->'}${text === '' ? '' : `|"${text}"|`} ${nodeId(target)}`);
  }
  return `${lines.join('\n')}\n`;
}

function drawState(state: ChartState, view: View, told: readonly Edge[], lines: string[], indent: number): void {
  const pad = '  '.repeat(indent);
  const id = nodeId(state.id);
  const children = view.childrenOf(state.id);
  const runs = state.invokes.map((name) => `<i>${name}</i>`);
  const leaving = told
    .filter(({ source }) => source === state.id)
    .map(({ labels, target }) => `<small>${labels.join(', ')} → ${view.nameOf(target)}</small>`);
  if (children.length === 0) {
    const label = `"${[`<b>${state.name}</b>`, ...runs, ...leaving].join('<br/>')}"`;
    lines.push(`${pad}${id}${state.type === 'final' ? `([${label}])` : `[${label}]`}`);
    return;
  }
  lines.push(`${pad}subgraph ${id} ["${state.name}"]`);
  for (const child of children) drawState(child, view, told, lines, indent + 1);
  if (leaving.length > 0)
    lines.push(`${pad}  ${id}_anywhere{{"${['<i>anywhere in here</i>', ...leaving].join('<br/>')}"}}`);
  lines.push(`${pad}end`);
}

const nodeId = (id: string): string => id.replace(/[^A-Za-z0-9]/g, '_');
