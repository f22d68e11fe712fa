import './compare.css';
import type { ComponentChildren } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { InspectedRun } from '../../../src/inspection/wire.ts';
import { type ComparedStep, type Comparison, compareRuns, type Pair } from '../../fold/compare/comparison.ts';
import { answerUpTo } from '../../fold/entry-index.ts';
import { pluralize, startedText } from '../../fold/format.ts';
import { statusWords, subjectOf } from '../../fold/run-list.ts';
import { isOver } from '../../fold/step-title.ts';
import { excerpt, jsonExcerpt, shortRunId } from '../../fold/text.ts';
import { settingTitle } from '../../fold/what-if.ts';
import { WithArrows } from '../../icon.tsx';
import { addressParameters, printAddress, stepAddress } from '../../ui-state/address.ts';
import { type Inspector, type OpenedRun, viewOf } from '../../ui-state/inspector.ts';
import { useKeys } from '../../ui-state/keys.ts';
import { comparedRuns } from '../../ui-state/layout.ts';
import { useCutText } from '../head/answer-panel.tsx';
import { type ComparedView, comparedFacts } from './compare-facts.ts';

interface ComparePageProps {
  readonly inspector: Inspector;
  readonly runIds: Pair<string>;
}

const LETTERS: Pair<string> = ['A', 'B'];

/** Two runs or actors side by side: where they first differ, their states and figures. */
export function ComparePage({ inspector, runIds }: ComparePageProps) {
  const runs = inspector.runs.value;
  useEffect(() => {
    for (const runId of new Set(runIds)) if (runId !== '') inspector.openRun(runId);
  }, [runIds.join('\n')]);
  useKeys([{ keys: ['Escape'], description: 'Back to the list', group: 'Page', act: showRuns }]);
  const sides = runIds.map((runId) => ({
    run: runs.find((one) => one.runId === runId),
    opened: inspector.loaded.value.find((one) => one.runId === runId),
  }));
  const [a, b] = sides.map(({ run, opened }) => comparedView(run, opened));
  const isMixed = new Set(sides.flatMap(({ run }) => (run === undefined ? [] : [run.kind]))).size > 1;
  const views: Pair<ComparedView> | null = a && b && !isMixed ? [a, b] : null;
  const problems = sides.map(({ opened }) => opened?.end.value?.problem);
  const areAlike = a?.run.machine === b?.run.machine;
  const comparison = useComparison(views !== null && areAlike ? views : null, sides);
  return (
    <main class="compare-page stack" aria-label="Comparison">
      <h1 class="title verbatim">
        {isMixed ? 'A run and an actor cannot be compared.' : excerpt(titleOf(sides.map(({ run }) => run)), 400)}
      </h1>
      <div class="pair">
        {LETTERS.map((letter, at) => (
          <div key={letter}>
            <RunChoice letter={letter} at={at} runIds={runIds} runs={runs} />
            {comparison !== null && <p class="verbatim muted">{forkWords(comparison, runIds, at)}</p>}
            {problems[at] ? (
              <p class="wrong verbatim" role="alert">
                {excerpt(problems[at], 300)} {[a, b][at] == null && 'Choose another run.'}
              </p>
            ) : (
              [a, b][at] == null && (
                <p role="status">{runIds[at] === '' ? 'Choose what to compare with.' : 'Loading…'}</p>
              )
            )}
          </div>
        ))}
      </div>
      {views !== null && !areAlike && (
        <p class="cause sunken">These are actors of different machines, so their steps cannot be compared.</p>
      )}
      {views !== null && <FactTable views={views} />}
      {comparison !== null && <Difference comparison={comparison} runIds={runIds} />}
      {comparison !== null && comparison.settings.length > 0 && <Settings settings={comparison.settings} />}
      {views !== null && views[0].run.kind === 'run' && <Answers views={views} />}
    </main>
  );
}

function showRuns(): void {
  location.hash = printAddress({ parameters: addressParameters.value });
}

function titleOf([a, b]: readonly (InspectedRun | undefined)[]): string {
  if (a?.kind === 'system' && b !== undefined)
    return a.machine === b.machine
      ? `Two actors of ${a.machine ?? 'other programs'}`
      : `Actors of ${a.machine} and ${b.machine}`;
  if (a === undefined || b === undefined) return 'Two runs';
  return a.title === b.title ? a.title : 'Two runs with different questions';
}

const NOT_ENDED: ReadonlySet<string> = new Set(['running', 'waiting', 'interrupted', 'queued']);

/** A run that has all its entries; one that is not over, if it has any. */
function comparedView(run: InspectedRun | undefined, opened: OpenedRun | undefined): ComparedView | null {
  if (run === undefined || opened === undefined || opened.count.value === 0) return null;
  return opened.end.value === null && !NOT_ENDED.has(run.status) ? null : viewOf(run, opened);
}

