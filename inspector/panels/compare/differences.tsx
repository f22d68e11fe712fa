import type { InspectedRun } from '../../../src/inspection/wire.ts';
import type { Pair } from '../../fold/compare/align.ts';
import type { ComparedCandidate, Comparison, FirstContent, FirstStep } from '../../fold/compare/comparison.ts';
import { formatDuration, formatNumber, humanize, humanizeGuard, pluralize } from '../../fold/format.ts';
import { meaningOf } from '../../fold/guard-words.ts';
import { excerpt, stateName } from '../../fold/text.ts';
import { GUARD_RESULTS, Icon } from '../../icon.tsx';

export const LETTERS: Pair<string> = ['A', 'B'];

interface RunHeadsProps {
  readonly title: string;
  /** The compared entries, shown beside the letters. */
  readonly seqs?: Pair<number>;
}

export function RunHeads({ title, seqs }: RunHeadsProps) {
  return (
    <thead>
      <tr>
        <th scope="col">{title}</th>
        {LETTERS.map((letter, run) => (
          <th key={letter} scope="col">
            {letter} {seqs !== undefined && <span class="muted">entry {formatNumber(seqs[run] ?? 0)}</span>}
          </th>
        ))}
      </tr>
    </thead>
  );
}

interface PairRowProps {
  readonly name: string;
  readonly values: readonly unknown[];
  readonly maxChars?: number;
}

/** A row with a value of each run; marks values that differ from run A's. */
function PairRow({ name, values, maxChars = 120 }: PairRowProps) {
  const texts = values.map(cellText);
  return (
    <tr>
      <th scope="row" class="verbatim">
        {excerpt(name, 80)}
      </th>
      {texts.map((text, run) => (
        <td key={LETTERS[run]} class={text === texts[0] ? 'verbatim' : 'verbatim other'}>
          {excerpt(text, maxChars)}
        </td>
      ))}
    </tr>
  );
}

const COLUMNS = 3;

function cellText(value: unknown): string {
  if (value === undefined) return '–';
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '–');
}

interface TotalsProps {
  readonly runs: Pair<InspectedRun>;
  readonly comparison: Comparison;
}

const MAX_STARTS = 30;

export function Totals({ runs, comparison: { totals, starts, forkedFrom, paths, runIds } }: TotalsProps) {
  const lines: readonly (readonly [string, readonly string[]])[] = [
    ['Status', runs.map(({ status, live }) => (live ? 'live' : status))],
    ['Steps', paths.map(({ length }) => formatNumber(length))],
    ['Cycles', totals.map(({ cycles }) => formatNumber(cycles))],
    [
      'Model calls',
      totals.map(({ modelCalls, failed }) => (failed > 0 ? `${modelCalls}, ${failed} failed` : `${modelCalls}`)),
    ],
    ['Tokens', totals.map(({ inputTokens, outputTokens }) => formatNumber(inputTokens + outputTokens))],
    ['Time', totals.map(({ ms }) => formatDuration(ms))],
  ];
  return (
    <>
      {forkedFrom.map((fork, run) => {
        if (fork === null) return null;
        const from = LETTERS[runIds.indexOf(fork.runId)] ?? `another run (${excerpt(fork.runId, 40)})`;
        return (
          <p key={LETTERS[run]} class="fork">
            {LETTERS[run]} is a fork of {from} at entry {fork.seq}
            {fork.changes.length > 0 && `: ${excerpt(fork.changes.join(', '), 200)}`}
          </p>
        );
      })}
      <table class="side-by-side">
        <caption class="visually-hidden">Totals, and the start parameters that differ</caption>
        <RunHeads title="Whole run" />
        <tbody>
          {lines.map(([name, values]) => (
            <PairRow key={name} name={name} values={values} />
          ))}
        </tbody>
        {starts.length > 0 && runs.every(({ kind }) => kind === 'run') && (
          <tbody>
            <tr>
              <th scope="rowgroup" colSpan={COLUMNS} class="muted">
                Started with
              </th>
            </tr>
            {starts.slice(0, MAX_STARTS).map(({ path, values }) => (
              <PairRow key={path} name={path.replace(/^host\./u, 'program data: ')} values={values} />
            ))}
            {starts.length > MAX_STARTS && (
              <tr>
                <td colSpan={COLUMNS}>… and {starts.length - MAX_STARTS} more</td>
              </tr>
            )}
          </tbody>
        )}
      </table>
    </>
  );
}

