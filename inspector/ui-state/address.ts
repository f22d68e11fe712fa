import { batch, effect, signal } from '@preact/signals';
import { type ChartSelection, isSelectionKind, type Selection } from '../fold/selection.ts';
import type { Inspector } from './inspector.ts';
import { chartSelection, comparedRuns, isChartBeside, isChartFull } from './layout.ts';

type Parameters = Readonly<Record<string, string>>;

/**
 * Reads what the page shows, as written after the `#` of its address: `/` is the list of runs, `/run/ID` a run, `/run/ID/SEQ` a run with the
 * cursor at an entry, and `/compare/ID/ID` two runs (the second may be yet to be chosen); the selection follows as parameters. Invalid parts are ignored.
 */
export function parseAddress(hash: string) {
  const [path = '', query = ''] = hash.replace(/^#/u, '').split(/\?(.*)/su);
  const parameters = Object.fromEntries(new URLSearchParams(query));
  const [, kind, id = '', second = ''] = path.split('/');
  const isRun = kind === 'run' && id !== '';
  const pair = [decoded(id), decoded(second)] as const;
  return {
    /** Null is the list of runs; undefined leaves the choice to the server. */
    runId: isRun ? decoded(id) : path === '' ? undefined : null,
    /** Null follows the latest entry. */
    seq: isRun && /^\d{1,15}$/u.test(second) ? Number(second) : null,
    compared: kind === 'compare' && id !== '' ? pair : null,
    parameters,
  };
}

export function printAddress({
  runId,
  seq = null,
  compared = null,
  parameters,
}: Partial<ReturnType<typeof parseAddress>>): string {
  const entry = seq === null ? '' : `/${seq}`;
  const path =
    compared !== null
      ? `/compare/${compared.map(encodeURIComponent).join('/')}`
      : runId
        ? `/run/${encodeURIComponent(runId)}${entry}`
        : '/';
  const query = String(new URLSearchParams(parameters));
  return `#${path}${query === '' ? '' : `?${query}`}`;
}

/** Returns the address of a step with the cursor at its last entry. */
export const stepAddress = (runId: string, step: Selection): string =>
  printAddress({ runId, seq: step.to, parameters: printStep(step) });

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The selected step, by its kind and first entry; `step=state-12-ID` also names a state, `step=entry-6-PATH` a call. Null if there is none, or it is invalid. */
export function parseStep({ step = '' }: Parameters, to: number | null): Selection | null {
  const [, kind = '', from = '', place] = /^([a-z]+)-(\d{1,15})(?:-(.*))?$/su.exec(step) ?? [];
  if (!isSelectionKind(kind) || to === null || Number(from) > to) return null;
  return {
    kind,
    from: Number(from),
    to,
    ...(place !== undefined && { [kind === 'state' ? 'stateId' : 'actor']: place }),
  };
}

const printStep = ({ kind, from, stateId, actor = stateId }: Selection): Parameters => ({
  step: `${kind}-${from}${actor === undefined ? '' : `-${actor}`}`,
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
  const [step, marked] = [held.value, chartSelection.value];
  return {
    ...(step !== null && printStep(step)),
    ...(marked !== null && printChartSelection(marked)),
    ...(isChartFull.value ? { view: 'chart' } : isChartBeside.value && { view: 'both' }),
  };
}

/** The search, filters and order of the list of runs. They stay when a run is opened. */
export const addressParameters = signal<Parameters>({});

/** Browsers limit the changes per second. */
const WRITE_MS = 200;

/**
 * Keeps the address and the page in step: a click can be undone with the Back button, a pasted link and a reload show the same. Moving
 * the cursor and closing the full chart replace the address; choosing a run, a step or the chart adds one to the history.
 */
export function followAddress(inspector: Inspector): void {
  const { selectedRunId, cursor, chosen, selectRun } = inspector;
  /** The values that add an address to the history when they change. */
  const choiceNow = () => ({
    runId: selectedRunId.value,
    chosen: chosen.value,
    isChartFull: isChartFull.value,
    compared: comparedRuns.value?.join() ?? '',
  });

  type Choice = ReturnType<typeof choiceNow>;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let written: Choice | null = null;

  function read(): void {
    const { seq, compared, parameters, ...named } = parseAddress(location.hash);
    // Back to an address without a hash is back to the list, from which a run was opened.
    const isBack = written !== null && selectedRunId.peek() !== undefined;
    const runId = named.runId === undefined && isBack ? null : named.runId;
    const step = parseStep(parameters, seq);
    const choice = runId && step !== null ? { runId, selection: step } : null;
    const showsChart = runId ? parameters['view'] === 'chart' : isChartFull.peek();
    // Before the effect below runs: a value from the address is not a choice of the user.
    written = {
      runId: runId === undefined ? selectedRunId.peek() : runId,
      chosen: choice,
      isChartFull: showsChart,
      compared: compared?.join() ?? '',
    };
    batch(() => {
      if (runId !== undefined) selectRun(runId);
      cursor.value = seq;
      chosen.value = choice;
      comparedRuns.value = compared;
      isChartFull.value = showsChart;
      if (parameters['view'] === 'both') isChartBeside.value = true;
      if (runId) chartSelection.value = parseChartSelection(parameters);
      else addressParameters.value = parameters;
    });
  }

  function address(): string {
    const [runId, compared] = [selectedRunId.value ?? null, comparedRuns.value];
    return runId === null || compared !== null
      ? printAddress({ compared, parameters: addressParameters.value })
      : printAddress({ runId, seq: cursor.value, compared, parameters: runParameters(inspector) });
  }

  function write(how: 'pushState' | 'replaceState'): void {
    clearTimeout(timer);
    written = choiceNow();
    const now = address();
    if (now !== location.hash) history[how](null, '', now);
  }

  read();
  effect(() => {
    const now = choiceNow();
    void address();
    const isList = now.runId === undefined && now.compared === '';
    if (isList && Object.keys(addressParameters.value).length === 0) return;
    const before = written?.runId === undefined && now.compared === '' ? now : (written ?? now);
    const changed = (Object.keys(now) as (keyof Choice)[]).filter((name) => now[name] !== before[name]);
    const isClosed = changed.join() === 'isChartFull' && !now.isChartFull;
    clearTimeout(timer);
    // One address in the history for everything that a click changes.
    if (changed.length > 0) queueMicrotask(() => write(isClosed ? 'replaceState' : 'pushState'));
    else timer = setTimeout(() => write('replaceState'), WRITE_MS);
  });
  // A pasted link changes the hash only.
  addEventListener('popstate', read);
  addEventListener('hashchange', read);
}
