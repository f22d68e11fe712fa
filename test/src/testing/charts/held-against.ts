import type { StateValue } from 'xstate';
import type { Exploration } from '../../../../src/testing/exploration/exploration.ts';
import { pathThrough } from '../../../../src/testing/exploration/paths.ts';

/**
 * Which way a machine may go, from where and on what: written from the requirements, in words of what happens, without a look at the guards.
 * The first row that fits an edge decides. A row that no edge fits, and an edge that no row allows, are mistakes, here or in the chart.
 */
export interface Row<Context> {
  readonly from: readonly string[];
  /** What happens, as its name has it. */
  readonly on: RegExp;
  /** How it stood before that; `name` is what happens. */
  readonly when?: (context: Context, name: string) => boolean;
  /** Where it may stand then; `the same` is where it stood. */
  readonly to: readonly string[];
  /** What must be so there: of what tells states from each other, since one state stands for all that are alike. */
  readonly so?: (context: Context, there: string, before: Context) => boolean;
  /** The requirements that say so. */
  readonly by: string;
}

/** States that only hold others: what is in them says enough. */
const AROUND: ReadonlySet<string> = new Set(['cycling', 'synthesizing', 'calling']);

/** Where a machine rests: its innermost state, and the phase around it. */
function placeOf(value: StateValue): string {
  const parts: string[] = [];
  let at: StateValue | undefined = value;
  while (typeof at === 'object') {
    const [[name, inner] = ['', undefined]]: [string, StateValue | undefined][] = Object.entries(at);
    parts.push(name);
    at = inner;
  }
  if (at !== undefined) parts.push(at);
  return parts.filter((part) => !AROUND.has(part)).join('.');
}

/** Where a run begins, `on` the name of its input. */
export const START = 'its beginning';

interface Step<Context> {
  readonly here: string;
  readonly there: string;
  readonly name: string;
  readonly moves: boolean;
  readonly before: Context;
  readonly after: Context;
  readonly path: () => string;
}

function stepsOf<Context>(exploration: Exploration): readonly Step<Context>[] {
  const { states, edges, starts: beginnings } = exploration;
  const standing = (id: number) => {
    const state = states[id];
    if (state === undefined) throw new RangeError(`no state ${id}`);
    return { place: placeOf(state.value), context: state.snapshot.context as Context };
  };
  return [
    ...beginnings.map(({ name, state }) => {
      const { place: there, context } = standing(state);
      return { here: START, there, name, moves: true, before: context, after: context, path: () => name };
    }),
    ...edges.map((edge) => {
      const [from, to] = [standing(edge.from), standing(edge.to)];
      return {
        ...{ here: from.place, there: to.place, name: edge.occurrence.name, moves: edge.taken.length > 0 },
        ...{ before: from.context, after: to.context, path: () => pathThrough(exploration, edge).name },
      };
    }),
  ];
}

/** Steps that no row allows, each with the shortest path to it. What is ignored is allowed where no row says what comes of it. */
export function forbiddenBy<Context>(table: readonly Row<Context>[], exploration: Exploration): readonly string[] {
  return stepsOf<Context>(exploration).flatMap((step) => {
    const { here, there, name, moves, before, after, path } = step;
    const row = rowFor(table, step);
    if (row === undefined && (!moves || here === START)) return [];
    const allowed = row?.to.map((place) => (place === 'the same' ? here : place)) ?? [];
    const isSo = row?.so === undefined || row.so(after, there, before);
    if (allowed.includes(there) && isSo && (moves || row?.to.includes('the same') === true)) return [];
    const wanted = row === undefined ? 'a row for it' : `${allowed.join(' or ')} [${row.by}]`;
    const what = moves ? `→ ${there}${isSo ? '' : ', and what must be so is not'}` : 'is ignored';
    return [`${here}, ${name} ${what}; wanted ${wanted}, after ${path()}`];
  });
}

/** Rows that nothing fits. */
export function unusedOf<Context>(table: readonly Row<Context>[], exploration: Exploration): readonly string[] {
  const used = new Set(stepsOf<Context>(exploration).map((step) => (step.moves ? rowFor(table, step) : undefined)));
  return table
    .filter((row) => !used.has(row))
    .map(({ from, on, by }) => `nothing fits: ${from.join(', ')}, ${on} [${by}]`);
}

const rowFor = <Context>(table: readonly Row<Context>[], { here, name, before }: Step<Context>) =>
  table.find(
    ({ from, on, when }) => from.includes(here) && on.test(name) && (when === undefined || when(before, name)),
  );