interface RunChoiceProps extends Pick<ComparePageProps, 'runIds'> {
  readonly letter: string;
  readonly at: number;
  readonly runs: readonly InspectedRun[];
}

const MAX_CHOICES = 100;

/** Chooses the run of a side; runs with the question, or actors with the machine, of the other side come first. */
function RunChoice({ letter, at, runIds, runs }: RunChoiceProps) {
  const [own, other] = [runIds[at] ?? '', runIds[1 - at] ?? ''];
  const against = runs.find(({ runId }) => runId === other);
  const isSame = (run: InspectedRun): boolean => against !== undefined && subjectOf(run) === subjectOf(against);
  const offered = runs
    .filter(({ runId, kind }) => runId !== other && kind === (against?.kind ?? kind))
    .sort((one, next) => Number(isSame(next)) - Number(isSame(one)))
    .slice(0, MAX_CHOICES);
  return (
    <div class="row">
      <b class="letter">{letter}</b>
      <select
        class="one-line"
        aria-label={`Run ${letter}`}
        value={own}
        onChange={({ currentTarget: { value } }) => {
          comparedRuns.value = at === 0 ? [value, other] : [other, value];
        }}
      >
        {!offered.some(({ runId }) => runId === own) && <option value={own}>{excerpt(own, 60) || 'Choose…'}</option>}
        {offered.map((run) => (
          <option key={run.runId} value={run.runId}>
            {[
              shortRunId(run.runId),
              (run.kind === 'run' && isSame(run)) || run.title === run.runId ? '' : excerpt(run.title, 50),
              statusWords(run).text,
              startedText(run.startedAt),
            ]
              .filter(Boolean)
              .join(' · ')}
          </option>
        ))}
      </select>
      {own !== '' && <a href={`#/run/${encodeURIComponent(own)}`}>Open</a>}
    </div>
  );
}

/** Describes a fork or its original; empty for other runs, whose settings are below. */
function forkWords({ forkedFrom }: Comparison, runIds: Pair<string>, at: number): string {
  const fork = forkedFrom[at];
  if (fork == null) return forkedFrom[1 - at]?.runId === runIds[at] ? 'original' : '';
  const origin = `fork of ${LETTERS[runIds.indexOf(fork.runId)] ?? shortRunId(fork.runId)}`;
  return [origin, excerpt(fork.changes.join(', '), 200)].filter(Boolean).join(': ');
}

interface ComparisonProps extends Pick<ComparePageProps, 'runIds'> {
  readonly comparison: Comparison;
}

/** Where the runs first differ: in the data of an equal step, or in a step. */
function Difference({ comparison, runIds }: ComparisonProps) {
  const { paths, first, firstData, guards } = comparison;
  const nameAt = (at: number | null): string => {
    const { place, row } = stepsAt(comparison, at ?? -1).find((one) => one !== undefined) ?? {};
    return place || (row?.number === undefined ? excerpt(row?.title ?? '', 80) : `step ${row.number}`);
  };
  const step = nameAt(first);
  return (
    <section class="cause sunken stack" aria-label="First difference">
      <h2 class="verbatim">
        {first === null
          ? `Both took the same ${pluralize(paths[0].length, 'step')}`
          : `First difference: ${firstData === null ? step : `the data of ${nameAt(firstData)}`}`}
      </h2>
      {firstData !== null && (
        <>
          {first === null && <p class="verbatim">Their data differs from {nameAt(firstData)} on:</p>}
          <Sides comparison={comparison} runIds={runIds} at={firstData} />
        </>
      )}
      {first !== null && (
        <>
          {firstData !== null && <p class="verbatim">They took different steps from {step} on:</p>}
          <Sides comparison={comparison} runIds={runIds} at={first} notes={guards} />
        </>
      )}
    </section>
  );
}

interface SidesProps extends ComparisonProps {
  readonly at: number;
  /** In addition to the notes of the steps. */
  readonly notes?: Pair<string> | null;
}

const Sides = ({ comparison, runIds, at, notes = null }: SidesProps) =>
  stepsAt(comparison, at).map((step, side) => (
    <p key={LETTERS[side]} class="verbatim">
      <b class="letter">{LETTERS[side]}</b>{' '}
      {step === undefined ? 'Took no more steps' : <StepLink runId={runIds[side] ?? ''} step={step} />}
      {notes !== null && <span class="muted">, because {excerpt(notes[side] ?? '', 300)}</span>}
    </p>
  ));

const stepsAt = ({ paths }: Comparison, at: number): readonly (ComparedStep | undefined)[] =>
  paths.map((path) => path[at]);

interface StepLinkProps {
  readonly runId: string;
  readonly step: ComparedStep;
}

