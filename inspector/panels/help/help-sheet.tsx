import './help.css';
import type { ComponentChildren } from 'preact';
import { type Key, knownKeys } from '../../ui-state/keys.ts';
import { Dialog } from '../head/dialog.tsx';

const GROUPS: readonly Key['group'][] = ['List', 'Move', 'Trace', 'Panels', 'Chart', 'Page'];

export function HelpSheet({ hasLegend, onClose }: { readonly hasLegend: boolean; readonly onClose: () => void }) {
  return (
    <Dialog title="Keys" class="help" onClose={onClose}>
      <div class="help-parts">
        {GROUPS.map((group) => {
          const keys = knownKeys.filter((key) => key.group === group);
          if (keys.length === 0) return null;
          return (
            <section key={group} aria-label={group}>
              <h3>{group === 'Chart' || group === 'Trace' ? `${group}, with the focus on it` : group}</h3>
              <dl>
                {keys.map(({ keys: names, description }) => (
                  <div key={description} class="labeled">
                    <dt class="row">
                      {names.map((name) => (
                        <kbd key={name}>{keyLabel(name)}</kbd>
                      ))}
                    </dt>
                    <dd>{description}</dd>
                  </div>
                ))}
              </dl>
            </section>
          );
        })}
        {hasLegend && <Legend />}
      </div>
    </Dialog>
  );
}

function keyLabel(name: string): string {
  if (name === ' ') return 'Space';
  return name
    .replace('Arrow', '')
    .replace('Page', 'Page ')
    .replace('+', name.length > 1 ? ' ' : '+');
}

const BOX = <rect class="box" x="3" y="3" width="26" height="12" rx="4" />;
const LINE = <path class="line" d="M2 9h26" />;

/** Drawn with the classes of the chart. */
const LEGEND: Readonly<Record<string, ComponentChildren>> = {
  'active state': <g class="leaf">{BOX}</g>,
  'failed state, or failed calls in it': <g class="failed">{BOX}</g>,
  'initial state': (
    <>
      {BOX}
      <circle class="initial" cx="4" cy="4" r="4" />
    </>
  ),
  'state with an inside': (
    <g class="fold">
      <path d="M11 9h10M16 4v10" />
    </g>
  ),
  'transition taken': <g class="taken">{LINE}</g>,
  'latest transition': <g class="taken last">{LINE}</g>,
  'transition not taken up to the selected step': LINE,
  'triggered by an external event, a timeout or an error': <g class="outside">{LINE}</g>,
  'how often a transition was taken in the whole run': (
    <text x="16" y="9">
      {'×4'}
    </text>
  ),
  'other transitions on the same line': (
    <text x="16" y="9">
      {'+2'}
    </text>
  ),
  'idle time, shortened in the trace': <rect x="2" y="3" width="26" height="12" fill="var(--line)" />,
};

function Legend() {
  return (
    <section class="legend" aria-label="Legend">
      <h3>Legend</h3>
      <dl>
        {Object.entries(LEGEND).map(([words, drawing]) => (
          <div key={words} class="labeled">
            <dt>
              <svg class="chart-picture" width="34" height="18" viewBox="0 0 34 18" aria-hidden="true">
                {drawing}
              </svg>
            </dt>
            <dd>{words}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
