import { readFileSync } from 'node:fs';
import { Command } from '@langchain/langgraph';
import { waitFor } from 'xstate';
import { configOf, load as loadGraph } from './hosts/langgraph.mjs';
import { load as loadMachine } from './hosts/postchain.mjs';
import { OTHER_MAIL, PATTERNS } from './patterns.mjs';
import { world } from './world.mjs';

const PATTERN = 'refund-approval';
const MAILS = [PATTERNS[PATTERN]?.input, OTHER_MAIL];

/**
 * Tries to get a refund of 900 euros with the approval of another one, of 120 euros. Returns the refunds that were paid.
 *
 * @param {{ library: 'postchain' | 'langgraph' | 'ai-sdk', trick: string, port: number, folder: string, effects: string }} job
 */
export async function measure({ library, trick, port, folder, effects }) {
  Object.assign(world, { port, effects });
  const error = await TRICKS[library]?.[trick]?.(folder).then(
    () => null,
    (/** @type {Error} */ { name, message }) => `${name}: ${message.slice(0, 100)}`,
  );
  return { error, paid: paidIn(effects) };
}

/** @param {string} file @returns {readonly string[]} */
function paidIn(file) {
  try {
    return readFileSync(file, 'utf8').trimEnd().split('\n');
  } catch {
    return [];
  }
}

/** @type {Record<string, Record<string, (folder: string) => Promise<unknown>>>} */
const TRICKS = {
  postchain: {
    async 'answer to another question'(folder) {
      const machine = await loadMachine(PATTERN, folder);
      const [one, other] = await Promise.all(MAILS.map((input, at) => machine.open(`mail-${at}`, { input })));
      for (const { ref } of [one, other]) await waitFor(ref, ({ value }) => value === 'asking');
      const [{ id, digest }] = one.pending.approvals;
      await other.send({ type: 'approval.given', id, digest, decision: 'approve', by: 'Ada' });
      if (other.ref.getSnapshot().value !== 'asking') await waitFor(other.ref, ({ status }) => status !== 'active');
    },
  },
  langgraph: {
    async 'answer to another question'(folder) {
      const { app, stateOf } = await loadGraph(PATTERN, folder);
      const [one] = await Promise.all(MAILS.map((mail, at) => app.invoke(stateOf(mail), configOf(`mail-${at}`))));
      const [{ id }] = one.__interrupt__;
      return await app.invoke(new Command({ resume: { [id]: { approved: true } } }), configOf('mail-1'));
    },
    async 'answer to another question, without its id'(folder) {
      const { app, stateOf } = await loadGraph(PATTERN, folder);
      for (const [at, mail] of MAILS.entries()) await app.invoke(stateOf(mail), configOf(`mail-${at}`));
      return await app.invoke(new Command({ resume: { approved: true } }), configOf('mail-1'));
    },
    async 'state changed after the question'(folder) {
      const { app, stateOf } = await loadGraph(PATTERN, folder);
      const {
        __interrupt__: [{ id }],
      } = await app.invoke(stateOf(MAILS[0]), configOf('mail-0'));
      await app.updateState(configOf('mail-0'), { refund: { order: 'B2', cents: 90_000 } });
      return await app.invoke(new Command({ resume: { [id]: { approved: true } } }), configOf('mail-0'));
    },
    async 'state changed after the question, without its id'(folder) {
      const { app, stateOf } = await loadGraph(PATTERN, folder);
      await app.invoke(stateOf(MAILS[0]), configOf('mail-0'));
      await app.updateState(configOf('mail-0'), { refund: { order: 'B2', cents: 90_000 } });
      return await app.invoke(new Command({ resume: { approved: true } }), configOf('mail-0'));
    },
  },
  'ai-sdk': {
    async 'answer to another question'() {
      const [one, other] = await Promise.all(MAILS.map(askedInMessages));
      return await answerInMessages(other.messages, one.approvalId);
    },
    async 'state changed after the question'() {
      const { messages, approvalId } = await askedInMessages(MAILS[0]);
      const changed = JSON.parse(JSON.stringify(messages), (key, value) => (key === 'cents' ? 90_000 : value));
      return await answerInMessages(changed, approvalId);
    },
  },
};

const loadAgent = async () => (await import('./peers/refund-approval.ai-sdk.mjs')).agent;

/** @param {string} mail */
async function askedInMessages(mail) {
  const messages = /** @type {any[]} */ ([{ role: 'user', content: mail }]);
  const { content, responseMessages } = await (await loadAgent()).generate({ messages });
  const { approvalId } = /** @type {any} */ (content.find(({ type }) => type === 'tool-approval-request'));
  return { messages: [...messages, ...responseMessages], approvalId };
}

/** @param {any[]} messages @param {string} approvalId */
async function answerInMessages(messages, approvalId) {
  const answer = { type: 'tool-approval-response', approvalId, approved: true };
  return await (await loadAgent()).generate({ messages: [...messages, { role: 'tool', content: [answer] }] });
}
