import { useState } from 'preact/hooks';
import type { RunCharts } from '../../../src/inspection/wire.ts';
import { duration, grouped } from '../../fold/number-words.ts';
import { type Measure, NOTHING } from '../../fold/state-measures.ts';
import { MEASURES, type MeasureName } from '../../ui-state/overlay.ts';
import { stateName } from '../../ui-state/state-name.ts';
import { Icon } from '../icon.tsx';

type Column = MeasureName | 'chart';

interface MeasureTableProps {
  readonly charts: RunCharts;
  readonly measures: Readonly<Record<string, ReadonlyMap<string, Measure>>>;
}

/** All states, each chart by itself; sorted by any of the measures. Those that were never visited keep their rows. */
export function MeasureTable({ charts: { charts }, measures }: MeasureTableProps) {
  const [by, setBy] = useState<Column>('chart');
  return (
    <table class="measure-table">
      <caption class="unseen">What went on in each state</caption>
      <thead>
        <tr>
          <Head title="State" column="chart" by={by} onSort={setBy} />
          {MEASURES.map(({ name, title }) => (
            <Head key={name} title={title} column={name} by={by} onSort={setBy} />
          ))}
        </tr>
      </thead>
      {charts.map(({ id, states }) => {
        const depths = new Map<string | null, number>([[null, -1]]);
        const rows = states.map(({ id: state, parent }) => {
          const depth = (depths.get(parent) ?? -1) + 1;
          depths.set(state, depth);
          return { state, depth, measure: measures[id]?.get(state) ?? NOTHING };
        });
        if (by !== 'chart') rows.sort((left, right) => right.measure[by] - left.measure[by]);
        return (
          <tbody key={id}>
            {rows.map(({ state, depth, measure }) => (
              <tr key={state} class={measure.visits === 0 ? 'muted' : undefined}>
                <th scope="row" class={`depth-${by === 'chart' ? Math.min(depth, 4) : 0}`} title={state}>
                  {by === 'chart' && depth > 0
                    ? (state.split('.').at(-1) ?? state)
                    : depth === 0
                      ? state
                      : stateName(state)}
                </th>
                <td>{duration(measure.ms)}</td>
                <td>{grouped(measure.visits)}</td>
                <Count of={measure.tokens} />
                <Count of={measure.retries} />
                <Count of={measure.failures} />
              </tr>
            ))}
          </tbody>
        );
      })}
    </table>
  );
}

const Count = ({ of }: { readonly of: number }) => <td class={of === 0 ? 'muted' : ''}>{grouped(of)}</td>;

interface HeadProps {
  readonly title: string;
  readonly column: Column;
  readonly by: Column;
  readonly onSort: (column: Column) => void;
}

function Head({ title, column, by, onSort }: HeadProps) {
  const order = column === 'chart' ? 'ascending' : 'descending';
  return (
    <th scope="col" aria-sort={by === column ? order : 'none'}>
      <button type="button" onClick={() => onSort(column)}>
        {title}
        {by === column && <Icon name={order === 'ascending' ? 'up' : 'down'} />}
      </button>
    </th>
  );
}
