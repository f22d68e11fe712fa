/**
 * The process of one contender: measures once per message. `race` starts it with the contender's module. It does not collect garbage
 * between measurements: that would shrink the young generation, and the next measurement would include the heap growing back.
 */
const [, , contender = ''] = process.argv;
const { measure } = await import(contender);

process.on('message', async (options) => {
  try {
    process.send?.({ measured: await measure(options) });
  } catch (error) {
    process.send?.({ failed: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  }
});
process.send?.({ ready: true });
