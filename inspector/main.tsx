import { render } from 'preact';
import './page.css';
import { Page } from './page.tsx';
import { keepInAddress } from './ui-state/address.ts';
import { createInspector } from './ui-state/inspector.ts';
import { visible } from './ui-state/text.ts';
import { carriedRun, fileSource } from './wire/file-source.ts';
import type { PageSource } from './wire/page-source.ts';
import { socketAddress, socketSource } from './wire/socket-source.ts';

/** A file that was cut off may end before the place for the page: the body is there whatever is missing. */
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
