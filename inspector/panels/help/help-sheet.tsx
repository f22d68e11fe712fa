import './help.css';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { type Key, knownKeys } from '../../ui-state/keys.ts';
import { Legend } from './legend.tsx';

const GROUPS: readonly Key['group'][] = ['Move', 'Panels', 'Chart', 'Page'];

/** All keys of the page, and what the chart and the time are drawn with. */
export function HelpSheet({ onClose }: { readonly onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  // Before anything is drawn: the next key is the sheet's already.
  useLayoutEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} class="help" aria-labelledby="help-title" onClose={onClose}>
      <header>
        <h2 id="help-title">Keys</h2>
        <form method="dialog">
          <button type="submit">Close</button>
        </form>
      </header>
      <div class="help-parts">
        {GROUPS.map((group) => {
          const keys = knownKeys.filter((key) => key.group === group);
          if (keys.length === 0) return null;
          return (
            <section key={group} aria-label={group}>
              <h3>{group === 'Chart' ? 'Chart, with the focus on it' : group}</h3>
              <dl>
                {keys.map(({ keys: names, does }) => (
                  <div key={does}>
                    <dt>
                      {names.map((name) => (
                        <kbd key={name}>{keyInWords(name)}</kbd>
                      ))}
                    </dt>
                    <dd>{does}</dd>
                  </div>
                ))}
              </dl>
            </section>
          );
        })}
        <Legend />
      </div>
    </dialog>
  );
}

/** As it is written on a key. */
function keyInWords(name: string): string {
  if (name === ' ') return 'Space';
  return name
    .replace('Arrow', '')
    .replace('Page', 'Page ')
    .replace('+', name.length > 1 ? ' ' : '+');
}
