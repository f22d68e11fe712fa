import './compare.css';
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { InspectedRun } from '../../../src/inspection/wire.ts';
import { answerUpTo } from '../../fold/answer.ts';
import type { Pair } from '../../fold/compare/align.ts';
import { causeWords, valueWords } from '../../fold/compare/cause.ts';
import { type Comparison, compareRuns } from '../../fold/compare/comparison.ts';
import { capitalize, formatCost, formatDuration, formatNumber, pluralize, startedText } from '../../fold/format.ts';
import { guardTitle } from '../../fold/guard-words.ts';
import { durationOf, statusWords } from '../../fold/run-list.ts';
import { endingOf, figuresOf } from '../../fold/summary.ts';
import { excerpt, shortRunId } from '../../fold/text.ts';
import { addressParameters, printAddress } from '../../ui-state/address.ts';
import type { Inspector, OpenedRun } from '../../ui-state/inspector.ts';
import { useKeys } from '../../ui-state/keys.ts';
import { comparedRuns } from '../../ui-state/layout.ts';
import { useCutText } from '../head/answer-panel.tsx';
import { CompareSteps, CompareTable, LETTERS, placeOfRow } from './compare-steps.tsx';

interface ComparePageProps {
  readonly inspector: Inspector;
  readonly runIds: readonly [string, string];
}

/** A run of the list, and what has arrived of it. */
interface Side {
  readonly run: InspectedRun | undefined;
  readonly opened: OpenedRun | undefined;
}

interface LoadedRun {
  readonly run: InspectedRun;
  readonly opened: OpenedRun;
}

/** Two runs beside each other: their answers, the first cause of the difference, their steps. */
export function ComparePage({ inspector, runIds }: ComparePageProps) {
  const runs = inspector.runs.value;
  useEffect(() => {
    for (const runId of new Set(runIds)) inspector.openRun(runId);
  }, [runIds.join('\n')]);
  useKeys([{ keys: ['Escape'], description: 'Back to the list', group: 'Page', act: showRuns }]);
  const sides = runIds.map((runId) => ({
    run: runs.find((one) => one.runId === runId),
    opened: inspector.loaded.value.find((one) => one.runId === runId),
  }));
  const [a, b] = sides.filter(isLoaded);
  const pair: Pair<LoadedRun> | null = a !== undefined && b !== undefined ? [a, b] : null;
  const comparison = useComparison(pair === null ? null : [pair[0].opened, pair[1].opened]);
  const hasSameAnswers = pair !== null && textOf(pair[0].opened) === textOf(pair[1].opened);
  const isSystem = sides.some(({ run }) => run?.kind === 'system');
  const isSameQuestion = sides[0]?.run !== undefined && sides[0].run.title === sides[1]?.run?.title;
  return (
    <main class="compare-page stack" aria-label="Comparison">
      <h1 class="title verbatim">
        {isSameQuestion ? excerpt(sides[0]?.run?.title ?? '', 400) : titleOf(sides, isSystem)}
      </h1>
      <div class="pair">
        {LETTERS.map((_, at) => (
          <div key={LETTERS[at]} class="stack">
            <RunChoice letter={LETTERS[at] ?? ''} at={at} runIds={runIds} runs={runs} />
            {comparison !== null && <p class="verbatim muted">{forkWords(comparison, at)}</p>}
          </div>
        ))}
      </div>
      {comparison !== null && pair !== null && <Cause comparison={comparison} runs={pair} />}
      {comparison !== null && comparison.settings.length > 0 && (
        <FieldTable caption="Settings that differ" fields={comparison.settings} />
      )}
      {!(isSystem && pair !== null) && (
        <div class="pair">
          {sides.map((side, at) => (
            <section key={LETTERS[at]} class="stack" aria-label={`Run ${LETTERS[at]}`}>
              {isLoaded(side) ? (
                <Loaded
                  {...side}
                  hasQuestion={!isSameQuestion}
                  hasSameAnswers={hasSameAnswers}
                  letter={LETTERS[at] ?? ''}
                />
              ) : (
                <Absent opened={side.opened} />
              )}
            </section>
          ))}
        </div>
      )}
      {pair !== null && <Figures sides={pair} forks={comparison?.forkedFrom ?? []} />}
      {comparison?.firstContent && !isSystem && <FirstDifference {...comparison.firstContent} />}
      {pair !== null && comparison !== null && (
        <CompareSteps runs={[pair[0].opened, pair[1].opened]} comparison={comparison} />
      )}
    </main>
  );
}

