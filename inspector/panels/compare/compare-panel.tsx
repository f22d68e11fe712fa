import { comparedWith, letterOf, told } from '../../ui-state/compared.ts';
import { isHere } from '../../ui-state/load-runs.ts';
import { shortly } from '../../ui-state/text.ts';
import type { PanelProps } from '../panel-props.ts';
import { StepTable } from './step-table.tsx';
import { Totals } from './totals.tsx';
import { useComparison } from './use-comparison.ts';
import './compare.css';
import type { InspectedRun } from '../../../src/inspection/wire.ts';
import type { CandidateBeside } from '../../fold/compare/candidates-beside.ts';
import type { Comparison, FirstStep } from '../../fold/compare/comparison.ts';
import { guardInWords } from '../../fold/guard-words.ts';
import { counted } from '../../fold/number-words.ts';
import type { Inspector, RunView } from '../../ui-state/inspector.ts';
import { runName } from '../../ui-state/run-name.ts';
import { stateName } from '../../ui-state/state-name.ts';
import { Icon } from '../icon.tsx';
import { VERDICTS } from '../verdicts.ts';
import { RunHeads } from './run-heads.tsx';
import { SaidOtherwise } from './said-otherwise.tsx';

/** The run beside one or two others: where they part, and what was otherwise before. */
export function ComparePanel({ inspector, view }: PanelProps) {
  const all = inspector.runs.value.filter(({ kind }) => kind === view.run.kind);
  const others = comparedWith.value.flatMap((id) => all.filter(({ runId }) => runId === id && id !== view.run.runId));
  const shown = [view.run, ...others];
  const opened = shown.flatMap(({ runId }) => inspector.loaded.value.filter((run) => run.runId === runId));
  const missing = shown.filter(({ runId, live }) => !opened.some((run) => run.runId === runId && isHere(run, live)));
  const isReady = others.length > 0 && missing.length === 0;
  const comparison = useComparison(isReady ? opened : [], isReady);

  if (all.length <= 1)
    return (
      <p class="muted">
        {inspector.connection.value === 'file'
          ? 'This file holds one run, and there is no other to compare it with. In "postchain inspect" any two can be.'
          : 'There is only one run, and no other to compare it with yet.'}
      </p>
    );
  return (
    <div class="compare-panel">
      <RunChoices inspector={inspector} view={view} others={others} />
      {others.length === 0 && (
        <p class="muted">
          Choose a second run: its steps are set beside those of this one, and the first difference is marked.
        </p>
      )}
      {missing.length > 0 && others.length > 0 && (
        <p role="status">Loading {missing.map(({ title, runId }) => shortly(title, 40) || runId).join(', ')}…</p>
      )}
      {isReady && comparison === null && <p role="status">Comparing…</p>}
      {isReady && comparison !== null && comparison.runIds.length === shown.length && (
        <>
          {opened.map(
            ({ runId, end }) =>
              end.value?.problem && (
                <p key={runId} class="problem" role="alert">
                  {shortly(end.value.problem, 300)}
                </p>
              ),
          )}
          <Totals runs={shown} comparison={comparison} />
          <FirstDifference comparison={comparison} />
          <StepTable inspector={inspector} view={view} runs={opened} comparison={comparison} />
        </>
      )}
    </div>
  );
}

/** Where the runs part: the candidates of that step side by side; and what was said otherwise first. */
function FirstDifference({ comparison }: { readonly comparison: Comparison }) {
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

interface RunChoicesProps {
  readonly inspector: Inspector;
  readonly view: RunView;
  readonly others: readonly InspectedRun[];
}

/** Which runs stand beside the chosen one. Those that were asked the same come first. */
function RunChoices({ inspector, view: { run }, others }: RunChoicesProps) {
  const rest = inspector.runs.value.filter(({ runId, kind }) => runId !== run.runId && kind === run.kind);
  const alike = rest.filter(({ title }) => title === run.title);
  const groups = [
    { name: 'The same question', runs: alike },
    { name: 'Other questions', runs: rest.filter((other) => !alike.includes(other)) },
  ];

  function put(place: number, runId: string): void {
    const ids = others.map((other) => other.runId);
    if (runId === '') ids.splice(place, 1);
    else ids[place] = runId;
    if (runId !== '') inspector.follow(runId);
    comparedWith.value = [...new Set(ids)];
  }

  return (
    <div class="compare-choices">
      <p>
        <b class="letter">A</b> {shortly(run.title, 60) || run.runId}
      </p>
      {[0, 1].slice(0, others.length + 1).map((place) => (
        <label key={place}>
          <b class="letter">{letterOf(place + 1)}</b>
          <span class="unseen">{place === 0 ? 'Second run' : 'Third run'}</span>
          <select value={others[place]?.runId ?? ''} onChange={({ currentTarget }) => put(place, currentTarget.value)}>
            <option value="">{place === 0 ? 'Choose a run…' : 'No third run'}</option>
            {groups.map(
              ({ name, runs }) =>
                runs.length > 0 && (
                  <optgroup key={name} label={name}>
                    {runs.map((other) => (
                      <option
                        key={other.runId}
                        value={other.runId}
                        disabled={others.some(({ runId }, at) => runId === other.runId && at !== place)}
                      >
                        {runName(other)}
                      </option>
                    ))}
                  </optgroup>
                ),
            )}
          </select>
        </label>
      ))}
    </div>
  );
}
