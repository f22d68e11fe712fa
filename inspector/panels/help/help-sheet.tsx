import './help.css';
import { type Key, knownKeys } from '../../ui-state/keys.ts';
import { Dialog } from '../head/dialog.tsx';

const GROUPS: readonly Key['group'][] = ['List', 'Move', 'Trace', 'Panels', 'Chart', 'Page'];

export function HelpSheet({ onClose }: { readonly onClose: () => void }) {
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
