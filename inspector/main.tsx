import { render } from 'preact';
import './page.css';
import { addDrawings } from './chart/layout.ts';
import { revealHidden } from './fold/text.ts';
import { Page } from './page.tsx';
import { followAddress } from './ui-state/address.ts';
import { createInspector } from './ui-state/inspector.ts';
import { embeddedRun, fileSource, type PageSource, socketSource } from './wire/page-source.ts';

/** The address of the server's socket: next to the page, under the same token. */
function socketAddress({ protocol, host, pathname }: Location): string {
  return `${protocol === 'https:' ? 'wss' : 'ws'}://${host}${pathname.replace(/[^/]*$/u, '')}socket`;
}

/** A truncated file may lack the root element, but always has a body. */
const root = document.getElementById('page') ?? document.body;

async function sourceOf(page: Document): Promise<PageSource> {
  const embedded = embeddedRun(page);
  if (embedded !== null) return fileSource(embedded, addDrawings);
  return socketSource(socketAddress(page.location));
}

async function start(element: HTMLElement): Promise<void> {
  try {
    const inspector = createInspector(await sourceOf(document));
    followAddress(inspector);
    render(<Page inspector={inspector} />, element);
  } catch (error) {
    render(<p role="alert">{revealHidden(error instanceof Error ? error.message : String(error))}</p>, element);
  }
}

void start(root);
