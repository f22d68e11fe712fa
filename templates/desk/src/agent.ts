import { createPassageIndex } from 'postchain';
import { createDurableMachine, fileJournals } from 'postchain/durable';
import { loadDocuments } from 'postchain/node';
import { openaiModel } from 'postchain/openai';
import { postgresJournals } from 'postchain/postgres';
import { createAgent } from './agent.machine.ts';
import { demoModel } from './demo-model.ts';
import { createShop } from './tools.ts';

const { OPENAI_API_KEY, OPENAI_BASE_URL, MODEL = 'gpt-4.1-mini', DATABASE_URL, JOURNALS = 'journals' } = process.env;

export const hasModel = Boolean(OPENAI_API_KEY || OPENAI_BASE_URL);

const agent = createAgent({
  model: hasModel ? openaiModel({ model: MODEL }) : demoModel,
  shop: createShop('orders.json'),
  documents: createPassageIndex((await loadDocuments(['documents'])).documents),
});

/** Each conversation is an actor with a journal: after a crash, any process with access to the journals continues it. */
export const conversations = createDurableMachine(agent, {
  journals: DATABASE_URL === undefined ? fileJournals(JOURNALS) : postgresJournals(DATABASE_URL),
});
