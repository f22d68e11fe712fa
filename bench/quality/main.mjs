/** `npm run quality`: asks each contender the questions of the corpora, records the answers, and scores the recordings. */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

/**
 * @typedef {import('./contenders.mjs').Ask} Ask
 * @typedef {import('./contenders.mjs').Server} Server
 * @typedef {{ contender: string, ask: Ask, recording: ReturnType<typeof import('./recording.mjs').openRecording>,
 *   known: ReadonlyMap<string, string> }} Contender `known`: the questions that are recorded, by id.
 */

const here = (/** @type {string} */ path) => fileURLToPath(new URL(path, import.meta.url));

const CORPORA = ['questions', 'unseen', 'multihop', 'passages'];
const CONTENDERS = ['plain', 'loop', 'langgraph', 'lean', 'balanced', 'thorough'];
/** Models that need no network. */
const OFFLINE = ['extractive', 'scripted'];
/** The context of the model on this machine, in tokens. */
const LOCAL_CONTEXT = 8_192;
/** The length of its replies, in tokens: enough for each contender, and a reply that repeats itself ends soon. */
const LOCAL_MAX_TOKENS = 400;
/** After this many failures in a row, a contender is asked no more questions. */
const MAX_FAILURES = 3;

const OPTIONS = /** @type {const} */ ({
  model: { type: 'string' },
  local: { type: 'boolean', default: false },
  'base-url': { type: 'string' },
  script: { type: 'string' },
  data: { type: 'string' },
  corpora: { type: 'string', default: 'questions,unseen,multihop' },
  contenders: { type: 'string', default: 'loop,lean,balanced,thorough' },
  logprobs: { type: 'boolean', default: false },
  limit: { type: 'string', default: 'Infinity' },
  concurrency: { type: 'string', default: '1' },
  recordings: { type: 'string' },
  price: { type: 'string' },
  seed: { type: 'string', default: '1' },
  json: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
});

const USAGE = `usage: npm run quality -- --model NAME [--base-url URL] [--data DIR] [--corpora ${CORPORA.join(',')}]
  [--contenders ${CONTENDERS.join(',')}] [--limit N] [--concurrency N] [--recordings DIR] [--logprobs]
  [--price INPUT,OUTPUT[,CACHED]] [--seed N] [--json]
or: npm run quality -- --local [--contenders …] [--limit N] [--concurrency N] [--recordings DIR]
or: npm run quality -- score DIR [--price …] [--seed N] [--json]
or: npm run quality -- retrieval [--model EMBEDDINGS --base-url URL] [--data DIR] [--json]
--local starts a small model on this machine (npm run local-model) and asks the corpus "passages".
NAME is a model of the server, for which OPENAI_API_KEY must be set, or without network: extractive, scripted (--script FILE)`;

/**
 * Returns the message of an error on one line, followed by its root cause unless the message contains it. If a host has several addresses,
 * only the cause states why none could be reached.
 *
 * @param {unknown} error
 */
function messageOf(error) {
  const message = error instanceof Error ? error.message : String(error);
  let cause = /** @type {any} */ (error);
  for (let deeper = cause; deeper != null; deeper = deeper?.lastError ?? deeper?.errors?.[0] ?? deeper?.cause)
    cause = deeper;
  const why = String(cause?.code ?? cause?.message ?? cause);
  return `${message}${message.includes(why) ? '' : ` (${why})`}`.replace(/\s+/gu, ' ');
}

process.exitCode = await main(process.argv.slice(2)).catch((error) => {
  process.stderr.write(`quality: ${messageOf(error)}\n`);
  return 2;
});

/**
 * Returns the exit code: 0, 2 for invalid usage, or 1 if the model cannot be reached.
 *
 * @param {readonly string[]} args
 */
async function main(args) {
  if (!existsSync(here('../../dist/index.js'))) throw new TypeError('dist is missing; run `npm run build` first');
  const { values, positionals } = parseArgs({ args: [...args], allowPositionals: true, options: OPTIONS });
  if (values.help) {
    process.stdout.write(`${USAGE}\n`);
    return 0;
  }
  const [command, folder, ...others] = positionals;
  const seed = numberOf('seed', values.seed, 0);
  const options = { seed, price: priceOf(values.price) };
  if (command === 'retrieval' && folder === undefined) {
    const { formatRetrieval, measureRetrieval } = await import('./retrieval.mjs');
    const data = values.data ?? here('../../../shared/data');
    const embeddings = values.model === undefined ? null : await embeddingsOf(online(values.model, values['base-url']));
    const results = await measureRetrieval({ data, embeddings, seed });
    process.stdout.write(values.json ? `${JSON.stringify(results, null, 2)}\n` : formatRetrieval(results));
    return 0;
  }
  if (command !== undefined) {
    if (command !== 'score' || folder === undefined || others.length > 0)
      throw new TypeError(`expected score DIR or options only; received ${positionals.join(' ')}\n${USAGE}`);
    await print(folder, options, values.json);
    return 0;
  }
  if (values.local) return await measureLocally(values, options);
  if (values.model === undefined) throw new TypeError(`--model is missing\n${USAGE}`);
  return await measure(values.model, values, options);
}

