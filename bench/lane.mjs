/** A process of one contender: measures once for each message. `race` starts it with the contender's module. */
const [, , contender = ''] = process.argv;
const { measure } = await import(contender);
const collectGarbage = /** @type {{ gc?: () => void }} */ (globalThis).gc ?? (() => {});

process.on('message', async (options) => {
  try {
    collectGarbage();
    process.send?.({ measured: await measure(options) });
  } catch (error) {
    process.send?.({ failed: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  }
});
process.send?.({ ready: true });
