import { batch, effect, signal } from '@preact/signals';
import type { Inspector } from './inspector.ts';
import { activePanel, isPanel, isRunView, type PanelName } from './panel.ts';

/**
 * What the page shows, as written after the `#` of its address: `/` is the list of runs, `/run/ID` a run, and
 * `/run/ID/SEQ` a run with a selected entry; `?panel=why` follows, with what the list of runs or a view adds.
 */
interface Address {
  /** Null is the list of runs; undefined leaves the choice to the server. */
  readonly runId: string | null | undefined;
  /** Null follows the latest entry. */
  readonly seq: number | null;
  readonly panel: PanelName | null;
  readonly parameters: Parameters;
}

type Parameters = Readonly<Record<string, string>>;

/** Reads an address; invalid parts are ignored. Never throws. */
export function parseAddress(hash: string): Address {
  const [path = '', query = ''] = hash.replace(/^#/u, '').split(/\?(.*)/su);
  const { panel, ...parameters } = Object.fromEntries(new URLSearchParams(query));
  const [, kind, id = '', seq = ''] = path.split('/');
  return {
    runId: kind === 'run' && id !== '' ? decoded(id) : path === '' ? undefined : null,
    seq: kind === 'run' && /^\d{1,15}$/u.test(seq) ? Number(seq) : null,
    panel: isPanel(panel) ? panel : null,
    parameters,
  };
}

export function printAddress({ runId, seq, panel, parameters }: Address): string {
  const path = runId ? `/run/${encodeURIComponent(runId)}${seq === null ? '' : `/${seq}`}` : '/';
  const query = String(new URLSearchParams({ ...(panel !== null && { panel }), ...parameters }));
  return `#${path}${query === '' ? '' : `?${query}`}`;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The parts of the address that belong to one view, for example the filter of the list of runs. Going to another run clears them. */
export const addressParameters = signal<Parameters>({});

/** What adds an address to the history when it changes. */
interface Choice {
  readonly runId: string | null | undefined;
  readonly chosen: unknown;
  /** The view of the whole run that is open. */
  readonly view: PanelName | null;
}

const viewOf = (panel: PanelName): PanelName | null => (isRunView(panel) ? panel : null);

/** Browsers limit the changes per second. */
const WRITE_MS = 200;

/**
 * Keeps the address and the page in step: a click can be undone with the Back button, a pasted link and a reload show the same. Moving
 * the cursor replaces the address; choosing a run, a step or a view adds one to the history.
 */
export function followAddress(inspector: Inspector): void {
  const { selectedRunId, cursor, chosen, selectRun } = inspector;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let written: Choice | null = null;

  function read(): void {
    const { runId, seq, panel, parameters } = parseAddress(location.hash);
    // Before the effect below runs: a value from the address is not a choice of the user.
    const shown = panel ?? activePanel.peek();
    written = { runId: runId === undefined ? selectedRunId.peek() : runId, chosen: chosen.peek(), view: viewOf(shown) };
    batch(() => {
      if (runId !== undefined) selectRun(runId);
      cursor.value = seq;
      if (panel !== null) activePanel.value = panel;
      addressParameters.value = parameters;
    });
  }

  function write(how: 'pushState' | 'replaceState'): void {
    clearTimeout(timer);
    const [runId, panel] = [selectedRunId.value, activePanel.value];
    if (written?.runId !== undefined && written.runId !== runId) addressParameters.value = {};
    const address = printAddress({
      runId,
      seq: cursor.value,
      panel: runId === null ? null : panel,
      parameters: addressParameters.value,
    });
    written = { runId, chosen: chosen.value, view: viewOf(panel) };
    if (address !== location.hash) history[how](null, '', address);
  }

  read();
  effect(() => {
    const now: Choice = { runId: selectedRunId.value, chosen: chosen.value, view: viewOf(activePanel.value) };
    void [cursor.value, addressParameters.value];
    if (now.runId === undefined) return;
    const before = written?.runId === undefined ? now : written;
    const isChoice = now.runId !== before.runId || now.chosen !== before.chosen || now.view !== before.view;
    clearTimeout(timer);
    // One address for all that a click changes.
    if (isChoice) queueMicrotask(() => write('pushState'));
    else timer = setTimeout(() => write('replaceState'), WRITE_MS);
  });
  // A pasted link changes the hash only.
  addEventListener('popstate', read);
  addEventListener('hashchange', read);
}
