import './chart-map.css';
import { useMemo } from 'preact/hooks';
import type { Phase } from '../../../machines/contracts/phase.ts';
import { capitalize, pluralize } from '../../fold/format.ts';
import { phaseMapOf, phaseVisit } from '../../fold/phase-map.ts';
import { answerSelection } from '../../fold/selection.ts';
import { isChartFull, toggleChart } from '../../ui-state/layout.ts';
import { useOneTabStop } from '../../ui-state/one-tab-stop.ts';
import type { PanelProps } from '../panel.tsx';

/** The centers of the phases, in percent of the width and in pixels: a cycle runs clockwise. */
const PLACES: Readonly<Record<Phase | 'answer', readonly [number, number]>> = {
  action: [34, 36],
  experience: [60, 36],
  intention: [86, 36],
  observation: [86, 92],
  understanding: [60, 92],
  yield: [34, 92],
  answer: [10, 92],
};
const ORDER = Object.keys(PLACES) as (keyof typeof PLACES)[];

/** A small chart of the six phases that follows the selection. */
export function ChartMap({ inspector, view: { fold, selection, count, at } }: PanelProps) {
  const { phases, answerCalls, current, path } = useMemo(() => phaseMapOf(fold, selection), [fold, selection, count]);
  const [answered] = fold.entries.of('answer');
  const select = (phase: Phase): void => {
    const visit = phaseVisit(fold, phase, at, count);
    if (visit !== null) inspector.select(visit);
  };
  return (
    <nav class="chart-map" aria-label="Phases" {...useOneTabStop<HTMLElement>()}>
      <svg width="100%" height="128" aria-hidden="true">
        {ORDER.map((name, index) => (
          <Way key={name} from={name} to={name === 'answer' ? 'yield' : (ORDER[(index + 1) % 6] ?? name)} />
        ))}
        {path.slice(1).map((name, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the steps of a path have no other identity
          <Way key={`taken ${index}`} from={path[index] ?? name} to={name} isTaken />
        ))}
      </svg>
      <div class="map-cycle">
        <button
          type="button"
          title={isChartFull.value ? 'Show the trace (c)' : 'Show the whole chart (c)'}
          onClick={toggleChart}
        >
          {isChartFull.value ? 'Trace' : 'Chart'}
        </button>
      </div>
      {phases.map(({ phase, calls, visits, failures, hasFailed, since }) => (
        <button
          key={phase}
          type="button"
          class={`map-phase${hasFailed ? ' failed' : ''}${since > at && current !== phase ? ' later' : ''}`}
          style={{ ...placeOf(phase), '--hue': `var(--phase-${phase})` }}
          aria-current={current === phase ? 'step' : undefined}
          disabled={visits === 0}
          onClick={() => select(phase)}
        >
          {capitalize(phase)}
          <span>
            {failures > 0 ? `${pluralize(calls, 'call')} · failed` : calls > 0 ? pluralize(calls, 'call') : '–'}
          </span>
        </button>
      ))}
      <button
        type="button"
        class={`map-phase${answered !== undefined && answered > at && current !== 'answer' ? ' later' : ''}`}
        style={{ ...placeOf('answer'), '--hue': 'var(--phase-synthesis)' }}
        aria-current={current === 'answer' ? 'step' : undefined}
        disabled={answered === undefined}
        onClick={() => inspector.select(answerSelection(fold, count))}
      >
        Answer
        {answerCalls > 0 && <span>{pluralize(answerCalls, 'call')}</span>}
      </button>
    </nav>
  );
}

const placeOf = (name: keyof typeof PLACES) => ({ left: `${PLACES[name][0]}%`, top: `${PLACES[name][1]}px` });

interface WayProps {
  readonly from: keyof typeof PLACES;
  readonly to: keyof typeof PLACES;
  readonly isTaken?: boolean;
}

function Way({ from, to, isTaken = false }: WayProps) {
  const [[x1, y1], [x2, y2]] = [PLACES[from], PLACES[to]];
  return <line class={isTaken ? 'taken' : ''} x1={`${x1}%`} y1={y1} x2={`${x2}%`} y2={y2} />;
}
