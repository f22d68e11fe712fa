import { batch, effect, signal } from '@preact/signals';
import { type ChartSelection, isSelectionKind, type Selection } from '../fold/selection.ts';
import { chartSelection } from './chart-selection.ts';
import type { Inspector } from './inspector.ts';
import { activePanel, comparedWith, isRunView, type PanelName, RUN_VIEWS, STEP_TABS } from './panel.ts';

const isPanel = (name: unknown): name is PanelName => [...STEP_TABS, ...RUN_VIEWS].some((panel) => panel.name === name);

/**
 * What the page shows, as written after the `#` of its address: `/` is the list of runs, `/run/ID` a run, and
 * `/run/ID/SEQ` a run with the cursor at an entry; `?panel=why` follows, with the selection and what a view adds.
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

/** The selected step, by its kind and first entry; `step=state-12-ID` also names a state. Null if there is none, or it is invalid. */
export function parseStep({ step = '' }: Parameters, to: number | null): Selection | null {
  const [, kind = '', from = '', stateId] = /^([a-z]+)-(\d{1,15})(?:-(.*))?$/su.exec(step) ?? [];
  if (!isSelectionKind(kind) || to === null || Number(from) > to) return null;
  return { kind, from: Number(from), to, ...(stateId !== undefined && { stateId }) };
}

export const printStep = ({ kind, from, stateId }: Selection): Parameters => ({
  step: `${kind}-${from}${stateId === undefined ? '' : `-${stateId}`}`,
});

/** What is selected in the chart: a state, or the transitions of a line. */
export function parseChartSelection({ chart: chartId, state: stateId, lines }: Parameters): ChartSelection | null {
  if (chartId === undefined) return null;
  if (stateId !== undefined) return { kind: 'state', chartId, stateId };
  const transitions = lines?.split('-').map(Number).filter(Number.isSafeInteger) ?? [];
  return transitions.length === 0 ? null : { kind: 'transitions', chartId, transitions };
}

export const printChartSelection = (selected: ChartSelection): Parameters => ({
  chart: selected.chartId,
  ...(selected.kind === 'state' ? { state: selected.stateId } : { lines: selected.transitions.join('-') }),
});

function runParameters({ held }: Inspector): Parameters {
  const [step, marked, panel] = [held.value, chartSelection.value, activePanel.value];
  return {
    ...(step !== null && printStep(step)),
    ...(marked !== null && printChartSelection(marked)),
    ...(panel === 'compare' && comparedWith.value !== null && { with: comparedWith.value }),
  };
}

/** The search, filters and order of the list of runs. Leaving the list clears them. */
export const addressParameters = signal<Parameters>({});

/** The values that add an address to the history when they change. */
interface Choice {
  readonly runId: string | null | undefined;
  readonly chosen: unknown;
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
    const step = parseStep(parameters, seq);
    const choice = runId && step !== null ? { runId, selection: step } : null;
    // Before the effect below runs: a value from the address is not a choice of the user.
    const shown = panel ?? activePanel.peek();
    written = { runId: runId === undefined ? selectedRunId.peek() : runId, chosen: choice, view: viewOf(shown) };
    batch(() => {
      if (runId !== undefined) selectRun(runId);
      cursor.value = seq;
      chosen.value = choice;
      if (panel !== null) activePanel.value = panel;
      if (runId) {
        chartSelection.value = parseChartSelection(parameters);
        if (panel === 'compare') comparedWith.value = parameters['with'] ?? comparedWith.peek();
      } else addressParameters.value = parameters;
    });
  }

  function address(): string {
    const [runId, panel] = [selectedRunId.value ?? null, activePanel.value];
    return runId === null
      ? printAddress({ runId, seq: null, panel: null, parameters: addressParameters.value })
      : printAddress({ runId, seq: cursor.value, panel, parameters: runParameters(inspector) });
  }

  function write(how: 'pushState' | 'replaceState'): void {
    clearTimeout(timer);
    const runId = selectedRunId.value;
    if (written?.runId !== undefined && written.runId !== runId) addressParameters.value = {};
    written = { runId, chosen: chosen.value, view: viewOf(activePanel.value) };
    const now = address();
    if (now !== location.hash) history[how](null, '', now);
  }

  read();
  effect(() => {
    const now: Choice = { runId: selectedRunId.value, chosen: chosen.value, view: viewOf(activePanel.value) };
    void address();
    if (now.runId === undefined) return;
    const before = written?.runId === undefined ? now : written;
    const isChoice = now.runId !== before.runId || now.chosen !== before.chosen || now.view !== before.view;
    clearTimeout(timer);
    // One address in the history for everything that a click changes.
    if (isChoice) queueMicrotask(() => write('pushState'));
    else timer = setTimeout(() => write('replaceState'), WRITE_MS);
  });
  // A pasted link changes the hash only.
  addEventListener('popstate', read);
  addEventListener('hashchange', read);
}
