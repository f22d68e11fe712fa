import type { Choice } from '../chart/choices.ts';
import { counted } from '../fold/number-words.ts';
import { shortly } from '../ui-state/text.ts';
import { answerOf, shortName, stateOf, transitionOf } from './item-place.ts';
import type { CoveredMachine, ShownItem, ShownReport } from './read-report.ts';

interface ChosenItemsProps {
  readonly report: ShownReport;
  readonly chosen: Choice;
  readonly onClose: () => void;
}

/** What was chosen in the chart, and what of it was brought about. */
export function ChosenItems({ report, chosen, onClose }: ChosenItemsProps) {
  const machine = report.machines.find((one) => one.machine === chosen.chartId);
  return (
    <aside class="chosen-note" aria-label="Chosen in the chart">
      {machine === undefined ? (
        <p>Nothing is known of {shortly(chosen.chartId, 60)}: it was not covered.</p>
      ) : chosen.kind === 'state' ? (
        <StateItems report={report} machine={machine} stateId={chosen.stateId} />
      ) : (
        <TransitionItems machine={machine} places={chosen.transitions} />
      )}
      <button type="button" aria-label="Close" onClick={onClose}>
        ×
      </button>
    </aside>
  );
}

interface StateItemsProps {
  readonly report: ShownReport;
  readonly machine: CoveredMachine;
  readonly stateId: string;
}

/** A state, and what runs in it. */
function StateItems({ report, machine, stateId }: StateItemsProps) {
  const chart = report.charts.charts.find(({ id }) => id === machine.machine);
  const state = chart?.states.find(({ id }) => id === stateId);
  const own = machine.items.filter((item) => chart !== undefined && stateOf(item, chart) === stateId);
  const entered = own.find(({ kind }) => kind === 'state');
  return (
    <ul>
      <li>
        <b>{shortly(state?.name ?? stateId, 60)}</b>{' '}
        {entered !== undefined && <Told times={entered.times} is="entered" />} {shortly(state?.description ?? '', 300)}
      </li>
      {own
        .filter(({ kind }) => kind !== 'state')
        .slice(0, SHOWN)
        .map((item) => (
          <li key={item.key}>
            {shortly(item.name.slice(stateId.length + 2), 80)} <Told times={item.times} is="" />
          </li>
        ))}
    </ul>
  );
}

const SHOWN = 6;

interface TransitionItemsProps {
  readonly machine: CoveredMachine;
  readonly places: readonly number[];
}

/** Transitions, and what the guards of each said. */
function TransitionItems({ machine, places }: TransitionItemsProps) {
  return (
    <ul>
      {places.slice(0, SHOWN).map((place) => {
        const own = machine.items.filter((item) => transitionOf(item) === place);
        const [taken] = own.filter(({ kind }) => kind === 'transition');
        const answers = own.filter(({ kind }) => kind === 'guard');
        return taken === undefined ? null : (
          <li key={place}>
            <b>{shortly(shortName(taken, machine.machine), 160)}</b> <Told times={taken.times} is="taken" />
            {answers.length > 0 && <>; its guard said {answers.map(answerWords).join(', ')}</>}
          </li>
        );
      })}
      {places.length > SHOWN && <li class="muted">and {places.length - SHOWN} more</li>}
    </ul>
  );
}

function answerWords(item: ShownItem): string {
  return item.times === 0 ? `never ${answerOf(item)}` : `${answerOf(item)} ${counted(item.times, 'time')}`;
}

function Told({ times, is }: { readonly times: number; readonly is: string }) {
  const words = times === 0 ? `never ${is}` : `${is} ${counted(times, 'time')}`;
  return <span class={times === 0 ? 'not-reached' : 'reached'}>{words.trim()}</span>;
}