async function embeddingsOf(/** @type {Server} */ { model, baseURL, apiKey }) {
  const { openaiEmbeddings } = await import('../../dist/openai.js');
  return openaiEmbeddings({ model, baseURL, apiKey });
}

/**
 * @typedef {ReturnType<typeof parseArgs<{ options: typeof OPTIONS }>>['values']} Values
 *
 * @param {string} model
 * @param {Values} values
 * @param {import('./score.mjs').Options} options
 */
async function measure(model, values, options) {
  const recordings = values.recordings ?? here(`recordings/${model.replace(/[^\w.-]+/gu, '-')}`);
  const isComplete = await record(model, recordings, values);
  await print(recordings, options, values.json);
  return isComplete ? 0 : 1;
}

/**
 * Asks all contenders the corpus `passages`, with a model that runs on this machine.
 *
 * @param {Values} values
 * @param {import('./score.mjs').Options} options
 */
async function measureLocally(values, options) {
  const { startLocalModel } = await import('../local-model/start.mjs');
  const report = (/** @type {string} */ line) => process.stderr.write(`quality: ${line}\n`);
  const server = await startLocalModel({
    report,
    context: LOCAL_CONTEXT,
    maxTokens: LOCAL_MAX_TOKENS,
    parallel: numberOf('concurrency', values.concurrency, 1),
  });
  const contenders = values.contenders === OPTIONS.contenders.default ? CONTENDERS.join(',') : values.contenders;
  const local = { ...values, contenders, 'base-url': server.baseURL, corpora: 'passages', logprobs: true };
  try {
    return await measure(server.model, local, options);
  } finally {
    await server.close();
  }
}

/**
 * @param {string} folder
 * @param {import('./score.mjs').Options} options
 * @param {boolean} json
 */
async function print(folder, options, json) {
  const [{ readRecordings }, { score }, { formatScores }] = await Promise.all([
    import('./recording.mjs'),
    import('./score.mjs'),
    import('./table.mjs'),
  ]);
  const scores = score(readRecordings(folder), options);
  process.stdout.write(json ? `${JSON.stringify(scores, null, 2)}\n` : formatScores(scores));
}

/**
 * Asks the questions that are not yet recorded. Returns whether all of them were answered.
 *
 * @param {string} model
 * @param {string} folder
 * @param {Values} values
 */
async function record(model, folder, values) {
  const corpora = namesOf('corpora', values.corpora, CORPORA);
  const names = namesOf('contenders', values.contenders, CONTENDERS);
  const limit = values.limit === 'Infinity' ? Number.POSITIVE_INFINITY : numberOf('limit', values.limit, 1);
  const concurrency = numberOf('concurrency', values.concurrency, 1);
  const data = values.data ?? here('../../../shared/data');
  if (values.data !== undefined && !statSync(data, { throwIfNoEntry: false })?.isDirectory())
    throw new TypeError(`--data: ${data} is not a directory`);
  const server = OFFLINE.includes(model)
    ? await offline(values.script)
    : {
        ...online(model, values['base-url']),
        logprobs: values.logprobs,
        ...(values.local && { contextWindowTokens: LOCAL_CONTEXT }),
      };
  try {
    const [{ contenderOf }, { questionsOf }, { openRecording }] = await Promise.all([
      import('./contenders.mjs'),
      import('./corpora.mjs'),
      import('./recording.mjs'),
    ]);
    const startedAt = new Date().toISOString();
    // The port of a local server is a free one.
    const about = {
      model,
      server: values.local ? 'localhost' : server.name,
      concurrency,
      startedAt,
      versions: versions(),
    };
    const open = async (/** @type {string} */ contender) => {
      const ask = await contenderOf(contender, server);
      const recording = openRecording(folder, { contender, ...about });
      return { contender, ask, recording, known: new Map(recording.rows.map(({ id, text }) => [id, text])) };
    };
    const contenders = await Promise.all(names.map(open));
    const asked = await questionsOf({ corpora, data, limit });
    const failed = await askAll(contenders, asked, { concurrency, apiKey: server.apiKey });
    if (failed > 0)
      process.stderr.write(`quality: ${failed} failed; run the same command again to ask the missing ones\n`);
    return failed === 0;
  } finally {
    server.close?.();
  }
}

