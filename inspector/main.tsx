import { render } from 'preact';
import './page.css';
import { addDrawings } from './chart/layout.ts';
import { revealHidden } from './fold/text.ts';
import { Page } from './page.tsx';
import { followAddress } from './ui-state/address.ts';
import { createInspector } from './ui-state/inspector.ts';
import { embeddedRun, fileSource, socketSource } from './wire/page-source.ts';

/** A truncated file may lack the root element, but always has a body. */
const root = document.getElementById('page') ?? document.body;

async function start(element: HTMLElement): Promise<void> {
  try {
    const embedded = embeddedRun(document);
    const { protocol, host, pathname } = location;
    // The server's socket is next to the page, under the same token.
    const address = `${protocol === 'https:' ? 'wss' : 'ws'}://${host}${pathname.replace(/[^/]*$/u, '')}socket`;
    const inspector = createInspector(
      embedded === null ? socketSource(address) : await fileSource(embedded, addDrawings),
    );
    followAddress(inspector);
    render(<Page inspector={inspector} />, element);
  } catch (error) {
    render(<p role="alert">{revealHidden(error instanceof Error ? error.message : String(error))}</p>, element);
  }
}

void start(root);