export function FirstDifference({ comparison }: { readonly comparison: Comparison }) {
  const { firstStep, first, firstContent } = comparison;
  return (
    <section aria-labelledby="first-difference-title" class="first-difference">
      <h2 id="first-difference-title">First difference</h2>
      {first === null || firstStep === null ? (
        <p>Both runs took the same {comparison.rows.length} steps.</p>
      ) : (
        <Divergence step={firstStep} at={first} />
      )}
      <ContentDifference {...firstContent} />
    </section>
  );
}

function Divergence({ step, at }: { readonly step: FirstStep; readonly at: number }) {
  const { entries, candidates } = step;
  const evaluated = candidates.filter(({ results }) =>
    results.some((result) => result === 'taken' || result === 'false'),
  );
  const sources = [...new Set(entries.flatMap((entry) => (entry === null ? [] : [stateName(entry.source)])))];
  return (
    <>
      <p>
        After {pluralize(at, 'equal step')}, {sources.length === 1 ? `in ${sources[0]}` : 'the runs diverge'}:{' '}
        {entries.map((entry, run) => (
          <span key={LETTERS[run]}>
            <b class="letter">{LETTERS[run]}</b>{' '}
            {entry === null ? (
              'took no more steps'
            ) : (
              <>
                <Icon name="arrow-right" /> {entry.target.map(stateName).join(', ') || 'stays'}
              </>
            )}{' '}
          </span>
        ))}
      </p>
      {candidates.length > 0 && (
        <table class="side-by-side candidates">
          <caption class="visually-hidden">Candidates of the first step that differs</caption>
          <RunHeads title="Guard" />
          <tbody>
            {evaluated.map((candidate) => (
              <CandidateRow key={`${candidate.guard} ${candidate.target}`} candidate={candidate} />
            ))}
            {evaluated.length < candidates.length && (
              <tr>
                <td colSpan={COLUMNS} class="muted">
                  {pluralize(candidates.length - evaluated.length, 'more candidate')} not evaluated in either run
                </td>
              </tr>
            )}
          </tbody>
        </table>
      )}
    </>
  );
}

function CandidateRow({ candidate }: { readonly candidate: ComparedCandidate }) {
  const { guard, target, results, inputs, isFirstDifference } = candidate;
  return (
    <tr class={isFirstDifference ? 'diverges' : ''}>
      <th scope="row">
        <span title={guard ?? undefined}>{guard === null ? 'otherwise' : humanizeGuard(guard)}</span>{' '}
        <span class="muted">
          <Icon name="arrow-right" /> {target.map(stateName).join(', ') || 'stays'}
        </span>
        {isFirstDifference && <strong class="diverges-here"> first difference</strong>}
      </th>
      {results.map((result, run) => (
        <td key={LETTERS[run]}>
          <span class={`result ${result ?? 'none'}`}>
            {result === null ? (
              '–'
            ) : (
              <>
                <Icon name={GUARD_RESULTS[result].icon} /> {GUARD_RESULTS[result].word}
              </>
            )}
          </span>
          {result !== null && result !== 'not-evaluated' && (
            <span class="inputs">
              {inputs.map(({ name, values, differs }) => {
                const value = values[run];
                const text = typeof value === 'boolean' ? (value ? 'yes' : 'no') : excerpt(cellText(value), 60);
                return (
                  <span key={name} class="verbatim">
                    {meaningOf(name) ?? humanize(name)}: {differs ? <mark>{text}</mark> : text}
                  </span>
                );
              })}
            </span>
          )}
        </td>
      ))}
    </tr>
  );
}

const MAX_FIELDS = 8;

function ContentDifference({ difference, cutOff }: FirstContent) {
  if (difference === null)
    return (
      <p class="muted">
        {cutOff
          ? 'No difference in replies, decisions and answers, as far as they were compared: the runs are too long to compare all of them.'
          : 'The replies, decisions and answers that both runs have are the same.'}
      </p>
    );
  const { kind, nth, seqs, fields } = difference;
  return (
    <table class="side-by-side">
      <caption>
        First content that differs: {excerpt(kind, 60)}
        {nth > 1 && ` (no. ${nth})`}
      </caption>
      <RunHeads title="Field" seqs={seqs} />
      <tbody>
        {fields.slice(0, MAX_FIELDS).map(({ path, values }) => (
          <PairRow key={path} name={path || 'whole value'} values={values} maxChars={300} />
        ))}
        {fields.length > MAX_FIELDS && (
          <tr>
            <td colSpan={COLUMNS}>… and {fields.length - MAX_FIELDS} more fields</td>
          </tr>
        )}
      </tbody>
    </table>
  );
}
