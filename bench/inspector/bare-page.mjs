import { noteWhatIsShown } from './page.mjs';

const POLL_MS = 25;
const MAX_POLLS = 2_400;

/**
 * Opens a page that is driven by nothing but its script: a page of Playwright's hands every message of its sockets on to the test, which takes
 * about as long as to receive it. Gives when the cursor stood at which entry, by milliseconds since the epoch, once it stands at this one.
 *
 * @param {import('playwright-core').Browser} browser
 * @param {string} url
 * @param {number} entry
 * @returns {Promise<readonly [number, number][]>}
 */
export async function openBarePage(browser, url, entry) {
  const cdp = await browser.newBrowserCDPSession();
  const { targetId } = await cdp.send('Target.createTarget', { url: 'about:blank' });
  try {
    const { sessionId } = await cdp.send('Target.attachToTarget', { targetId, flatten: false });
    /** @type {Map<number, (result: any) => void>} */
    const waiting = new Map();
    cdp.on('Target.receivedMessageFromTarget', ({ message }) => {
      const { id, result } = JSON.parse(message);
      waiting.get(id)?.(result);
      waiting.delete(id);
    });
    let asked = 0;
    const send = (/** @type {string} */ method, /** @type {object} */ params = {}) => {
      asked += 1;
      const id = asked;
      void cdp.send('Target.sendMessageToTarget', { sessionId, message: JSON.stringify({ id, method, params }) });
      return new Promise((resolve) => waiting.set(id, resolve));
    };
    await send('Emulation.setDeviceMetricsOverride', { width: 1280, height: 720, deviceScaleFactor: 1, mobile: false });
    await send('Page.enable');
    await send('Page.addScriptToEvaluateOnNewDocument', { source: `(${noteWhatIsShown})()` });
    await send('Page.navigate', { url });
    const evaluate = async (/** @type {string} */ expression) =>
      (await send('Runtime.evaluate', { expression, returnByValue: true })).result.value;
    for (let polls = 0; polls < MAX_POLLS; polls += 1) {
      if ((await evaluate('window.seen?.positions.at(-1)?.[0] ?? -1')) >= entry)
        return evaluate('window.seen.positions');
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
    throw new Error(`the page never stood at entry ${entry}`);
  } finally {
    await cdp.send('Target.closeTarget', { targetId });
    await cdp.detach();
  }
}
