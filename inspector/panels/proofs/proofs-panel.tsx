import './proofs.css';
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { Chart } from '../../../src/durable/charts/chart.ts';
import type { RunCharts } from '../../../src/inspection/wire.ts';
import { type ChartProof, type ProvenPath, pathEndingAt, testOfPath } from '../../../src/testing/proofs/chart-proof.ts';
import { chartDigest, ownOf } from '../../chart/drawing.ts';
import { activeStatesAt } from '../../fold/active-states.ts';
import { callsLeftAt } from '../../fold/budget-at.ts';
import type { StateRef } from '../../fold/chart-copies.ts';
import { chartIndexOf } from '../../fold/chart-index.ts';
import { formatNumber, pluralize } from '../../fold/format.ts';
import { stateName } from '../../fold/text.ts';
import { Icon } from '../../icon.tsx';
import { chartPath, chartSelection } from '../../ui-state/chart-selection.ts';
import type { RunView } from '../../ui-state/inspector.ts';
import { NeverTaken } from '../fleet/fleet-panel.tsx';
import type { PanelProps } from '../panel.tsx';
import { copyTest, TestDialog, type WrittenTest } from '../test-dialog.tsx';

/** By the ids of their charts. */
type Proofs = ReadonlyMap<string, ChartProof | undefined>;

/** What is proven about a state, the shortest path to it, and the transitions that no run took. */
export function ProofsPanel({ inspector, view }: PanelProps) {
  const { charts } = view;
  const proofs = useProofs(charts);
  const [test, setTest] = useState<WrittenTest | null>(null);
  if (view.count === 0) return <p class="muted">Nothing is recorded.</p>;
  if (charts === null || proofs === null) return <p class="muted">Loading the proofs…</p>;
  if (typeof proofs === 'string') return <p class="problem">The proofs could not be loaded: {proofs}</p>;
  const write = async (chart: Chart, transition: number): Promise<void> => {
    const proof = proofs.get(chart.id);
    const end = proof?.byTransition[transition];
    if (proof === undefined || end == null) return;
    setTest(await copyTest(testOfPath(chart, pathEndingAt(proof, end), transition)));
  };
  return (
    <div class="proofs">
      <StateProof view={view} charts={charts} proofs={proofs} />
      <NeverTaken inspector={inspector} charts={charts} onTest={write} />
      {test !== null && (
        <TestDialog title="Path test of this transition" test={test} onClose={() => setTest(null)}>
          <p>
            It drives the machine along the shortest path through this transition. No model is called. Save it in a
            project with <code>postchain</code> and <code>vitest</code>, for example as <code>path.test.ts</code>, and
            run it:
          </p>
          <pre>npx vitest run path.test.ts</pre>
        </TestDialog>
      )}
    </div>
  );
}

/** Null while loading; a text says why they could not be loaded. A proof of another version of its chart is left out. */
function useProofs(charts: RunCharts | null): Proofs | string | null {
  const [loaded, setLoaded] = useState<Readonly<Record<string, ChartProof>> | string | null>(null);
  useEffect(() => {
    import('../../proofs.json').then(
      (module) => setLoaded(module.default as unknown as Readonly<Record<string, ChartProof>>),
      (error: unknown) => setLoaded(String(error)),
    );
  }, []);
  return useMemo(() => {
    if (loaded === null || charts === null) return null;
    if (typeof loaded === 'string') return loaded;
    // The digest of the charts alone, without the version of their drawings.
    return new Map(charts.charts.map(({ id }) => [id, ownOf(loaded, chartDigest(id, charts, 0))]));
  }, [loaded, charts]);
}

interface StateProofProps {
  readonly view: RunView;
  readonly charts: RunCharts;
  readonly proofs: Proofs;
}

/** How a path ends, by chart. */
const ENDS: Readonly<Record<string, string>> = {
  postChain: 'with an answer',
  attempt: 'with a reply or a failure',
  actionLoop: 'with a result or a failure',
};

