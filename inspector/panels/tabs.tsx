import { PANELS, shownPanel } from '../ui-state/panel.ts';

const STEPS: Readonly<Record<string, number>> = { ArrowRight: 1, ArrowLeft: -1 };

/** The names of the panels; arrow keys go from one to the next. */
export function Tabs() {
  const shown = PANELS.findIndex(({ name }) => name === shownPanel.value);

  function move(event: KeyboardEvent & { readonly currentTarget: HTMLElement }): void {
    const step = STEPS[event.key];
    const next = PANELS.at((shown + (step ?? 0)) % PANELS.length);
    if (step === undefined || next === undefined) return;
    event.preventDefault();
    shownPanel.value = next.name;
    event.currentTarget.querySelector<HTMLElement>(`#tab-${next.name}`)?.focus();
  }

  return (
    <div class="tabs" role="tablist" aria-label="Details" onKeyDown={move}>
      {PANELS.map(({ name, title }, place) => (
        <button
          key={name}
          type="button"
          role="tab"
          id={`tab-${name}`}
          aria-selected={place === shown}
          aria-controls="panel"
          tabIndex={place === shown ? 0 : -1}
          onClick={() => {
            shownPanel.value = name;
          }}
        >
          {title}
        </button>
      ))}
    </div>
  );
}
