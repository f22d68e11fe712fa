import { comparedWith } from '../../ui-state/compared.ts';
import { isHere } from '../../ui-state/load-runs.ts';
import { shortly } from '../../ui-state/text.ts';
import type { PanelProps } from '../panel-props.ts';
import { FirstDifference } from './first-difference.tsx';
import { RunChoices } from './run-choices.tsx';
import { StepTable } from './step-table.tsx';
import { Totals } from './totals.tsx';
import { useComparison } from './use-comparison.ts';
import './compare.css';

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
