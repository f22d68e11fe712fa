import type { Chart, ChartState } from './chart.ts';
import { createChartView, edgesOf } from './edges.ts';

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
  const newId = nodeIds();
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

/** Mermaid does not accept these as ids, and `begin` is the start of the diagram. */
const RESERVED =
  'accDescr accTitle begin call class classDef click default end flowchart graph href interpolate linkStyle style subgraph';

/** Returns a function that returns a new id for a name. Names that differ only in their punctuation get different ids. */
function nodeIds(): (name: string) => string {
  const taken = new Set(RESERVED.split(' '));
  return (name) => {
    let id = name.replace(/[^A-Za-z0-9]/g, '_');
    while (taken.has(id)) id += '_';
    taken.add(id);
    return id;
  };
}

const ENTITIES: Readonly<Record<string, string>> = { '"': '#quot;', '<': '#lt;', '>': '#gt;' };

/** Labels are HTML in quotation marks, with Mermaid's own entities. */
const escaped = (text: string): string => text.replace(/["<>]/gu, (found) => ENTITIES[found] ?? '');
