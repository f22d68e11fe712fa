import { h, render } from 'preact';
import '../../../../../inspector/page.css';
import { Page } from '../../../../../inspector/page.tsx';
import { followAddress } from '../../../../../inspector/ui-state/address.ts';
import { createInspector, type Inspector } from '../../../../../inspector/ui-state/inspector.ts';
import type { PageListener, PageSource } from '../../../../../inspector/wire/page-source.ts';
import type { PageRequest } from '../../../../../src/inspection/page-messages.ts';
import type { RequestResult } from '../../../../../src/inspection/wire.ts';
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

async function replyTo(sent: PageRequest): Promise<RequestResult<unknown>> {
  if (sent.type === 'export') return { result: { html: '', notes: [] }, problem: null };
  if (sent.type === 'remove' || sent.type === 'repair') return { result: null, problem: null };
  const event = sent.type === 'send' ? sent.event : sent.action;
  const problem = (await window.sendToTest?.(sent.runId, event)) ?? null;
  return { result: null, problem } as RequestResult<unknown>;
}

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
  request: async (sent) => (await replyTo(sent)) as RequestResult<never>,
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
