import { h, render } from 'preact';
import '../../../../inspector/page.css';
import { Page } from '../../../../inspector/page.tsx';
import { createInspector, type Inspector } from '../../../../inspector/shown/inspector.ts';
import { overlayOf } from '../../../../inspector/shown/overlay.ts';
import { shownPanel } from '../../../../inspector/shown/panel.ts';
import type { PageEar, PageSource } from '../../../../inspector/wire/page-source.ts';
import type { HeldRun } from '../runs-page.ts';

/** The page on runs that it finds beside it, as a server would give them. The test reaches in through `window.rig`. */
async function start(): Promise<void> {
  const held = (await (await fetch('runs.json')).json()) as readonly HeldRun[];
  let ear: PageEar | null = null;
  const source: PageSource = {
    start(heard) {
      ear = heard;
      ear.connection('open');
      ear.runs(
        held.map(({ run }) => run),
        null,
      );
    },
    open(runId) {
      const found = held.find(({ run }) => run.runId === runId);
      setTimeout(() => {
        if (found === undefined) return;
        ear?.charts(runId, found.charts);
        ear?.entries(runId, 0, found.lines);
        ear?.end(runId, null);
      });
    },
    close: () => {},
    send: async () => null,
    test: async (runId) =>
      held.find(({ run }) => run.runId === runId)?.test ?? { text: '', problem: `There is no test of ${runId}.` },
  };
  const inspector = createInspector(source);
  shownPanel.value = 'compare';
  Object.assign(window, { rig: { inspector, overlay: overlayOf(inspector) } });
  const root = document.getElementById('page');
  if (root !== null) render(h(Page, { inspector }), root);
}

export type Rig = { readonly inspector: Inspector; readonly overlay: ReturnType<typeof overlayOf> };

void start();
