import type { Chart, ChartState } from '../../src/durable/charts/chart.ts';
import { indexChart, placeIn } from '../fold/chart-index.ts';
import { actionNames, isOwnChart, transitionName, transitionWords } from '../fold/chart-words.ts';
import { pluralize } from '../fold/format.ts';
import { groupBy } from '../fold/group-by.ts';
import { excerpt } from '../fold/text.ts';
import type { BoxLine } from './drawing.ts';
import type { Level, LevelEdge } from './level.ts';

const MAX_PARTS = 6;
const MAX_STUBS = 3;
const MAX_LINE = 48;

/** What a state does, and a stub for each group of transitions to or from it that has no line in the picture. */
export function boxLinesOf(state: ChartState, chart: Chart, level: Level): readonly BoxLine[] {
  const parts = isOwnChart(chart.id) ? [] : partsOf(state, chart);
  const isOpen = state === level.root || level.open.has(state.id);
  const inner = isOpen || isOwnChart(chart.id) ? [] : chart.states.filter(({ parent }) => parent === state.id);
  const inside = inner.map(
    (): BoxLine => ({ kind: 'inside', text: pluralize(inner.length, 'state'), transitions: [] }),
  );
  return [...inside.slice(0, 1), ...atMost(parts, MAX_PARTS), ...atMost(stubsOf(state, chart, level), MAX_STUBS)].map(
    (line) => ({
      ...line,
      text: excerpt(line.text, MAX_LINE),
    }),
  );
}

/** The first lines. If there are more, the last line shows their number and stands for their transitions. */
function atMost(lines: readonly BoxLine[], most: number): readonly BoxLine[] {
  const [shown, others] = [lines.slice(0, most - 1), lines.slice(most - 1)];
  const [last] = others;
  if (last === undefined || others.length === 1) return lines;
  const transitions = others.flatMap((line) => line.transitions);
  return [...shown, { kind: last.kind, text: `+${others.length} more`, transitions }];
}

function partsOf(state: ChartState, { transitions }: Chart): readonly BoxLine[] {
  const { description, invokes, invokeIds = [], entry = [], exit = [], tags = [] } = state;
  const part = (text: string, ...ways: number[]): BoxLine => ({ kind: 'part', text, transitions: ways });
  const about = description.trim();
  return [
    ...(about === '' ? [] : [{ kind: 'about', text: about, transitions: [] } as const]),
    ...invokes.map((name, at) => {
      const id = invokeIds[at] ?? '';
      return part(`invoke ${name}${id === '' || id === name ? '' : ` as ${id}`}`);
    }),
    ...(entry.length > 0 ? [part(`entry / ${actionNames(entry)}`)] : []),
    ...(exit.length > 0 ? [part(`exit / ${actionNames(exit)}`)] : []),
    ...transitions.flatMap((way, index) =>
      way.source === state.id && way.target.length === 0
        ? [part([transitionName(way), actionNames(way.actions)].filter(Boolean).join(' / '), index)]
        : [],
    ),
    ...(tags.length > 0 ? [part(tags.map((tag) => `#${tag}`).join(' '))] : []),
  ];
}

/** In the chain's charts, a state with fewer omitted lines does not name them: the states at their other ends do. */
const MIN_OWN = 3;

/** Stands for the state itself. No state of a machine has an empty id. */
const TO_ITSELF = '';

/** `ABORT → aborted` at a source, and `ABORT from 8 states` at the target. */
function stubsOf({ id, name }: ChartState, chart: Chart, { states, stubs, edges }: Level): readonly BoxLine[] {
  const isOwn = isOwnChart(chart.id);
  const isState = (end: string): boolean => states.some((state) => state.id === end);
  /** Whether a line has transitions of the state to itself. On the level inside the state, both ends are stubs. */
  const isToItself = ({ source, target, transitions }: LevelEdge): boolean =>
    (source === target || (source !== id && !isState(target))) &&
    transitions.some((at) => chart.transitions[at]?.source === id && chart.transitions[at]?.target.includes(id));
  const withoutLine = edges.filter(({ hasLine }) => !hasLine);
  const omitted = [
    ...withoutLine.filter(({ source, target }) => source !== target),
    ...(isOwn ? [] : withoutLine.filter(isToItself).map((edge) => ({ ...edge, source: id, target: TO_ITSELF }))),
  ];
  const nameOf = (end: string): string =>
    end === TO_ITSELF
      ? name
      : isState(end)
        ? placeIn(indexChart(chart), end, id)
        : (stubs.find((stub) => stub.id === end)?.text ?? 'elsewhere');
  return (['target', 'source'] as const).flatMap((other) => {
    const own = omitted.filter((edge) => edge[other === 'target' ? 'source' : 'target'] === id);
    const texts = stubTexts(own, chart, other);
    const shown = isOwn ? (own.length < MIN_OWN ? [] : [inOne(texts)]) : texts;
    return shown.map(({ words, ends, transitions }) => {
      const [first = '', ...others] = ends;
      const end = others.length === 0 ? nameOf(first) : `${ends.length} states`;
      const most = words.slice(0, isOwn ? 1 : 2);
      const rest = words.length - most.length;
      const listed = `${most.join(', ')}${rest > 0 ? ` +${rest}` : ''}`;
      return { kind: 'stub', text: `${listed} ${other === 'target' ? '›' : 'from'} ${end}`, transitions };
    });
  });
}

const inOne = (texts: readonly StubText[]): StubText => ({
  words: texts.flatMap(({ words }) => words),
  ends: [...new Set(texts.flatMap(({ ends }) => ends))],
  transitions: texts.flatMap(({ transitions }) => transitions),
});

interface StubText {
  readonly words: readonly string[];
  readonly ends: readonly string[];
  readonly transitions: readonly number[];
}

/** Groups transitions by what takes them, and merges groups with the same states at the other end. Groups with the most states come first. */
function stubTexts(edges: readonly LevelEdge[], chart: Chart, other: 'source' | 'target'): readonly StubText[] {
  const ways = edges.flatMap((edge) =>
    edge.transitions.flatMap((index) => {
      const way = chart.transitions[index];
      if (way === undefined) return [];
      const guard = way.guard?.replace(/\(.*\)$/su, '') ?? null;
      return { words: transitionWords(chart.id, { ...way, guard }), end: edge[other], index };
    }),
  );
  const byWords = [...groupBy(ways, ({ words }) => words)].map(([words, all]) => ({
    words,
    ends: [...new Set(all.map(({ end }) => end))].sort(),
    transitions: all.map(({ index }) => index),
  }));
  return [...groupBy(byWords, ({ ends }) => JSON.stringify(ends)).values()]
    .map((all) => ({
      words: all.map(({ words }) => words),
      ends: all[0]?.ends ?? [],
      transitions: all.flatMap(({ transitions }) => transitions),
    }))
    .sort((one, another) => another.ends.length - one.ends.length);
}
