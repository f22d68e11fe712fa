import type { SystemState } from '../../../src/inspection/wire.ts';
import type { Pair } from '../../fold/compare/align.ts';
import {
  capitalize,
  formatCost,
  formatDelay,
  formatDuration,
  formatNumber,
  humanize,
  startedText,
} from '../../fold/format.ts';
import { reachedStates } from '../../fold/reached.ts';
import { durationOf, statusWords } from '../../fold/run-list.ts';
import { isOver } from '../../fold/step-title.ts';
import { endingOf, eventCounts, figuresOf } from '../../fold/summary.ts';
import { systemWaits } from '../../fold/system-waits.ts';
import { errorText } from '../../fold/system-words.ts';
import { jsonExcerpt } from '../../fold/text.ts';
import type { PanelView } from '../../ui-state/inspector.ts';
import { clockStart } from '../trace/use-clock.ts';

export type ComparedView = Pick<PanelView, 'run' | 'log' | 'fold' | 'charts' | 'count'>;

/** A label, and the value of each run, in lines. Empty: unknown or none. */
type ComparedFact = readonly [label: string, values: Pair<string>];

/** The status, states, contexts and figures of both runs. */
export function comparedFacts(views: Pair<ComparedView>): readonly ComparedFact[] {
  const [a, b] = views;
  const facts =
    a.run.kind === 'system' ? actorFacts(views) : [['Why it ended', [endingText(a), endingText(b)]] as const];
  return [['Status', [statusText(a), statusText(b)]] as const, ...facts, ...figureFacts(views)].filter(
    ([, values]) => values[0] !== '' || values[1] !== '',
  );
}

function statusText({ run, log, fold }: ComparedView): string {
  const { end } = fold.actors[0] ?? {};
  const at =
    run.waiting?.sinceMs ?? (end == null ? null : clockStart({ run, log, fold }) + fold.timeLine.atMs(end.seq));
  const since = at === null ? null : startedText(at);
  return `${capitalize(statusWords(run).text)}${since === null ? '' : `${run.waiting ? ' since' : ','} ${since}`}`;
}

const endingText = ({ log, fold, count }: ComparedView): string => endingOf(log, fold, count) ?? '';

/** The members of the context of the root actor. */
const contextOf = ({ fold, count }: ComparedView): Readonly<Record<string, unknown>> =>
  Object((fold.states.at(count - 1) as SystemState | null)?.['']?.context);

/** The rows of an actor: the facts in the head of its page, and the parts of its context that differ. */
function actorFacts(views: Pair<ComparedView>): readonly ComparedFact[] {
  const [left, right] = [views[0], views[1]].map(actorTexts);
  const texts = Object.keys({ ...left, ...right }).map(
    (label): ComparedFact => [label, [left?.[label] ?? '', right?.[label] ?? '']],
  );
  const [before, after] = [contextOf(views[0]), contextOf(views[1])];
  const names = Object.keys({ ...before, ...after });
  const members = names.map(
    (name): ComparedFact => [`Context: ${name}`, [valueText(before[name]), valueText(after[name])]],
  );
  const differing = members.filter(([, values]) => values[0] !== values[1]);
  const equal = members.length - differing.length;
  const rest: readonly ComparedFact[] =
    equal === 0 ? [] : [[differing.length === 0 ? 'Context' : 'The rest of the context', ['the same', 'the same']]];
  return [...texts, ...differing, ...rest];
}

const valueText = (value: unknown): string => (value === undefined ? '' : jsonExcerpt(value, 300));