/**
 * Asks the contenders in turn, so that a slow moment of the server affects all of them. Returns the number of failures.
 *
 * @param {readonly Contender[]} contenders
 * @param {readonly import('./corpora.mjs').Asked[]} asked
 * @param {{ concurrency: number, apiKey: string }} options
 */
async function askAll(contenders, asked, { concurrency, apiKey }) {
  /** @type {Map<Contender, number>} In a row. */
  const failures = new Map();
  let [next, failed] = [0, 0];
  const work = async () => {
    for (let at = next++; at < asked.length; at = next++) {
      const { question, documents } = /** @type {import('./corpora.mjs').Asked} */ (asked[at]);
      const first = at % contenders.length;
      for (const one of [...contenders.slice(first), ...contenders.slice(0, first)]) {
        const { contender, ask, recording, known } = one;
        const inARow = failures.get(one) ?? 0;
        if (known.get(question.id) === question.text || inARow >= MAX_FAILURES) continue;
        try {
          recording.add({ ...question, ...(await ask(question.text, documents)) });
          failures.set(one, 0);
        } catch (error) {
          const failure = messageOf(error).replaceAll(apiKey, '…');
          recording.add({ id: question.id, failure });
          failures.set(one, inARow + 1);
          failed += 1;
          process.stderr.write(`quality: ${contender} failed at "${question.id}": ${failure}\n`);
        }
      }
      if (process.stderr.isTTY) process.stderr.write(`\rquality: ${at + 1} of ${asked.length} questions `);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, work));
  return failed;
}

/**
 * @param {string | undefined} file
 * @returns {Promise<Server & { name: string, close?: () => void }>}
 */
async function offline(file) {
  const { offlineServer } = await import('./offline-model.mjs');
  const script = file === undefined ? {} : JSON.parse(readFileSync(file, 'utf8'));
  return { ...(await offlineServer(script)), name: 'this process' };
}

/**
 * @param {string} model
 * @param {string} [given]
 * @returns {Server & { name: string, close?: () => void }}
 */
function online(model, given) {
  const baseURL = given ?? process.env['OPENAI_BASE_URL'] ?? 'https://api.openai.com/v1';
  const url = URL.parse(baseURL);
  if (url === null) throw new TypeError(`--base-url: expected a URL; received ${baseURL}`);
  const isLocal = ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname);
  const apiKey = process.env['OPENAI_API_KEY']?.trim() || (isLocal ? 'not-needed' : '');
  if (apiKey === '')
    throw new TypeError(`${url.host} needs a key: set OPENAI_API_KEY; or try --model extractive, without network`);
  return { model, baseURL, apiKey, name: `${url.origin}${url.pathname}` };
}

/**
 * @param {string} option
 * @param {string} given
 * @param {readonly string[]} known
 */
function namesOf(option, given, known) {
  const names = given.split(',').filter((name) => name !== '');
  const unknown = names.find((name) => !known.includes(name));
  if (unknown !== undefined)
    throw new TypeError(`--${option}: unknown "${unknown}"; expected any of ${known.join(',')}`);
  return names;
}

/**
 * @param {string} option
 * @param {string} given
 * @param {number} least
 */
function numberOf(option, given, least) {
  const number = Number(given);
  if (given.trim() === '' || !Number.isInteger(number) || number < least)
    throw new TypeError(`--${option}: expected an integer of at least ${least}; received ${given}`);
  return number;
}

/** @param {string | undefined} given */
function priceOf(given) {
  if (given === undefined) return null;
  const [input = Number.NaN, output = Number.NaN, cached = input, ...others] = given.split(',').map(Number);
  if (![input, output, cached].every((price) => price >= 0) || others.length > 0)
    throw new TypeError(`--price: expected INPUT,OUTPUT[,CACHED] per million tokens; received ${given}`);
  return { input, output, cached };
}

function versions() {
  // `ai` is that of bench/node_modules or, before `npm run bench` installed it there, that of the repository.
  const require = createRequire(import.meta.url);
  const of = (/** @type {string} */ name) => require(name).version;
  return { postchain: of('../../package.json'), ai: of('ai/package.json'), node: process.version };
}