/** The proof for the state that is selected in the chart, or else for the active one. */
function StateProof({ view, charts, proofs }: StateProofProps) {
  const { log, fold, at } = view;
  const selected = chartSelection.value;
  const first = charts.charts[0]?.id ?? '';
  const { chartId, stateId } =
    selected?.kind === 'state'
      ? selected
      : { chartId: first, stateId: activeStatesAt(fold.transitions, charts, at).leaf[first]?.[0] ?? first };
  const proof = proofs.get(chartId);
  const path = useMemo(
    () => (proof === undefined ? null : pathTo(charts, proof, { chartId, stateId })),
    [charts, proof, chartId, stateId],
  );
  useEffect(() => {
    if (selected?.kind !== 'state' || path === null) return;
    chartPath.value = { kind: 'transitions', chartId, transitions: path.steps.flatMap(({ taken }) => taken) };
    return () => {
      chartPath.value = null;
    };
  }, [path, selected]);
  const chart = charts.charts.find(({ id }) => id === chartId);
  if (proof === undefined || path === null || chart === undefined)
    return <p class="muted">There is no proof for this version of the chart.</p>;
  const isFinal = chart.states.find(({ id }) => id === stateId)?.type === 'final';
  return (
    <>
      <section aria-label="Proof">
        <h3>{stateName(stateId)}</h3>
        <p class="muted">
          {selected?.kind === 'state'
            ? 'The state selected in the chart.'
            : `The active state at entry ${formatNumber(at)}.`}
        </p>
        <p class="proven">
          {isFinal
            ? `The ${chartId === first ? 'run' : 'machine'} ends here, `
            : 'No run gets stuck here: every path ends '}
          {ENDS[chartId] ?? 'in a final state'}
          {isFinal
            ? '.'
            : callsText(callsLeftAt(log, fold, at), chartId === first ? (proof.calls[stateId] ?? []) : null)}
        </p>
        <details>
          <summary>What is proven</summary>
          <p>
            {`All ${pluralize(proof.states, 'state')} and ${pluralize(proof.edges, 'step')} reachable from ${pluralize(proof.starts.length, 'start')} (${proof.starts.join('; ')}) were explored${chartId === first ? ', up to three cycles' : ''}: every kind of outcome of each call, every deadline, and every event that a user can send.`}
          </p>
          <p>
            The number of calls comes from the limits of the run at entry {formatNumber(at)}. It excludes calls to a
            grader and calls repeated after the process died. A path ends once no more events are sent and the process
            no longer dies.
          </p>
        </details>
      </section>
      <section aria-label="Shortest path">
        <h3>Shortest path to this state</h3>
        {selected?.kind === 'state' ? (
          <PathSteps chart={chart} path={path} end={stateId} />
        ) : (
          <p class="muted">Select a state in the chart to see the shortest path to it.</p>
        )}
      </section>
    </>
  );
}

/** The most calls that follow; of an inner machine (`kinds` is null), of the whole run. */
function callsText(left: ReturnType<typeof callsLeftAt>, kinds: ChartProof['calls'][string] | null): string {
  if (left === null) return '.';
  const { phases, answer } = {
    phases: kinds?.includes('phases') === false ? 0 : left.phases,
    answer: kinds?.includes('answer') === false ? 0 : left.answer,
  };
  const calls = `at most ${pluralize(phases + answer, 'more model call')}`;
  const parts = phases > 0 && answer > 0 ? `, ${formatNumber(answer)} of them to write the answer` : '';
  if (kinds === null) return `. From the cursor on, the run makes ${calls}${parts}.`;
  return phases + answer === 0 ? ', without another model call.' : `, after ${calls}${parts}.`;
}

/** The shortest path to a state. If the last step only passes through the state, the path ends there. */
function pathTo(charts: RunCharts, proof: ChartProof, { chartId, stateId }: StateRef): ProvenPath | null {
  const end = proof.toState[stateId];
  const chart = chartIndexOf(charts).chart(chartId);
  if (end === undefined || chart === undefined) return null;
  const { start, steps } = pathEndingAt(proof, end);
  const targets = charts.charts.find(({ id }) => id === chartId)?.transitions ?? [];
  const enters = (transition: number): boolean => chart.entered(targets[transition]?.target ?? []).active.has(stateId);
  const last = steps.at(-1);
  const at = last?.taken.findIndex(enters) ?? -1;
  if (last === undefined || at < 0) return { start, steps };
  return { start, steps: steps.with(-1, { ...last, taken: last.taken.slice(0, at + 1) }) };
}

interface PathStepsProps {
  readonly chart: Chart;
  readonly path: ProvenPath;
  readonly end: string;
}

/** What occurs on a path, and the state that each step leads to. */
function PathSteps({ chart, path: { start, steps }, end }: PathStepsProps) {
  const items = [{ name: `${start} (start)`, taken: [] }, ...steps];
  return (
    <ol class="proven-path">
      {items.map(({ name, taken }, index) => {
        const target = chart.transitions[taken.at(-1) ?? -1]?.target[0];
        const state = index === items.length - 1 ? end : index === 0 ? null : (target ?? 'same state');
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: the steps of a path have no other identity
          <li key={index}>
            {name}{' '}
            {state !== null && (
              <span class="muted">
                <Icon name="arrow-right" /> {stateName(state)}
              </span>
            )}
          </li>
        );
      })}
    </ol>
  );
}