function actorTexts(view: ComparedView): Readonly<Record<string, string>> {
  const { run, fold, charts, log, count } = view;
  const machine = run.machine ?? fold.actors[0]?.machine ?? '';
  const waits = isOver(run) ? [] : systemWaits(fold, charts, count - 1);
  const end = fold.actors[0]?.end;
  const firing = (dueMs: number | null): string =>
    run.waiting?.dueAtMs === null || dueMs === null ? '' : `, fires ${startedText(clockStart(view) + dueMs)}`;
  const lines = (texts: readonly string[]): string => [...new Set(texts)].slice(0, MAX_LINES).join('\n');
  return {
    States: lines(
      reachedStates({ log, fold, charts }, machine, count - 1).map(({ path, because }) => `${path}, ${because}`),
    ),
    'Accepted events': lines(
      waits.flatMap(({ events, leadsTo }) => events.map((type) => `${type} → ${leadsTo[type] ?? ''}`)),
    ),
    Timers: lines(
      waits.flatMap(({ timers }) =>
        timers.map(({ delay, dueMs, leadsTo }) => `${formatDelay(delay)}${firing(dueMs)} → ${leadsTo}`),
      ),
    ),
    'Waits for': lines(waits.flatMap(({ actors }) => actors.map(humanize))),
    Output: end?.output == null ? '' : valueText(end.output),
    Error: end?.error === undefined ? '' : errorText(end.error),
  };
}

const MAX_LINES = 12;

/** A title, the numbers of both runs, their format, and the words for a larger and a smaller number in B. */
type Figure = readonly [string, Pair<number | null>, (value: number) => string, string, string];

const REUSED = 'not compared: a fork reuses recorded calls';

function figureFacts(views: Pair<ComparedView>): readonly ComparedFact[] {
  const figures = views[0].run.kind === 'system' ? actorFigures(views) : chainFigures(views);
  return figures.map(([label, [left, right], format, more, fewer]) => {
    const [a, b] = views.map(({ run }) => (label === 'Time' && run.forkedFrom ? REUSED : ''));
    const texts: Pair<string> = [left === null ? (a ?? '') : format(left), right === null ? (b ?? '') : format(right)];
    if (left === null || right === null || texts[0] === texts[1]) return [label, texts];
    const difference = `${format(Math.abs(right - left))} ${right > left ? more : fewer}`;
    return [label, [texts[0], `${texts[1]} (${difference})`]];
  });
}

function actorFigures([a, b]: Pair<ComparedView>): readonly Figure[] {
  // The time of an actor that waits is that of its clock.
  const timeOf = ({ run }: ComparedView): number | null => (isOver(run) ? durationOf(run, Date.now()) : null);
  const [one, other] = [eventCounts(a.fold), eventCounts(b.fold)];
  const hasIgnored = one.ignored + other.ignored > 0;
  return [
    ['Events received', [one.received, other.received], formatNumber, 'more', 'fewer'],
    ['Events ignored', hasIgnored ? [one.ignored, other.ignored] : [null, null], formatNumber, 'more', 'fewer'],
    ['Transitions', [a.fold.transitions.seqs.length, b.fold.transitions.seqs.length], formatNumber, 'more', 'fewer'],
    ['Time', [timeOf(a), timeOf(b)], formatDuration, 'longer', 'shorter'],
  ];
}

function chainFigures(views: Pair<ComparedView>): readonly Figure[] {
  const [a, b] = [views[0], views[1]].map(({ log, fold, count }) => figuresOf(log, fold, count));
  if (a === undefined || b === undefined) return [];
  const times = views.map(({ run }, at) =>
    run.forkedFrom ? null : (durationOf(run, Date.now()) ?? (at === 0 ? a : b).ms),
  );
  const { currency } = a.cost ?? b.cost ?? {};
  const costs: Pair<number | null> = [a.cost?.amount ?? null, b.cost?.amount ?? null];
  return [
    ['Time', [times[0] ?? null, times[1] ?? null], formatDuration, 'longer', 'shorter'],
    ['Cycles', [a.cycles, b.cycles], formatNumber, 'more', 'fewer'],
    ['Model calls', [a.calls, b.calls], formatNumber, 'more', 'fewer'],
    ['Tokens', [a.tokens, b.tokens], formatNumber, 'more', 'fewer'],
    ...(currency !== undefined && a.cost?.currency === b.cost?.currency
      ? [['Cost', costs, (amount: number) => formatCost({ amount, currency }), 'more', 'less'] as const]
      : []),
  ];
}
