import './help.css';
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { type Key, knownKeys } from '../../ui-state/keys.ts';

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

/** The legend of the chart and the timeline. */
function Legend() {
  return (
    <section class="legend" aria-label="Legend">
      <h3>Legend</h3>
      <dl>
        <Sign words="active state">
          <rect class="stands" x="3" y="3" width="26" height="12" rx="3" />
          <circle class="filled" cx="29" cy="3" r="3" />
        </Sign>
        <Way words="transition taken" look="way" />
        <Way words="latest transition" look="way made" />
        <Way words="one not taken yet" look="way rest" />
        <Sign words="initial state">
          <circle class="grey" cx="10" cy="5" r="3" />
          <path class="way rest" d="M12 7l8 8" />
        </Sign>
        <Way words="on an external event, a timeout or an error" look="way rest dashed" />
        <Sign words="a Yield decision, on the timeline">
          <path class="decision" d="M16 3l5 6-5 6-5-6z" />
        </Sign>
        <Sign words="an event was sent to the run">
          <path class="sent" d="M10 4h12l-6 10z" />
        </Sign>
      </dl>
    </section>
  );
}

/** A line, as the chart draws a transition. */
function Way({ words, look }: { readonly words: string; readonly look: string }) {
  return (
    <Sign words={words}>
      <path class={look} d="M2 9h26" />
    </Sign>
  );
}

function Sign({ words, children }: { readonly words: string; readonly children: ComponentChildren }) {
  return (
    <div>
      <dt>
        <svg width="34" height="18" viewBox="0 0 34 18" aria-hidden="true">
          {children}
        </svg>
      </dt>
      <dd>{words}</dd>
    </div>
  );
}
