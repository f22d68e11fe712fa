import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createPostChain } from 'postchain';
import { sqliteSessions } from 'postchain/node';
import { always, replies, scriptedModel } from 'postchain/testing';

// Repeats the user messages in its prompt. A real model would be openaiModel({ model: 'gpt-4.1-mini' }).
const model = scriptedModel(
  {
    yield: always(({ input }) => {
      const { messages } = input as { messages: readonly { role: string; content: string }[] };
      const words = messages.filter(({ role }) => role === 'user').map(({ content }) => content);
      return { ...replies.yield, answer: `You said: ${words.join(' ')}` };
    }),
  },
  { otherwise: replies },
);

const sessions = sqliteSessions(join(await mkdtemp(join(tmpdir(), 'postchain-')), 'chat.db'));
const chain = createPostChain({ model, sessions });

await chain.run({ request: 'My name is Ada.', sessionId: 'u42' }).answer;
const { answerText } = await chain.run({ request: 'What is my name?', sessionId: 'u42' }).answer;
console.log(answerText); // You said: My name is Ada. What is my name?
sessions.close();
