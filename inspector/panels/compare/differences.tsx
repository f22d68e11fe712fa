import type { InspectedRun } from '../../../src/inspection/wire.ts';
import type { Pair } from '../../fold/compare/align.ts';
import type { ComparedCandidate, Comparison, FirstContent, FirstStep } from '../../fold/compare/comparison.ts';
import { counted, duration, grouped, guardInWords } from '../../fold/format.ts';
import { shortly, stateName } from '../../ui-state/text.ts';
import { Icon, VERDICTS } from '../icon.tsx';

export const LETTERS: Pair<string> = ['A', 'B'];

/** A table head with one column per run. */
export function RunHeads({ title }: { readonly title: string }) {
  return (
    <thead>
      <tr>
        <th scope="col">{title}</th>
        {LETTERS.map((letter) => (
          <th key={letter} scope="col">
            {letter}
          </th>
        ))}
      </tr>
    </thead>
  );
}

const COLUMNS = 3;

/** A value on one line. */
function cellText(value: unknown): string {
  if (value === undefined) return '–';
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '–');
}

interface TotalsProps {
  readonly runs: Pair<InspectedRun>;
  readonly comparison: Comparison;
}

const MAX_STARTS = 30;

/** The runs in numbers, the start parameters that differ, and which run is a fork. */
export function Totals({ runs, comparison: { totals, starts, forkedFrom, paths, runIds } }: TotalsProps) {
  const lines: readonly (readonly [string, readonly string[]])[] = [
    ['Status', runs.map(({ status, live }) => (live ? 'live' : status))],
    ['Steps', paths.map(({ length }) => grouped(length))],
    ['Cycles', totals.map(({ cycles }) => grouped(cycles))],
    [
      'Model calls',
      totals.map(({ calls, failedCalls }) => (failedCalls > 0 ? `${calls}, ${failedCalls} failed` : `${calls}`)),
    ],
    ['Tokens', totals.map(({ tokens }) => grouped(tokens))],
    ['Time', totals.map(({ ms }) => duration(ms))],
  ];
  return (
    <>
      {forkedFrom.map((fork, run) => {
        if (fork === null) return null;
        const from = LETTERS[runIds.indexOf(fork.runId)] ?? `another run (${shortly(fork.runId, 40)})`;
        return (
          <p key={LETTERS[run]} class="fork">
            {LETTERS[run]} is a fork of {from} at entry {fork.seq}
            {fork.changes.length > 0 && `: ${shortly(fork.changes.join(', '), 200)}`}
          </p>
        );
      })}
      <table class="beside">
        <caption class="unseen">Totals, and the start parameters that differ</caption>
        <RunHeads title="Whole run" />
        <tbody>
          {lines.map(([name, values]) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              {values.map((value, run) => (
                <td key={LETTERS[run]} class={value === values[0] ? '' : 'other'}>
                  {value}
                </td>
              ))}
            </tr>
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
              <tr key={path}>
                <th scope="row" class="told">
                  {shortly(path, 80)}
                </th>
                {values.map((value, run) => (
                  <td key={LETTERS[run]} class={cellText(value) === cellText(values[0]) ? 'told' : 'told other'}>
                    {shortly(cellText(value), 120)}
                  </td>
                ))}
              </tr>
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

/** The first step at which the runs diverge, with its candidates, and the first content that differs. */
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
  const evaluated = candidates.filter(({ verdicts }) =>
    verdicts.some((verdict) => verdict === 'taken' || verdict === 'false'),
  );
  const sources = [...new Set(entries.flatMap((entry) => (entry === null ? [] : [stateName(entry.source)])))];
  return (
    <>
      <p>
        After {counted(at, 'equal step')}, {sources.length === 1 ? `in ${sources[0]}` : 'the runs diverge'}:{' '}
        {entries.map((entry, run) => (
          <span key={LETTERS[run]}>
            <b class="letter">{LETTERS[run]}</b>{' '}
            {entry === null ? (
              'took no more steps'
            ) : (
              <>
                <Icon name="leads" /> {entry.target.map(stateName).join(', ') || 'stays'}
              </>
            )}{' '}
          </span>
        ))}
      </p>
      {candidates.length > 0 && (
        <table class="beside candidates">
          <caption class="unseen">Candidates of the first step that differs</caption>
          <RunHeads title="Guard" />
          <tbody>
            {evaluated.map((candidate) => (
              <CandidateRow key={`${candidate.guard} ${candidate.target}`} candidate={candidate} />
            ))}
            {evaluated.length < candidates.length && (
              <tr>
                <td colSpan={COLUMNS} class="muted">
                  {counted(candidates.length - evaluated.length, 'more candidate')} not evaluated in either run
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
  const { guard, target, verdicts, inputs, isFirstDifference } = candidate;
  return (
    <tr class={isFirstDifference ? 'parts' : ''}>
      <th scope="row">
        <span title={guard ?? undefined}>{guard === null ? 'otherwise' : guardInWords(guard)}</span>{' '}
        <span class="muted">
          <Icon name="leads" /> {target.map(stateName).join(', ') || 'stays'}
        </span>
        {isFirstDifference && <strong class="parts-here"> first difference</strong>}
      </th>
      {verdicts.map((verdict, run) => (
        <td key={LETTERS[run]}>
          <span class={`verdict ${verdict ?? 'none'}`}>
            {verdict === null ? (
              '–'
            ) : (
              <>
                <Icon name={VERDICTS[verdict].icon} /> {VERDICTS[verdict].word}
              </>
            )}
          </span>
          {verdict !== null && verdict !== 'not-evaluated' && (
            <span class="inputs">
              {inputs.map(({ name, values, differs }) => {
                const text = shortly(cellText(values[run]), 60);
                return (
                  <span key={name} class="told">
                    {name} {differs ? <mark>{text}</mark> : text}
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

/** The first reply, event, decision or answer that differs, field by field. */
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
    <table class="beside">
      <caption>
        First content that differs: {shortly(kind, 60)}
        {nth > 1 && ` (no. ${nth})`}
      </caption>
      <thead>
        <tr>
          <th scope="col">Field</th>
          {LETTERS.map((letter, run) => (
            <th key={letter} scope="col">
              {letter} <span class="muted">entry {seqs[run]}</span>
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {fields.slice(0, MAX_FIELDS).map(({ path, values }) => (
          <tr key={path}>
            <th scope="row" class="told">
              {shortly(path, 80) || 'whole value'}
            </th>
            {values.map((value, run) => (
              <td key={LETTERS[run]} class="told">
                <mark>{shortly(cellText(value), 300)}</mark>
              </td>
            ))}
          </tr>
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
