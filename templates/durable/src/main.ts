import { once } from 'node:events';
import { createWorker, PostChainError } from 'postchain/durable';
import { decide, orders } from './orders.ts';

const [command, id = '', euros = ''] = process.argv.slice(2);

if (command === 'place' && Number(euros) > 0) {
  try {
    const actor = orders.start(id, { input: { orderId: id, euros: Number(euros) } });
    // It waits for days, so it leaves memory.
    await actor.park();
    console.log(`The order "${id}" waits for an answer: npm start -- approve ${id}`);
  } catch (error) {
    // For example, the order already exists.
    if (!PostChainError.isInstance(error)) throw error;
    console.error(error.message);
    process.exitCode = 1;
  }
} else if (command === 'approve' || command === 'deny') {
  const isDecided = await decide(orders, id, command);
  if (isDecided) console.log(`The answer "${command}" to the order "${id}" is stored.`);
  else console.error(`The order "${id}" does not wait for an answer.`);
  process.exitCode = isDecided ? 0 : 1;
} else if (command === 'list') {
  for (const { id, status, waiting } of await orders.list()) {
    const due = waiting?.dueAtMs ? `, until ${new Date(waiting.dueAtMs).toLocaleString()}` : '';
    console.log(`${id}: ${status}${due}`);
  }
} else if (command === 'work') {
  // Continues orders with a due timer, and those whose process died. Several workers may share the directory.
  const worker = createWorker({ hosts: [orders], onEvent: (event) => console.log(event) });
  await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
  await worker.stop();
} else {
  console.error('Usage: npm start -- place ID EUROS | approve ID | deny ID | list | work');
  process.exitCode = 2;
}
