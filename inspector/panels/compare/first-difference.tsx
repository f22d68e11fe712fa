import type { CandidateBeside } from '../../fold/compare/candidates-beside.ts';
import type { Comparison, FirstStep } from '../../fold/compare/comparison.ts';
import { guardInWords } from '../../fold/guard-words.ts';
import { counted } from '../../fold/number-words.ts';
import { letterOf, told } from '../../ui-state/compared.ts';
import { stateName } from '../../ui-state/state-name.ts';
import { shortly } from '../../ui-state/text.ts';
import { Icon } from '../icon.tsx';
import { VERDICTS } from '../verdicts.ts';
import { RunHeads } from './run-heads.tsx';
import { SaidOtherwise } from './said-otherwise.tsx';

/** Where the runs part: the candidates of that step side by side; and what was said otherwise first. */
export function FirstDifference({ comparison }: { readonly comparison: Comparison }) {
  const { firstStep, first, facts, runIds } = comparison;
  return (
    <section aria-labelledby="first-difference-title" class="first-difference">
      <h2 id="first-difference-title">First difference</h2>
      {first === null || firstStep === null ? (
        <p>
          {runIds.length > 2 ? 'All took' : 'Both took'} the same {comparison.rows.length} steps.
        </p>
      ) : (
        <Parting step={firstStep} at={first} runIds={runIds} />
      )}
      {facts.map(({ fact, cutOff }, other) => (
        <SaidOtherwise key={runIds[other + 1]} fact={fact} cutOff={cutOff} letters={['A', letterOf(other + 1)]} />
      ))}
    </section>
  );
}

function Parting({
  step,
  at,
  runIds,
}: {
  readonly step: FirstStep;
  readonly at: number;
  readonly runIds: readonly string[];
}) {
  const { entries, candidates } = step;
  const asked = candidates.filter(({ verdicts }) =>
    verdicts.some((verdict) => verdict === 'taken' || verdict === 'false'),
  );
  const sources = [...new Set(entries.flatMap((entry) => (entry === null ? [] : [stateName(entry.source)])))];
  return (
    <>
      <p>
        After {at} equal steps, {sources.length === 1 ? `in ${sources[0]}` : 'the runs part'}:{' '}
        {entries.map((entry, run) => (
          <span key={runIds[run]}>
            <b class="letter">{letterOf(run)}</b>{' '}
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
          <caption class="unseen">The candidates of the first step that differs</caption>
          <RunHeads title="Guard" runIds={runIds} />
          <tbody>
            {asked.map((candidate) => (
              <CandidateRow key={`${candidate.guard} ${candidate.target}`} candidate={candidate} runIds={runIds} />
            ))}
            {asked.length < candidates.length && (
              <tr>
                <td colSpan={runIds.length + 1} class="muted">
                  {counted(candidates.length - asked.length, 'candidate')} more that no run evaluated
                </td>
              </tr>
            )}
          </tbody>
        </table>
      )}
    </>
  );
}

function CandidateRow({
  candidate,
  runIds,
}: {
  readonly candidate: CandidateBeside;
  readonly runIds: readonly string[];
}) {
  const { guard, target, verdicts, inputs, parts } = candidate;
  return (
    <tr class={parts ? 'parts' : ''}>
      <th scope="row">
        <span title={guard ?? undefined}>{guard === null ? 'otherwise' : guardInWords(guard)}</span>{' '}
        <span class="muted">
          <Icon name="leads" /> {target.map(stateName).join(', ') || 'stays'}
        </span>
        {parts && <strong class="parts-here"> first difference</strong>}
      </th>
      {verdicts.map((verdict, run) => (
        <td key={runIds[run]}>
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
              {inputs.map(({ name, values, differs }) => (
                <span key={name} class="told">
                  {name} {differs ? <mark>{shortly(told(values[run]), 60)}</mark> : shortly(told(values[run]), 60)}
                </span>
              ))}
            </span>
          )}
        </td>
      ))}
    </tr>
  );
}
