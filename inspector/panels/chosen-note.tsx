import type { RunCharts } from '../../src/inspection/wire.ts';
import type { Choice } from '../chart/choices.ts';
import { chartBook } from '../fold/chart-book.ts';
import { chartWaysOf } from '../fold/chart-ways.ts';
import { counted } from '../fold/number-words.ts';
import { countUpTo, lastUpTo } from '../fold/sorted.ts';
import { shortly } from '../ui-state/text.ts';
import type { PanelProps } from './panel-props.ts';

interface ChosenNoteProps extends PanelProps {
  readonly charts: RunCharts;
  readonly chosen: Choice;
  readonly onClose: () => void;
}

/** What was chosen in the chart: what a state is for, or how often a transition was taken so far, and when last. */
export function ChosenNote({ charts, chosen, onClose, ...props }: ChosenNoteProps) {
  return (
    <aside class="chosen-note" aria-label="Chosen in the chart">
      {chosen.kind === 'state' ? (
        <StateNote charts={charts} chosen={chosen} />
      ) : (
        <TransitionNotes charts={charts} chosen={chosen} {...props} />
      )}
      <button type="button" aria-label="Close" onClick={onClose}>
        ×
      </button>
    </aside>
  );
}

function StateNote({
  charts,
  chosen,
}: {
  readonly charts: RunCharts;
  readonly chosen: Extract<Choice, { readonly kind: 'state' }>;
}) {
  const state = chartBook(charts).chart(chosen.chartId)?.state(chosen.stateId);
  return (
    <p>
      <b>{shortly(state?.name ?? chosen.stateId, 60)}</b> {shortly(state?.description || 'No description.', 300)}
    </p>
  );
}

interface TransitionNotesProps extends PanelProps {
  readonly charts: RunCharts;
  readonly chosen: Extract<Choice, { readonly kind: 'transitions' }>;
}

const SHOWN = 6;

function TransitionNotes({ inspector, view: { fold, at }, charts, chosen }: TransitionNotesProps) {
  const chart = charts.charts.find(({ id }) => id === chosen.chartId);
  const ways = chartWaysOf(charts.charts);
  const taken = fold.transitions.ways.filter(({ machine }) => machine === chosen.chartId);
  return (
    <ul>
      {chosen.transitions.slice(0, SHOWN).map((place) => {
        const transition = chart?.transitions[place];
        if (transition === undefined) return null;
        const own = taken.filter((way) => ways.placeOf(way) === place);
        const times = own.reduce((sum, way) => sum + countUpTo(way.seqs, at), 0);
        const last = Math.max(-1, ...own.map((way) => lastUpTo(way.seqs, at) ?? -1));
        return (
          <li key={place}>
            <b>{shortly(nameOf(transition), 80)}</b>{' '}
            {times === 0 ? (
              <span class="muted">not taken so far</span>
            ) : (
              <button type="button" onClick={() => inspector.moveTo(last)}>
                taken {counted(times, 'time')}, last at entry {last}
              </button>
            )}
          </li>
        );
      })}
      {chosen.transitions.length > SHOWN && <li class="muted">and {chosen.transitions.length - SHOWN} more</li>}
    </ul>
  );
}

function nameOf({
  event,
  guard,
  otherwise,
}: {
  readonly event: string;
  readonly guard: string | null;
  readonly otherwise: boolean;
}): string {
  const what = guard ?? (otherwise ? 'else' : '');
  return [event, what].filter((word) => word !== '').join(': ') || 'at once';
}
