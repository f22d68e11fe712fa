import { render } from 'preact';
import './page.css';
import { TOKEN_KEY } from '../src/inspection/wire.ts';
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
  if (embedded !== null) return fileSource(embedded);
  keepToken(page.location);
  return socketSource(socketAddress(page.location));
}

/** Stores the token for the next visit. Not in a cookie, because every port of this host would receive it. */
function keepToken({ pathname }: Location): void {
  const [, token = ''] = pathname.split('/');
  try {
    localStorage.setItem(TOKEN_KEY, token);
  } catch {
    // The browser keeps no data.
  }
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
