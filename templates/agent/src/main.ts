import { createInterface } from 'node:readline/promises';
import { extractiveModel } from 'postchain';
import { fileJournals } from 'postchain/node';
import { openaiModel } from 'postchain/openai';
import { createAgent } from './agent.ts';
import { sampleOrders } from './tools.ts';

const { OPENAI_API_KEY, OPENAI_BASE_URL, MODEL = 'gpt-4.1-mini' } = process.env;
const hasModel = Boolean(OPENAI_API_KEY || OPENAI_BASE_URL);
const request = process.argv.slice(2).join(' ');

if (request === '') {
  console.error('Usage: npm start -- "Please refund order A7."');
  process.exit(2);
}
if (!hasModel)
  console.error('OPENAI_API_KEY is not set: the answer is quoted from documents/, and no tool can be called.');

const agent = await createAgent(sampleOrders(), {
  model: hasModel ? openaiModel({ model: MODEL }) : extractiveModel(),
  journals: fileJournals('journals'),
});
const run = agent.run({ request });

for await (const event of run.events) {
  if (event.type === 'approval-asked') {
    const { questionId, digest, capability, arguments: given } = event;
    const decision = (await isApproved(`${capability} ${JSON.stringify(given)}`)) ? 'approve' : 'deny';
    run.send({ type: 'approval.given', questionId, digest, decision });
  }
  if (event.type === 'capability-end') {
    const { capability, success, output, error } = event.result;
    console.error(`${capability}: ${success ? output : error}`);
  }
}

const { answerText, sources, status, notes } = await run.answer;
console.log(answerText);
for (const { path } of sources) console.log(`Source: ${path}`);
if (notes !== '') console.error(`${status}: ${notes}`);

async function isApproved(call: string): Promise<boolean> {
  // Without a terminal, nobody can approve.
  if (!process.stdin.isTTY) return false;
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const reply = await terminal.question(`Run ${call}? [y/N] `);
  terminal.close();
  return reply.trim().toLowerCase() === 'y';
}
