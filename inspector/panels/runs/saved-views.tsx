import { signal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { addressParameters } from '../../ui-state/address.ts';

interface SavedView {
  readonly name: string;
  /** The parameters of the address. */
  readonly query: string;
}

const STORAGE_KEY = 'postchain-views';

const views = signal<readonly SavedView[]>(storedViews());

function storedViews(): readonly SavedView[] {
  try {
    const stored = JSON.parse(localStorage.getItem(STORAGE_KEY) ?? '[]') as readonly Partial<SavedView>[];
    return stored.map(({ name, query }) => ({ name: String(name), query: String(query) }));
  } catch {
    return [];
  }
}

function keep(next: readonly SavedView[]): void {
  views.value = next;
  try {
    localStorage.setItem(STORAGE_KEY, JSON.stringify(next));
  } catch {
    // Storage may be full or switched off: the views last as long as the page.
  }
}

/** Searches, filters and orders of the list, saved under a name in this browser. */
export function SavedViews() {
  const popover = useRef<HTMLDivElement>(null);

  function save(event: SubmitEvent): void {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const name = String(new FormData(form).get('name') ?? '').trim();
    if (name === '') return;
    const query = String(new URLSearchParams(addressParameters.value));
    keep([...views.value.filter((view) => view.name !== name), { name, query }]);
    form.reset();
  }

  function choose({ query }: SavedView): void {
    addressParameters.value = Object.fromEntries(new URLSearchParams(query));
    popover.current?.hidePopover();
  }

  return (
    <>
      <button type="button" popovertarget="saved-views">
        Views
      </button>
      <div ref={popover} id="saved-views" class="saved-views" popover="auto" role="dialog" aria-label="Saved views">
        {views.value.length === 0 && <p class="muted">No saved views yet.</p>}
        <ul>
          {views.value.map((view) => (
            <li key={view.name} class="row">
              <button type="button" class="link-button" onClick={() => choose(view)}>
                {view.name}
              </button>
              <button
                type="button"
                aria-label={`Delete the view ${view.name}`}
                onClick={() => keep(views.value.filter((one) => one !== view))}
              >
                Delete
              </button>
            </li>
          ))}
        </ul>
        <form class="row" onSubmit={save}>
          <label class="row">
            Name <input name="name" required maxLength={60} autocomplete="off" />
          </label>
          <button type="submit">Save what is shown</button>
        </form>
      </div>
    </>
  );
}
