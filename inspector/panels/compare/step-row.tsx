import type { Step } from '../../fold/compare/path.ts';
import type { Row } from '../../fold/compare/rows.ts';
import { guardInWords } from '../../fold/guard-words.ts';
import { letterOf } from '../../ui-state/compared.ts';
import { stateName } from '../../ui-state/state-name.ts';
import { Icon } from '../icon.tsx';

interface StepRowProps {
  readonly at: number;
  readonly row: Row;
  readonly paths: readonly (readonly Step[])[];
  readonly isFirst: boolean;
  /** The step of the first run that the cursor stands on. */
  readonly current: number | null;
  readonly onGo: (run: number, seq: number) => void;
}

/** One step of each run: where it led, by which guard, and the entry that tells of it. */
export function StepRow({ at, row: { steps, equal }, paths, isFirst, current, onGo }: StepRowProps) {
  return (
    <tr class={`${equal ? '' : 'differs'}${isFirst ? ' first' : ''}`}>
      <th scope="row">
        {at + 1}
        {isFirst && <span class="first-mark"> parts</span>}
      </th>
      {steps.map((place, run) => {
        const step = place === null ? undefined : paths[run]?.[place];
        if (step === undefined)
          return (
            <td key={letterOf(run)} class="muted">
              –
            </td>
          );
        const { way, seq } = step;
        const isHere = run === 0 && place === current;
        return (
          <td key={letterOf(run)}>
            <button
              type="button"
              class={way.machine === 'postChain' ? 'step' : 'step nested'}
              aria-current={isHere ? 'step' : undefined}
              title={`Entry ${seq} of ${letterOf(run)}: ${way.source} to ${way.target.join(', ')}`}
              onClick={() => onGo(run, seq)}
            >
              {stateName(way.source)} <Icon name="leads" /> {way.target.map(stateName).join(', ') || 'stays'}
              {way.guard !== null && (
                <span class="guard" title={way.guard}>
                  {' '}
                  {guardInWords(way.guard)}
                </span>
              )}
            </button>
          </td>
        );
      })}
    </tr>
  );
}
