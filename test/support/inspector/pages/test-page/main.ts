import { h, render } from 'preact';
import '../../../../../inspector/page.css';
import { Page } from '../../../../../inspector/page.tsx';
import { followAddress } from '../../../../../inspector/ui-state/address.ts';
import { createInspector, type Inspector } from '../../../../../inspector/ui-state/inspector.ts';
import type { PageListener, PageSource } from '../../../../../inspector/wire/page-source.ts';
import type { RecordedRun } from '../../inspected-runs.ts';

declare global {
  interface Window {
    /** Lets a test play the server's part. */
    listener: PageListener;
    inspector: Inspector;
    /** Lists these runs; each is loaded when the page opens it. */
    showRuns(runs: readonly RecordedRun[]): void;
    /** Receives the events and actions that the page sends. */
    sendToTest?(runId: string, event: unknown): Promise<string | null>;
  }
}

let recordedRuns: readonly RecordedRun[] = [];
const findRun = (runId: string): RecordedRun | undefined => recordedRuns.find(({ run }) => run.runId === runId);

/** Runs that the address named before they were listed. */
const pending = new Set<string>();

const source: PageSource = {
  start(listener) {
    window.listener = listener;
  },
  open(runId) {
    const found = findRun(runId);
    setTimeout(() => {
      if (found === undefined) return void pending.add(runId);
      window.listener.charts(runId, found.charts);
      window.listener.entries(runId, 0, found.lines);
      window.listener.end(runId, null);
    });
  },
  send: async (runId, event) => (await window.sendToTest?.(runId, event)) ?? null,
  test: async (runId) => findRun(runId)?.test ?? { text: '', problem: `There is no test of ${runId}.` },
  async act(runId, action) {
    const problem = (await window.sendToTest?.(runId, action)) ?? null;
    return { runId: null, note: '', needsTrust: null, problem };
  },
  remove: async () => null,
  exportRun: async () => ({ html: '', notes: [], problem: null }),
  whatIf: async () => ({ results: [], leftOut: 0, problem: 'There is no server.' }),
};

const inspector = createInspector(source);
window.inspector = inspector;
window.showRuns = (runs) => {
  recordedRuns = runs;
  window.listener.connection('open');
  window.listener.runs(
    runs.map(({ run }) => run),
    runs[0]?.run.runId ?? null,
    0,
  );
  for (const runId of pending) source.open(runId);
  pending.clear();
};
followAddress(inspector);
// Not JSX: in tests, JSX compiles to React.
render(h(Page, { inspector }), document.getElementById('page') ?? document.body);
