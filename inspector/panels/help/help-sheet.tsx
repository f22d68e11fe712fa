import './help.css';
import type { ComponentChildren } from 'preact';
import { type Key, knownKeys } from '../../ui-state/keys.ts';
import { Dialog } from '../head/dialog.tsx';

const GROUPS: readonly Key['group'][] = ['Runs', 'Move', 'Trace', 'Panels', 'Chart', 'Page'];

interface HelpSheetProps {
  readonly hasLegend: boolean;
  readonly onClose: () => void;
}

export function HelpSheet({ hasLegend, onClose }: HelpSheetProps) {
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
                  <div key={description}>
                    <dt>
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

const LEGEND: Readonly<Record<string, ComponentChildren>> = {
  'active state': <rect class="state active" x="3" y="3" width="26" height="12" rx="4" />,
  'failed state': <rect class="state failed" x="3" y="3" width="26" height="12" rx="4" />,
  'initial state': (
    <>
      <rect class="state" x="5" y="5" width="24" height="11" rx="4" />
      <circle class="initial" cx="5" cy="5" r="4" />
    </>
  ),
  'state with an inside': <path class="line inside" d="M11 9h10M16 4v10" />,
  'transition taken': <path class="line taken" d="M2 9h26" />,
  'latest transition': <path class="line latest" d="M2 9h26" />,
  'transition not taken yet': <path class="line" d="M2 9h26" />,
  'triggered by an external event, a timeout or an error': <path class="line dashed" d="M2 9h26" />,
  'how often a transition was taken': (
    <text x="6" y="13">
      ×4
    </text>
  ),
  'other transitions on the same line': (
    <text x="6" y="13">
      +2
    </text>
  ),
  'idle time, shortened in the trace': <path class="line" d="M4 14 14 4M11 14 21 4M18 14 28 4" />,
};

function Legend() {
  return (
    <section class="legend" aria-label="Legend">
      <h3>Legend</h3>
      <dl>
        {Object.entries(LEGEND).map(([words, drawing]) => (
          <div key={words}>
            <dt>
              <svg width="34" height="18" viewBox="0 0 34 18" aria-hidden="true">
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