function showRuns(): void {
  location.hash = printAddress({ parameters: addressParameters.value });
}

/** The title of runs that do not have the same question. */
function titleOf(sides: readonly Side[], isSystem: boolean): string {
  if (isSystem) return 'Two actors compared';
  return sides.every(({ run }) => run !== undefined) ? 'Two runs with different questions' : 'Two runs compared';
}

/** Whether a run has all its entries; one that is not over, whether it has any. */
const isLoaded = (side: Side): side is LoadedRun =>
  side.opened !== undefined &&
  side.run !== undefined &&
  (side.opened.end.value !== null || (NOT_ENDED.has(side.run.status) && side.opened.count.value > 0));

const Absent = ({ opened }: { readonly opened: OpenedRun | undefined }) =>
  opened?.end.value?.problem ? (
    <p class="wrong verbatim" role="alert">
      {excerpt(opened.end.value.problem, 300)} Choose another run.
    </p>
  ) : (
    <p role="status">Loading…</p>
  );

interface RunChoiceProps {
  readonly letter: string;
  readonly at: number;
  readonly runIds: Pair<string>;
  readonly runs: readonly InspectedRun[];
}

const MAX_CHOICES = 100;

/** Chooses the run of a side; runs with the question of the other side come first. */
function RunChoice({ letter, at, runIds, runs }: RunChoiceProps) {
  const [own, other] = [runIds[at] ?? '', runIds[1 - at] ?? ''];
  const against = runs.find(({ runId }) => runId === other);
  const isSame = ({ title }: InspectedRun): boolean => title === against?.title;
  const offered = runs
    .filter(({ runId, kind }) => runId !== other && kind === (against?.kind ?? kind))
    .sort((one, next) => Number(isSame(next)) - Number(isSame(one)))
    .slice(0, MAX_CHOICES);
  return (
    <div class="row">
      <b class="letter">{letter}</b>
      <select
        class="fills one-line"
        aria-label={`Run ${letter}`}
        value={own}
        onChange={({ currentTarget: { value } }) => {
          comparedRuns.value = at === 0 ? [value, other] : [other, value];
        }}
      >
        {!offered.some(({ runId }) => runId === own) && <option value={own}>{excerpt(own, 60)}</option>}
        {offered.map((run) => (
          <option key={run.runId} value={run.runId}>
            {[
              isSame(run) ? '' : excerpt(run.title, 50),
              statusWords(run).text,
              startedText(run.startedAt),
              shortRunId(run.runId),
            ]
              .filter(Boolean)
              .join(' · ')}
          </option>
        ))}
      </select>
      <a href={`#/run/${encodeURIComponent(own)}`}>Open</a>
    </div>
  );
}

/** Describes a fork or its original; empty for other runs, whose settings are below. */
function forkWords({ forkedFrom, runIds }: Comparison, at: number): string {
  const fork = forkedFrom[at];
  if (fork == null) return forkedFrom[1 - at]?.runId === runIds[at] ? 'original' : '';
  const origin = `fork of ${LETTERS[runIds.indexOf(fork.runId)] ?? shortRunId(fork.runId)}`;
  return [origin, excerpt(fork.changes.join(', '), 200)].filter(Boolean).join(': ');
}

const SETTINGS: Readonly<Record<string, string>> = { modelId: 'model' };

const settingName = (path: string): string =>
  SETTINGS[path] ??
  excerpt(
    path.replace(/^host\./u, 'program data: ').replace(/^capabilities\.(\d+)$/u, (_, at) => `tool ${Number(at) + 1}`),
    80,
  );

/** Returns a value as text; for a tool, its name. */
const fieldWords = (path: string, value: unknown): string =>
  path === 'rule' && typeof value === 'string'
    ? guardTitle(value)
    : valueWords(/^capabilities\.\d+$/u.test(path) ? Object(value).name : value);

interface LoadedProps extends LoadedRun {
  readonly hasQuestion: boolean;
  readonly hasSameAnswers: boolean;
  readonly letter: string;
}

const answerOf = ({ log, fold, count }: OpenedRun) => answerUpTo(log, fold, count.value - 1)?.answer;

const textOf = (opened: OpenedRun): string | undefined => answerOf(opened)?.answerText;

