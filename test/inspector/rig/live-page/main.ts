import { h, render } from 'preact';
import '../../../../inspector/page.css';
import { Page } from '../../../../inspector/page.tsx';
import { keepInAddress } from '../../../../inspector/shown/address.ts';
import { createInspector, type Inspector } from '../../../../inspector/shown/inspector.ts';
import type { PageEar, PageSource } from '../../../../inspector/wire/page-source.ts';

declare global {
  interface Window {
    /** What a test tells the page. */
    ear: PageEar;
    /** What a test does as a reader would. */
    inspector: Inspector;
    /** What the page tells a test. */
    sendToTest(runId: string, event: unknown): Promise<string | null>;
  }
}

const source: PageSource = {
  start(ear) {
    window.ear = ear;
  },
  open: () => {},
  close: () => {},
  send: (runId, event) => window.sendToTest(runId, event),
  test: async () => ({ text: '', problem: 'none is made here' }),
};

const inspector = createInspector(source);
window.inspector = inspector;
keepInAddress(inspector);
// Not as JSX: the tests' own is React's.
render(h(Page, { inspector }), document.getElementById('page') ?? document.body);
