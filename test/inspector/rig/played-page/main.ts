import { h, render } from 'preact';
import '../../../../inspector/page.css';
import { Page } from '../../../../inspector/page.tsx';
import { createInspector, type Inspector } from '../../../../inspector/ui-state/inspector.ts';
import { type Overlay, overlayOf } from '../../../../inspector/ui-state/overlay.ts';
import { keepInAddress } from '../../../../inspector/ui-state/panel.ts';
import type { PageListener, PageSource } from '../../../../inspector/wire/page-source.ts';
import type { HeldRun } from '../held-run.ts';

declare global {
  interface Window {
    /** What a test tells the page. */
    ear: PageListener;
    /** What a test does as a reader would. */
    inspector: Inspector;
    overlay: Overlay;
    /** Gives the page these runs, as a server would: each when it is opened. */
    hold(runs: readonly HeldRun[]): void;
    /** What the page tells a test. */
    sendToTest?(runId: string, event: unknown): Promise<string | null>;
  }
}

let held: readonly HeldRun[] = [];
const heldOf = (runId: string): HeldRun | undefined => held.find(({ run }) => run.runId === runId);

const source: PageSource = {
  start(ear) {
    window.ear = ear;
  },
  open(runId) {
    const found = heldOf(runId);
    setTimeout(() => {
      if (found === undefined) return;
      window.ear.charts(runId, found.charts);
      window.ear.entries(runId, 0, found.lines);
      window.ear.end(runId, null);
    });
  },
  send: async (runId, event) => (await window.sendToTest?.(runId, event)) ?? null,
  test: async (runId) => heldOf(runId)?.test ?? { text: '', problem: `There is no test of ${runId}.` },
};

const inspector = createInspector(source);
window.inspector = inspector;
window.overlay = overlayOf(inspector);
window.hold = (runs) => {
  held = runs;
  window.ear.connection('open');
  window.ear.runs(
    runs.map(({ run }) => run),
    null,
  );
};
keepInAddress(inspector);
// Not as JSX: the tests' own is React's.
render(h(Page, { inspector }), document.getElementById('page') ?? document.body);
