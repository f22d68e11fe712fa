import type { RunCharts } from '../../../src/inspection/wire.ts';
import type { Coverage } from '../../fold/coverage.ts';
import { stateName } from '../../ui-state/state-name.ts';

interface NeverTakenProps {
  readonly charts: RunCharts;
  readonly coverage: Coverage;
}

/** How many transitions were taken, and which were not. */
export function NeverTaken({ charts: { charts }, coverage: { takenCount, all, neverTaken } }: NeverTakenProps) {
  return (
    <>
      <p>
        <strong>
          {takenCount} of {all}
        </strong>{' '}
        transitions taken{' '}
        <meter min={0} max={all} value={takenCount} aria-label="Transitions taken">
          {takenCount} of {all}
        </meter>
      </p>
      {charts.map(({ id, transitions }) => {
        const missing = [...(neverTaken[id] ?? [])];
        return (
          <details key={id} class="never-taken">
            <summary>
              {id}: {missing.length === 0 ? 'all taken' : `${missing.length} never taken`}
            </summary>
            {missing.length > 0 && (
              <table>
                <thead>
                  <tr>
                    {['From', 'Event', 'Guard', 'To'].map((title) => (
                      <th key={title} scope="col">
                        {title}
                      </th>
                    ))}
                  </tr>
                </thead>
                <tbody>
                  {missing.map((place) => {
                    const { source, event, guard, otherwise, target } = transitions[place] ?? NO_TRANSITION;
                    return (
                      <tr key={place}>
                        <td title={source}>{stateName(source)}</td>
                        <td>{event === '' ? <span class="muted">at once</span> : event}</td>
                        <td>{guard ?? <span class="muted">{otherwise ? 'else' : '–'}</span>}</td>
                        <td title={target.join(', ')}>{target.map(stateName).join(', ') || '–'}</td>
                      </tr>
                    );
                  })}
                </tbody>
              </table>
            )}
          </details>
        );
      })}
    </>
  );
}

const NO_TRANSITION = { source: '', event: '', guard: null, otherwise: false, target: [] };
