import type { SystemState } from '../../../src/inspection/wire.ts';
import { both, type Pair } from '../../fold/compare/comparison.ts';
import { answerUpTo } from '../../fold/entry-index.ts';
import { capitalize, formatCost, formatDuration, formatNumber, startedText } from '../../fold/format.ts';
import { reachedStates } from '../../fold/reached.ts';
import { durationOf, statusWords } from '../../fold/run-list.ts';
import { isOver } from '../../fold/step-title.ts';
import { endingOf, eventCounts, figuresOf } from '../../fold/summary.ts';
import { errorText } from '../../fold/system-words.ts';
import { jsonExcerpt } from '../../fold/text.ts';
import type { PanelView } from '../../ui-state/inspector.ts';
import { clockStart } from '../trace/use-clock.ts';

export type ComparedView = Pick<PanelView, 'run' | 'log' | 'fold' | 'charts' | 'count'>;

/** A label, and the value of each run, in lines. Empty: unknown or none. */
type ComparedFact = readonly [label: string, values: Pair<string>];

export function comparedFacts(views: Pair<ComparedView>): readonly ComparedFact[] {
  const facts: readonly ComparedFact[] =
    views[0].run.kind === 'system' ? actorFacts(views) : [answerFact(views), ['Why it ended', both(views, endingText)]];
  return [['Status', both(views, statusText)] as const, ...facts, ...figureFacts(views)].filter(
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

function answerFact(views: Pair<ComparedView>): ComparedFact {
  const [a, b] = both(views, ({ log, fold, count }) => answerUpTo(log, fold, count - 1)?.answer.answerText ?? '');
  return ['Answer', a !== '' && a === b ? ['the same', 'the same'] : [a && 'below', b && 'below']];
}

function endingText({ log, fold, count }: ComparedView): string {
  const { because = '', where = '', why = '' } = endingOf(log, fold, count) ?? {};
  return [where && `${where}${why === '' ? '.' : `: ${why}`}`, because].filter(Boolean).join(' ');
}

const contextOf = ({ fold, count }: ComparedView): Readonly<Record<string, unknown>> =>
  Object((fold.states.at(count - 1) as SystemState | null)?.['']?.context);

/** The rows of an actor: the facts in the head of its page, and the parts of its context that differ. */
function actorFacts(views: Pair<ComparedView>): readonly ComparedFact[] {
  const actors = both(views, actorTexts);
  const texts = Object.keys({ ...actors[0], ...actors[1] }).map(
    (label): ComparedFact => [label, both(actors, (actor) => actor[label] ?? '')],
  );
  const contexts = both(views, contextOf);
  const names = Object.keys({ ...contexts[0], ...contexts[1] });
  const members = names.map(
    (name): ComparedFact => [`Context: ${name}`, both(contexts, (context) => valueText(context[name]))],
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
  const end = fold.actors[0]?.end;
  const states = reachedStates({ log, fold, charts }, machine, count - 1);
  const texts = new Set(states.map(({ path, because }) => `${path}, ${because}`));
  return {
    States: [...texts].slice(0, MAX_LINES).join('\n'),
    Output: end?.output == null ? '' : valueText(end.output),
    Error: end?.error === undefined ? '' : errorText(end.error),
  };
}

const MAX_LINES = 12;

/** A title, the numbers of both runs, their format, the words for a larger and a smaller number in B, and what a fork has reused of each. */
type Figure = readonly [string, Pair<number | null>, (value: number) => string, string, string, Pair<number>?];

function figureFacts(views: Pair<ComparedView>): readonly ComparedFact[] {
  const figures = views[0].run.kind === 'system' ? actorFigures(views) : chainFigures(views);
  return figures.map(([label, [left, right], format, more, fewer, [copied, reused] = [0, 0]]) => {
    const textOf = (all: number, part: number): string =>
      part === 0 ? format(all) : `${format(all - part)} own, ${format(part)} reused`;
    const texts: Pair<string> = [
      left === null ? '' : textOf(left, copied),
      right === null ? '' : textOf(right, reused),
    ];
    if (left === null || right === null || format(left) === format(right)) return [label, texts];
    const difference = `${format(Math.abs(right - left))} ${right > left ? more : fewer}`;
    return [label, [texts[0], `${texts[1]} (${difference})`]];
  });
}

function actorFigures(views: Pair<ComparedView>): readonly Figure[] {
  // The time of an actor that waits is that of its clock.
  const timeOf = ({ run }: ComparedView): number | null => (isOver(run) ? durationOf(run, Date.now()) : null);
  const counts = both(views, ({ fold }) => eventCounts(fold));
  const hasIgnored = counts.some(({ ignored }) => ignored > 0);
  return [
    ['Events received', both(counts, ({ received }) => received), formatNumber, 'more', 'fewer'],
    ['Events ignored', both(counts, ({ ignored }) => (hasIgnored ? ignored : null)), formatNumber, 'more', 'fewer'],
    ['Transitions', both(views, ({ fold }) => fold.transitions.seqs.length), formatNumber, 'more', 'fewer'],
    ['Time', both(views, timeOf), formatDuration, 'longer', 'shorter'],
  ];
}

/** The figures of whole runs. Those of a fork have two parts, its own and the copied one; the difference includes both. */
function chainFigures(views: Pair<ComparedView>): readonly Figure[] {
  const [a, b] = both(views, ({ run, log, fold, count }) => {
    const { reused, reusedTokens } = figuresOf(log, fold, count);
    const all = figuresOf(log, fold, count, null);
    return { ...all, ms: durationOf(run, Date.now()) ?? all.ms, reused, reusedTokens };
  });
  const { currency } = a.cost ?? b.cost ?? {};
  const costs: Pair<number | null> = [a.cost?.amount ?? null, b.cost?.amount ?? null];
  return [
    ['Time', [a.ms, b.ms], formatDuration, 'longer', 'shorter'],
    ['Cycles', [a.cycles, b.cycles], formatNumber, 'more', 'fewer'],
    ['Model calls', [a.calls, b.calls], formatNumber, 'more', 'fewer', [a.reused, b.reused]],
    ['Tokens', [a.tokens, b.tokens], formatNumber, 'more', 'fewer', [a.reusedTokens, b.reusedTokens]],
    ...(currency !== undefined && a.cost?.currency === b.cost?.currency
      ? [['Cost', costs, (amount: number) => formatCost({ amount, currency }), 'more', 'less'] as const]
      : []),
  ];
}
