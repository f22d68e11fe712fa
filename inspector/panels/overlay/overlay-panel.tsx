import { counted } from '../../fold/number-words.ts';
import { MEASURES, marksNeverTaken, overlayOf, overlayScope, shownMeasure } from '../../ui-state/overlay.ts';
import type { PanelProps } from '../panel-props.ts';
import { LoadNewest } from './load-newest.tsx';
import { MeasureTable } from './measure-table.tsx';
import { NeverTaken } from './never-taken.tsx';
import './overlay.css';

/** What went on in each state, to be read here and to be laid over the chart; and the ways that no run took. */
export function OverlayPanel({ inspector, view }: PanelProps) {
  const overlay = overlayOf(inspector);
  const { charts } = view;
  if (charts === null) return <p class="muted">The charts of this run are on their way.</p>;
  const { counted: runs, leftOut } = overlay.runs.value;
  return (
    <div class="overlay-panel">
      <div class="overlay-choices">
        <label>
          Lay over the chart{' '}
          <select
            value={shownMeasure.value ?? ''}
            onChange={({ currentTarget }) => {
              shownMeasure.value = MEASURES.find(({ name }) => name === currentTarget.value)?.name ?? null;
            }}
          >
            <option value="">nothing</option>
            {MEASURES.map(({ name, title }) => (
              <option key={name} value={name}>
                {title.toLowerCase()}
              </option>
            ))}
          </select>
        </label>
        <label>
          Counted{' '}
          <select
            value={overlayScope.value}
            onChange={({ currentTarget }) => {
              overlayScope.value = currentTarget.value === 'loaded' ? 'loaded' : 'run';
            }}
          >
            <option value="run">this run, up to the cursor</option>
            <option value="loaded">all loaded runs, whole</option>
          </select>
        </label>
        <LoadNewest inspector={inspector} />
      </div>
      <p class="muted" role="status">
        {overlayScope.value === 'run' ? 'This run, up to the cursor.' : `${counted(runs, 'run')}, as far as each goes.`}
        {leftOut > 0 && ` ${counted(leftOut, 'run')} on other charts left out.`}
      </p>
      <MeasureTable charts={charts} measures={overlay.measures.value} />
      <section aria-labelledby="never-taken-title">
        <h2 id="never-taken-title">Coverage</h2>
        <label class="overlay-mark">
          <input
            type="checkbox"
            checked={marksNeverTaken.value}
            onChange={({ currentTarget }) => {
              marksNeverTaken.value = currentTarget.checked;
            }}
          />{' '}
          Mark what was never taken in the chart
        </label>
        {overlay.coverage.value !== null && <NeverTaken charts={charts} coverage={overlay.coverage.value} />}
      </section>
    </div>
  );
}
