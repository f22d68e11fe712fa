import { createPostChain } from '../../dist/index.js';
import { openaiModel } from '../../dist/openai.js';

// Runs the chain on each of these servers, one after the other, and prints how the runs ended: `node limited-memory.mjs BASE_URL…`.
const limits = {
  maxCycles: 2,
  totalMs: 20_000,
  phaseMs: 5_000,
  synthesisMs: 3_000,
  firstChunkMs: 2_000,
  chunkMs: 2_000,
  maxTransportRetries: 1,
  maxCorrections: 1,
  backoffBaseMs: 5,
};
const ends = [];
for (const baseURL of process.argv.slice(2)) {
  const model = openaiModel({ model: 'm', apiKey: 'k', baseURL });
  const { status, answerText, notes } = await createPostChain({ model, limits }).run({ request: 'Is it so?' }).answer;
  ends.push({ status, answerText, explanation: notes });
}
process.stdout.write(JSON.stringify(ends));
