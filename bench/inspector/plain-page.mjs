import { once } from 'node:events';
import { createServer } from 'node:net';
import WebSocket from 'ws';
import { noteWhatIsShown } from './page.mjs';

/** A recording is there within seconds. */
const MOST_MS = 60_000;

/** A port that nobody has. */
export async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  server.close();
  await once(server, 'close');
  return port;
}

/**
 * A page as a person has it. Playwright has the browser tell it of all that comes by the network, each message of a socket included: that
 * costs a page which is sent much as much again. This one tells nothing: it is only asked.
 *
 * @param {number} port that its browser listens to
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
  await ask('Page.addScriptToEvaluateOnNewDocument', { source: `(${noteWhatIsShown})()` });
  return {
    /** @param {string} url */
    goTo: (url) => ask('Page.navigate', { url }),
    /** Milliseconds since the epoch at which it stood at an entry. @param {number} entry @returns {Promise<number>} */
    async stoodAt(entry) {
      let last = -1;
      /** @type {NodeJS.Timeout | undefined} */
      let timer;
      /** @type {Promise<never>} */
      const tooLate = new Promise((_, reject) => {
        timer = setTimeout(() => {
          const where = last < 0 ? 'The page showed no entry' : `The page stood at entry ${last}`;
          reject(
            new Error(`${where} after ${MOST_MS / 1_000} s, wanted ${entry}: look whether it opens in a browser.`),
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
