import { DBOS } from '@dbos-inc/dbos-sdk';
import pg from 'pg';
import { customerAt } from './machine.mjs';
import { atRate, memory, repeatFor } from './tasks.mjs';

const QUEUE = 'orders';
/** How many workflows of the queue a process executes at a time. It claims as many as it has room for at each poll. */
const WORKER_CONCURRENCY = 200;
/** A shorter interval than the default of one second, which would limit the rate. */
const POLL_MS = 50;

const step = (/** @type {string} */ name) => DBOS.runStep(async () => `${name}-done`, { name });

const runs = DBOS.registerWorkflow(
  async () => {
    await step('reserve');
    await step('charge');
    await step('pack');
  },
  { name: 'runs' },
);

const openOrder = DBOS.registerWorkflow(
  async () => {
    for (let total = 0; ; ) {
      const line = /** @type {{ price: number, reply: string } | null} */ (
        await DBOS.recv('line', { timeoutSeconds: 604_800 })
      );
      if (line === null) return;
      total += line.price;
      await DBOS.setEvent(line.reply, total);
    }
  },
  { name: 'open' },
);

const delayedOrder = DBOS.registerWorkflow(() => step('remind'), { name: 'delayed' });

/**
 * @param {{ url: string, pool: number, number: number }} options
 * @returns {Promise<import('./processes.mjs').Tasks>}
 */
export async function open({ url, pool: max, number: own }) {
  DBOS.setConfig({
    name: 'bench',
    systemDatabaseUrl: url,
    systemDatabasePool: new pg.Pool({ connectionString: url, max }),
    applicationVersion: '1',
    executorID: `w${own}`,
    logLevel: 'error',
  });
  await DBOS.launch();
  await DBOS.registerQueue(QUEUE, { workerConcurrency: WORKER_CONCURRENCY, minPollingIntervalMs: POLL_MS });
  let opened = 0;
  let sent = 0;
  const send = async (/** @type {number} */ number) => {
    const id = `open-${own}-${number % opened}`;
    const reply = `${own}-${sent++}`;
    await DBOS.send(id, { price: 1, reply }, 'line');
    await DBOS.getEvent(id, reply);
  };
  const attributesOf = (/** @type {number} */ number) => ({ customer: customerAt(number) });
  return {
    runs: ({ forMs }) =>
      repeatFor(forMs, async (number) => {
        const workflowID = `run-${own}-${forMs}-${number}`;
        const started = await DBOS.startWorkflow(runs, { workflowID, workflowAttributes: attributesOf(number) })();
        await started.getResult();
      }),
    starts: async ({ forMs }) => {
      opened = await repeatFor(forMs, (number) =>
        DBOS.startWorkflow(openOrder, {
          workflowID: `open-${own}-${number}`,
          workflowAttributes: attributesOf(number),
        })(),
      );
      return opened;
    },
    delayed: ({ forMs }) =>
      repeatFor(forMs, (number) =>
        DBOS.startWorkflow(delayedOrder, {
          workflowID: `due-${own}-${number}`,
          queueName: QUEUE,
          enqueueOptions: { delaySeconds: 3_600 },
          workflowAttributes: attributesOf(number),
        })(),
      ),
    sends: ({ forMs }) => repeatFor(forMs, send),
    latencies: (load) => atRate(load, send),
    async work() {},
    async rest() {},
    list: () => DBOS.listWorkflows({ limit: 50, sortDesc: true }).then(({ length }) => length),
    where: (attributes) => DBOS.listWorkflows({ attributes, limit: 50, sortDesc: true }).then(({ length }) => length),
    async remove() {
      let count = 0;
      for (;;) {
        const ended = await DBOS.listWorkflows({
          status: 'SUCCESS',
          limit: 1_000,
          loadInput: false,
          loadOutput: false,
        });
        if (ended.length === 0) return count;
        await DBOS.deleteWorkflows(ended.map(({ workflowID }) => workflowID));
        count += ended.length;
      }
    },
    memory,
  };
}
