import { render } from 'preact';
import './page.css';
import { Page } from './page.tsx';
import { createInspector } from './ui-state/inspector.ts';
import { keepInAddress } from './ui-state/panel.ts';
import { visible } from './ui-state/text.ts';
import { carriedRun, fileSource, type PageSource, socketAddress, socketSource } from './wire/page-source.ts';

/** A truncated file may lack the root element, but always has a body. */
const root = document.getElementById('page') ?? document.body;

async function sourceOf(page: Document): Promise<PageSource> {
  const carried = carriedRun(page);
  return carried === null ? socketSource(socketAddress(page.location)) : fileSource(carried);
}

async function start(element: HTMLElement): Promise<void> {
  try {
    const inspector = createInspector(await sourceOf(document));
    keepInAddress(inspector);
    render(<Page inspector={inspector} />, element);
  } catch (error) {
    render(<p role="alert">{visible(error instanceof Error ? error.message : String(error))}</p>, element);
  }
}

void start(root);
