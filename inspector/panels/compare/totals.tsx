import type { InspectedRun } from '../../../src/inspection/wire.ts';
import type { Comparison } from '../../fold/compare/comparison.ts';
import { duration, grouped } from '../../fold/number-words.ts';
import { letterOf, told } from '../../ui-state/compared.ts';
import { shortly } from '../../ui-state/text.ts';
import { RunHeads } from './run-heads.tsx';

interface TotalsProps {
  readonly runs: readonly InspectedRun[];
  readonly comparison: Comparison;
}

/** Fields that differ are shown up to this many. */
const MOST_FIELDS = 30;

/** How the runs ended, in numbers; what they were started with otherwise; what is a fork of what. */
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
        const from = runIds.indexOf(fork.runId);
        return (
          <p key={runIds[run]} class="fork">
            {letterOf(run)} is a fork of {from < 0 ? `another run (${shortly(fork.runId, 40)})` : letterOf(from)} at
            entry {fork.seq}
            {fork.changes.length > 0 && `: ${shortly(fork.changes.join(', '), 200)}`}
          </p>
        );
      })}
      <table class="beside">
        <caption class="unseen">The runs in numbers, and what they were started with otherwise</caption>
        <RunHeads title="Whole runs" runIds={runIds} />
        <tbody>
          {lines.map(([name, values]) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              {values.map((value, run) => (
                <td key={runIds[run]} class={value === values[0] ? '' : 'other'}>
                  {value}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
        {starts.length > 0 && runs.every(({ kind }) => kind === 'run') && (
          <tbody>
            <tr>
              <th scope="rowgroup" colSpan={runs.length + 1} class="muted">
                Started with
              </th>
            </tr>
            {starts.slice(0, MOST_FIELDS).map(({ path, values }) => (
              <tr key={path}>
                <th scope="row" class="told">
                  {shortly(path, 80)}
                </th>
                {values.map((value, run) => (
                  <td key={runIds[run]} class={told(value) === told(values[0]) ? 'told' : 'told other'}>
                    {shortly(told(value), 120)}
                  </td>
                ))}
              </tr>
            ))}
            {starts.length > MOST_FIELDS && (
              <tr>
                <td colSpan={runs.length + 1}>… and {starts.length - MOST_FIELDS} more</td>
              </tr>
            )}
          </tbody>
        )}
      </table>
    </>
  );
}
