import { once } from 'node:events';
import { createServer } from 'node:net';
import WebSocket from 'ws';
import { recordWhatIsShown } from './page.mjs';

/** Opening a recording takes seconds; this is the upper bound. */
const MOST_MS = 60_000;

/** Returns a free port. */
export async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  server.close();
  await once(server, 'close');
  return port;
}

/**
 * Opens a page without Playwright. Playwright makes the browser report all network traffic, including every WebSocket message, which
 * doubles the cost of a page that receives much data. This page reports nothing; it is only queried.
 *
 * @param {number} port The DevTools port of its browser.
 */
export async function plainPage(port) {
  const target = await (await fetch(`http://127.0.0.1:${port}/json/new?about:blank`, { method: 'PUT' })).json();
  const socket = new WebSocket(target.webSocketDebuggerUrl);
  await once(socket, 'open');
  let asked = 0;
  /** @type {Map<number, (answer: any) => void>} */
  const waiting = new Map();
  socket.on('message', (data) => {
    const { id, result, error } = JSON.parse(String(data));
    waiting.get(id)?.(result ?? Promise.reject(new Error(error?.message)));
    waiting.delete(id);
  });

  /** @param {string} method @param {object} [params] @returns {Promise<any>} */
  const ask = (method, params = {}) =>
    new Promise((resolve) => {
      asked += 1;
      waiting.set(asked, resolve);
      socket.send(JSON.stringify({ id: asked, method, params }));
    });

  /** @param {string} expression */
  const evaluated = async (expression) =>
    (await ask('Runtime.evaluate', { expression, returnByValue: true })).result.value;

  await ask('Page.enable');
  await ask('Emulation.setDeviceMetricsOverride', { width: 1280, height: 720, deviceScaleFactor: 1, mobile: false });
  await ask('Page.addScriptToEvaluateOnNewDocument', { source: `(${recordWhatIsShown})()` });
  return {
    /** @param {string} url */
    goTo: (url) => ask('Page.navigate', { url }),
    /** Returns when the cursor reached an entry, in milliseconds since the epoch. @param {number} entry @returns {Promise<number>} */
    async shownAt(entry) {
      let last = -1;
      /** @type {NodeJS.Timeout | undefined} */
      let timer;
      /** @type {Promise<never>} */
      const tooLate = new Promise((_, reject) => {
        timer = setTimeout(() => {
          const where = last < 0 ? 'no entry' : `entry ${last}`;
          reject(
            new Error(
              `The page shows ${where} after ${MOST_MS / 1_000} s; expected ${entry}. Check that it opens in a browser.`,
            ),
          );
        }, MOST_MS);
      });
      try {
        for (;;) {
          const seen = await Promise.race([evaluated('window.seen?.positions.at(-1)'), tooLate]);
          const [shown, at] = seen ?? [-1, 0];
          if (shown >= entry) return at;
          last = shown;
          await new Promise((resolve) => setTimeout(resolve, 50));
        }
      } finally {
        clearTimeout(timer);
      }
    },
    async close() {
      await ask('Page.close').catch(() => {});
      socket.close();
    },
  };
}
