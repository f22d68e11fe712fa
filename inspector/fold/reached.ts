import { activeStatesAt } from './active-states.ts';
import { endReportedBy } from './actor-entries.ts';
import type { ActorRecord } from './actor-log.ts';
import { ancestorsOf, chartIndexOf, type IndexedChart, placeIn, statePath } from './chart-index.ts';
import type { LoadedEntries } from './run-fold.ts';
import { lastUpTo } from './sorted.ts';
import { answerText, errorText, guardsText, isInitial, triggerText } from './system-words.ts';
import { excerpt } from './text.ts';
import { INIT } from './transition-log.ts';

export type ReachedState = ReturnType<typeof reachedStates>[number];

/**
 * Returns the innermost active states of the root machine at an entry, with the transition into each and why it was taken. Without a chart,
 * those that its last transition has named.
 */
export function reachedStates({ log, fold, charts }: LoadedEntries, machine: string, at: number) {
  const index = chartIndexOf(charts);
  const chart = index.chart(machine) ?? index.first;
  const id = chart?.id ?? machine;
  const position = fold.transitions.positionAt(id, at)?.targets ?? [];
  const leaves = (charts && activeStatesAt(fold.transitions, charts, at).leaf[id]) ?? position;
  const own = fold.transitions.distinct.filter((taken) => taken.machine === id && taken.event !== INIT);
  return leaves.map((leaf) => {
    const path = chart === undefined ? leaf : statePath(chart, leaf);
    const seqs = own.flatMap(({ source, target, seqs: all }) =>
      enters(chart, leaf, { source, target }) ? (lastUpTo(all, at) ?? []) : [],
    );
    const entry = seqs.length === 0 ? null : log.entry(Math.max(...seqs));
    if (entry?.type !== 'transition')
      return { path, seq: null, because: isInitial(chart, leaf) ? 'the initial state' : 'first recorded here' };
    const ended = endReportedBy('', entry.event);
    // Another one may have failed there, in a step that was withdrawn.
    const { from: begun } = fold.entries.stepOf(entry.seq);
    const isOfStep = (end: ActorRecord['end']): boolean => end !== null && begun <= end.seq && end.seq <= at;
    const actor = ended && fold.actors.findLast((one) => one.path === ended.path && isOfStep(one.end));
    const from = `from ${placeIn(chart, entry.source, leaf)}`;
    const answer = actor ? answerText(log, actor) : '';
    if (answer !== '') return { path, seq: entry.seq, because: `entered ${from}, ${answer}` };
    const because = `entered ${triggerText({ fold, charts }, entry)}, ${from}${errorOf(actor?.end)}`;
    const guards = guardsText(entry.candidates);
    return { path, seq: entry.seq, because: `${because}${guards && `, because ${guards}`}` };
  });
}

/** `: The hotel is full`, for an actor that has failed. */
const errorOf = (end: ActorRecord['end'] = null): string =>
  end?.status === 'error' ? `: ${excerpt(errorText(end.error), MAX_ERROR_CHARS)}` : '';

const MAX_ERROR_CHARS = 160;

/**
 * Whether a transition enters an innermost state that is active after it: also a state that a history or another region of its target leads
 * to. Without a chart, by the ids.
 */
function enters(
  chart: IndexedChart | undefined,
  leaf: string,
  { source, target }: { readonly source: string; readonly target: readonly string[] },
): boolean {
  if (target.some((state) => state === leaf || leaf.startsWith(`${state}.`))) return true;
  if (chart === undefined || target.length === 0) return false;
  const around = (id: string): readonly string[] => ancestorsOf(chart, id).map((state) => state.id);
  const [first = source] = target;
  // As XState: a transition exits and enters everything inside the innermost state that contains its source and its targets.
  const domain = target.every((id) => around(id).includes(source))
    ? source
    : around(first)
        .slice(1)
        .find((outer) => [source, ...target].every((id) => id !== outer && around(id).includes(outer)));
  return domain === undefined || around(leaf).slice(1).includes(domain);
}
