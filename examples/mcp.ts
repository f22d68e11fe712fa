import { createRequire } from 'node:module';
import { createPostChain } from 'postchain';
import { connectMcp } from 'postchain/mcp';
import { replies, scriptedModel } from 'postchain/testing';

const require = createRequire(import.meta.url);
const server = require.resolve('@modelcontextprotocol/server-everything/dist/index.js');
const math = await connectMcp({ name: 'math', command: 'node', args: [server, 'stdio'], include: ['get-sum'] });

const call = { capability: 'math_get-sum', arguments: '{"a":2,"b":40}' };
const model = scriptedModel({ action: [{ ...replies.action, calls: [call] }] }, { otherwise: replies });
const run = createPostChain({ model, capabilities: [...math.capabilities] }).run({ request: 'What is 2 + 40?' });

for await (const event of run.events) {
  if (event.type === 'capability-end') console.log(event.result.output);
}
await math.close();