function Loaded({ run, opened, hasQuestion, hasSameAnswers, letter }: LoadedProps) {
  const problem = opened.end.value?.problem;
  const answer = textOf(opened);
  const { text, button } = useCutText(answer ?? '');
  const isHidden = hasSameAnswers && letter === 'B';
  return (
    <>
      <h2 class="title verbatim">
        <b class="letter">{letter}</b> {hasQuestion ? excerpt(run.title, 400) || shortRunId(run.runId) : 'Answer'}
      </h2>
      {problem && (
        <p class="wrong verbatim" role="alert">
          {excerpt(problem, 300)}
        </p>
      )}
      {answer === undefined ? (
        <p class="muted">No answer{run.status === 'running' ? ' yet' : ''}.</p>
      ) : isHidden ? (
        <p>The same answer as A.</p>
      ) : (
        <section class={hasSameAnswers ? 'answer folded' : 'answer'} aria-label={`Answer of ${letter}`}>
          {text}
          {button}
        </section>
      )}
    </>
  );
}

/** A title, the numbers of both runs, their format, and the words for a larger and a smaller number in B. */
type Figure = readonly [string, Pair<number | null>, (value: number) => string, string, string];

function figuresIn(sides: Pair<LoadedRun>): readonly Figure[] {
  const [a, b] = sides.map(({ run, opened: { log, fold, count } }) => {
    const figures = figuresOf(log, fold, count.value);
    return { ...figures, ms: durationOf(run, Date.now()) ?? figures.ms };
  });
  if (a === undefined || b === undefined) return [];
  const rows: Figure[] = [['Time', [a.ms, b.ms], formatDuration, 'longer', 'shorter']];
  if (sides[0].run.kind === 'run')
    rows.push(
      ['Cycles', [a.cycles, b.cycles], formatNumber, 'more', 'fewer'],
      ['Model calls', [a.calls, b.calls], formatNumber, 'more', 'fewer'],
      ['Tokens', [a.tokens, b.tokens], formatNumber, 'more', 'fewer'],
    );
  const { currency } = a.cost ?? b.cost ?? {};
  if (currency !== undefined && a.cost?.currency === b.cost?.currency)
    rows.push([
      'Cost',
      [a.cost?.amount ?? null, b.cost?.amount ?? null],
      (amount) => formatCost({ amount, currency }),
      'more',
      'less',
    ]);
  return rows;
}

interface FiguresProps {
  readonly sides: Pair<LoadedRun>;
  readonly forks: readonly (Comparison['forkedFrom'][number] | null)[];
}

const Figures = ({ sides, forks }: FiguresProps) => (
  <CompareTable caption="The runs in numbers" hidesCaption heads={['', 'A', 'B', 'B compared with A']}>
    {figuresIn(sides).map(([name, [left, right], format, more, fewer]) => {
      const isReused = name === 'Time' && forks.some((one) => one !== null);
      const difference = left === null || right === null || isReused ? null : right - left;
      const words = difference ? `${format(Math.abs(difference))} ${difference > 0 ? more : fewer}` : 'same';
      return (
        <tr key={name}>
          <th scope="row">{name}</th>
          <td>{left === null ? '–' : format(left)}</td>
          <td>{right === null ? '–' : format(right)}</td>
          <td class={difference ? 'differs' : 'muted'}>
            {isReused ? 'not compared: a fork reuses recorded calls' : difference === null ? '–' : words}
          </td>
        </tr>
      );
    })}
  </CompareTable>
);

const NOT_ENDED: ReadonlySet<string> = new Set(['running', 'waiting', 'interrupted']);

/** Which runs have not ended, or whether they ended for the same reason. */
function endWords(runs: Pair<LoadedRun>): string {
  const open = LETTERS.filter((_, at) => NOT_ENDED.has(runs[at]?.run.status ?? ''));
  if (open.length > 0) return `${open.join(' and ')} ${open.length > 1 ? 'have' : 'has'} not ended`;
  const [one, other] = runs.map(({ run, opened }) => `${run.status} ${ruleOf(opened)} ${run.ending?.states}`);
  return one === other ? 'Both ended for the same reason' : 'They ended for different reasons';
}

/** Where two runs first went different ways. */
function partingWords(comparison: Comparison, opened: Pair<OpenedRun>): string {
  const { parting, first, rows } = comparison;
  if (parting === null || first === null) return `Both took the same ${pluralize(rows.length, 'step')}`;
  if (first === 0) return 'They differ from the first step';
  const place = placeOfRow(comparison, opened, first);
  return `First difference, after ${pluralize(first, 'equal step')}${place === 'Start' ? '' : `: ${place}`}`;
}

