import { randomUUID } from 'node:crypto';
import { createInterface } from 'node:readline';
import { waitFor } from 'xstate';
import { conversations, hasModel } from './agent.ts';

if (!hasModel)
  console.error(
    'OPENAI_API_KEY is not set: a demo model with fixed rules replies. It finds "order A7", and quotes documents/.',
  );

const request = process.argv.slice(2).join(' ');
if (request === '') {
  // Those that wait for a person, and those whose process was killed.
  const open = await conversations.list({ status: ['waiting', 'interrupted'] });
  if (open.length === 0) {
    console.error('No conversation to continue. Usage: npm start -- "Please refund order A7."');
    process.exitCode = 2;
  }
  for (const { id, title } of open) await talk(id, title);
} else {
  await talk(randomUUID().slice(0, 8), request);
}

/** Starts the conversation with this id, or continues it. */
async function talk(id: string, request: string): Promise<void> {
  const actor = await conversations.open(id, { input: { request } });
  console.error(`Conversation ${id}: ${request}`);
  actor.ref.subscribe(({ value }) => console.error(`- ${value}`));
  await waitFor(actor.ref, (state) => state.status !== 'active' || state.matches('asking'));
  for (const { id, digest, question } of actor.pending.approvals) {
    const isApproved = await ask(`Approve ${JSON.stringify(question)}? [y/n] `);
    if (isApproved === null) continue;
    // The digest is that of the question: an answer to any other question has no effect.
    const decision = isApproved ? 'approve' : 'deny';
    await actor.send({ type: 'approval.given', id, digest, decision, by: 'terminal' });
  }
  if (await actor.park({ wait: true })) console.error(`\nConversation ${id} waits for your answer: npm start`);
  else console.log(await actor.output);
}

/** Resolves to null if nobody answers: without a terminal, and after Ctrl-C. */
function ask(text: string): Promise<boolean | null> {
  if (!process.stdin.isTTY) return Promise.resolve(null);
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  return new Promise((resolve) => {
    terminal.on('close', () => resolve(null));
    terminal.question(text, (reply) => {
      resolve(/^y(?:es)?$/iu.test(reply.trim()));
      terminal.close();
    });
  });
}
