// Connects an MCP server with the built package, uses it, closes it, and has to end by itself.
import { connectMcp } from '../../dist/mcp.js';

const [manner, url] = process.argv.slice(2);
const connectTimeoutMs = manner === 'silent' ? 300 : 10_000;
const program = { command: process.execPath, args: ['test/support/mcp-server.mjs', manner], connectTimeoutMs };
const say = (line) => process.stdout.write(`${line}\n`);
try {
  const connection = await connectMcp({ name: 'it', ...(url === undefined ? program : { url }) });
  const signal = new AbortController().signal;
  const run = (tool) => connection.capabilities.find(({ name }) => name === `it_${tool}`).execute({}, { signal });
  if (manner === 'dying') await run('die').catch(() => {});
  else if (manner === 'hanging') run('hang').catch(({ message }) => say(message));
  else say(await run(url === undefined ? 'pid' : 'work'));
  await connection.close();
  say('closed');
} catch ({ message }) {
  say(message);
}