const ruleOf = (opened: OpenedRun): unknown => answerOf(opened)?.metadata.decision?.rule;

/** In words: why each run ended, where and why they first went different ways, and whether their answers differ. */
function Cause({ comparison, runs }: { readonly comparison: Comparison; readonly runs: Pair<LoadedRun> }) {
  const { parting, runIds } = comparison;
  const isSystem = runs[0].run.kind === 'system';
  const opened: Pair<OpenedRun> = [runs[0].opened, runs[1].opened];
  const [one, other] = opened.map(textOf);
  const missing = LETTERS.filter((_, at) => [one, other][at] === undefined).join(' and ');
  return (
    <div class="cause sunken stack">
      <h2>{endWords(runs)}</h2>
      {runs.map(({ run, opened: { log, fold, count } }, at) => {
        const { text, tone } = statusWords(run);
        return (
          <p key={LETTERS[at]} class="verbatim">
            <b class="letter">{LETTERS[at]}</b> <strong class={tone}>{capitalize(text)}.</strong>{' '}
            {excerpt(endingOf(log, fold, count.value) ?? '', 400)}
          </p>
        );
      })}
      <h2>{partingWords(comparison, opened)}</h2>
      {parting !== null &&
        causeWords(parting).map((text, at) => (
          <p key={LETTERS[at]} class="verbatim">
            <b class="letter">{LETTERS[at]}</b> {capitalize(text)}.{' '}
            {parting.shownAt[at] != null && (
              <a href={`#/run/${encodeURIComponent(runIds[at] ?? '')}/${parting.shownAt[at]}`}>Open the step</a>
            )}
          </p>
        ))}
      {!isSystem && (
        <p>
          {missing !== ''
            ? `${missing} ${missing.length > 1 ? 'have' : 'has'} no answer.`
            : `Their answers are ${one === other ? 'the same' : 'different'}.`}
        </p>
      )}
    </div>
  );
}

const MAX_FIELDS = 12;

/** The first content that differs. */
const FirstDifference = ({ kind, nth, fields }: NonNullable<Comparison['firstContent']>) => (
  <details>
    <summary>
      First content that differs: {excerpt(kind, 60)}
      {nth > 1 && `, number ${nth}`}
    </summary>
    <FieldTable caption="The fields that differ" hidesCaption fields={fields} />
  </details>
);

interface FieldTableProps {
  readonly caption: string;
  readonly hidesCaption?: boolean;
  readonly fields: Comparison['settings'];
}

const FieldTable = ({ fields, ...props }: FieldTableProps) => (
  <CompareTable {...props} heads={['', 'A', 'B']}>
    {fields.slice(0, MAX_FIELDS).map(({ path, values }) => (
      <tr key={path}>
        <th scope="row" class="verbatim">
          {path === '' ? 'whole value' : settingName(path)}
        </th>
        {values.map((value, at) => (
          <td key={LETTERS[at]} class="verbatim">
            {excerpt(fieldWords(path, value), 300)}
          </td>
        ))}
      </tr>
    ))}
    {fields.length > MAX_FIELDS && (
      <tr>
        <td colSpan={3}>and {fields.length - MAX_FIELDS} more</td>
      </tr>
    )}
  </CompareTable>
);

/** While entries keep arriving, the comparison waits for a pause. */
const PAUSE_MS = 300;

/** The comparison of two runs, after the page has been painted without it; null until then. */
function useComparison(runs: Pair<OpenedRun> | null): Comparison | null {
  const [ready, setReady] = useState('');
  const ids = runs?.map(({ runId }) => runId).join('\n') ?? '';
  const key = runs?.map(({ count, charts }) => `${count.value} ${charts.value === null}`).join(ids) ?? '';
  const isSamePair = ids !== '' && ready.includes(ids);
  useEffect(() => {
    const timer = setTimeout(setReady, isSamePair ? PAUSE_MS : 0, key);
    return () => clearTimeout(timer);
  }, [key]);
  return useMemo(() => {
    if (runs === null || !isSamePair) return null;
    const [one, other] = runs;
    return compareRuns([
      { ...one, charts: one.charts.peek() },
      { ...other, charts: other.charts.peek() },
    ]);
  }, [ready, isSamePair]);
}