function StepLink({ runId, step: { row } }: StepLinkProps) {
  const { title, moves = '', next, note = '', text, from, selection } = row;
  const about = excerpt([note, text].filter(Boolean).join(' · '), 300);
  return (
    <>
      <a href={stepAddress(runId, selection ?? { kind: 'entry', from, to: from })}>
        {excerpt(title, 120)}
        {moves !== '' && ' '}
        <b>
          <WithArrows text={`${excerpt(moves, 160)}${next === undefined ? '' : ` → ${next}`}`} />
        </b>
      </a>
      {about !== '' && (
        <span class="muted">
          {' '}
          <WithArrows text={about} />
        </span>
      )}
    </>
  );
}

interface CompareTableProps {
  readonly caption: string;
  readonly hidesCaption?: boolean;
  readonly children: ComponentChildren;
}

const CompareTable = ({ caption, hidesCaption = false, children }: CompareTableProps) => (
  <table class="compare-table">
    <caption class={hidesCaption ? 'visually-hidden' : ''}>{caption}</caption>
    <thead>
      <tr>
        <td />
        {LETTERS.map((letter) => (
          <th key={letter}>{letter}</th>
        ))}
      </tr>
    </thead>
    <tbody>{children}</tbody>
  </table>
);

const FactTable = ({ views }: { readonly views: Pair<ComparedView> }) => (
  <CompareTable caption="States and figures" hidesCaption>
    {comparedFacts(views).map(([label, values]) => (
      <tr key={label} class={values[0] === values[1] ? 'muted' : ''}>
        <th scope="row" class="verbatim">
          {excerpt(label, 80)}
        </th>
        {values.map((value, at) => (
          <td key={LETTERS[at]} class="verbatim">
            {value === '' && '–'}
            {value.split('\n').map((line) => (
              <div key={line}>
                <WithArrows text={excerpt(line, 300)} />
              </div>
            ))}
          </td>
        ))}
      </tr>
    ))}
  </CompareTable>
);

/** The name of a setting, and a value of it: of a tool, its name. */
function settingWords(path: string, value: unknown): Pair<string> {
  const tool = /^capabilities\.(\d+)$/u.exec(path)?.[1];
  const shown = tool === undefined ? value : (Object(value).name ?? value);
  const name = /^(?:limits|thresholds)\./u.test(path) ? settingTitle(path) : path.replace(/^host\./u, 'program data: ');
  return [
    tool === undefined ? name.replace('modelId', 'model') : `tool ${Number(tool) + 1}`,
    shown == null ? '–' : typeof shown === 'string' ? shown : jsonExcerpt(shown, 300),
  ];
}

const Settings = ({ settings }: Pick<Comparison, 'settings'>) => (
  <CompareTable caption="Settings that differ">
    {settings.map(({ path, before, after }) => (
      <tr key={path}>
        <th scope="row" class="verbatim">
          {excerpt(settingWords(path, null)[0], 80)}
        </th>
        {[before, after].map((value, at) => (
          <td key={LETTERS[at]} class="verbatim">
            {excerpt(settingWords(path, value)[1], 300)}
          </td>
        ))}
      </tr>
    ))}
  </CompareTable>
);

/** The answers of two runs; one that both have is shown once. */
function Answers({ views }: { readonly views: Pair<ComparedView> }) {
  const [one, other] = views.map(({ log, fold, count }) => answerUpTo(log, fold, count - 1)?.answer.answerText);
  if (one !== undefined && one === other) return <Answer title="Both have the same answer" text={one} />;
  return (
    <div class="pair">
      {LETTERS.map((letter, at) => (
        <Answer key={letter} title={`Answer of ${letter}`} text={[one, other][at]} />
      ))}
    </div>
  );
}

function Answer({ title, text: markdown }: { readonly title: string; readonly text: string | undefined }) {
  const { text, button } = useCutText(markdown ?? '');
  return (
    <section class="answer" aria-label={title}>
      <h2>{title}</h2>
      {markdown === undefined ? <p class="muted">No answer.</p> : text}
      {markdown !== undefined && button}
    </section>
  );
}

/** While entries keep arriving, the comparison waits for a pause. */
const PAUSE_MS = 300;

/** The comparison of two runs, after the page has been painted without it; null until then. */
function useComparison(
  views: Pair<ComparedView> | null,
  sides: readonly { readonly opened: OpenedRun | undefined }[],
): Comparison | null {
  const [ready, setReady] = useState('');
  const ids = views?.map(({ run }) => run.runId).join('\n') ?? '';
  const key = sides
    .map(({ opened }) => `${opened?.count.value} ${opened?.stateCount.value} ${opened?.charts.value === null}`)
    .join(ids);
  const isSamePair = ids !== '' && ready.includes(ids);
  useEffect(() => {
    const timer = setTimeout(setReady, isSamePair ? PAUSE_MS : 0, key);
    return () => clearTimeout(timer);
  }, [key]);
  return useMemo(() => {
    if (views === null || !isSamePair) return null;
    const [one, other] = views;
    const comparable = (view: ComparedView) => ({ ...view, ...view.run, isOver: isOver(view.run) });
    return compareRuns([comparable(one), comparable(other)]);
  }, [ready, isSamePair]);
}
