import { PostChainError } from '../../machines/contracts/error.ts';
import type { ChatModel, EmbeddingModel } from '../../machines/contracts/model.ts';
import { loadOptional } from '../internal/optional-package.ts';
import type { OpenAIApi } from '../models/openai/options.ts';

export interface ChosenModel {
  readonly model: ChatModel;
  /** The `--model` value that selects it again. */
  readonly name: string;
  readonly baseUrl?: string;
  /** Rejects with `invalid_key` if the server rejects the key. */
  readonly check?: (timeoutMs: number) => Promise<void>;
}

/** How to reach the server of a model, and what to request from it: flags of "postchain run". */
export interface ServerFlags {
  readonly baseUrl?: string;
  readonly stream?: boolean;
  readonly api?: OpenAIApi;
  readonly reasoningEffort?: string;
  readonly serviceTier?: string;
}

interface Provider {
  readonly serves: (name: string) => boolean;
  /** The `id` of the model that it opens, which journals record. */
  readonly idOf: (name: string) => string;
  /** Returns the model to use if the user names none, or null if the environment does not configure the provider. */
  readonly defaultModel: (env: NodeJS.ProcessEnv) => string | null;
  readonly open: (
    name: string,
    server: ServerFlags & { readonly baseUrl: string },
  ) => Promise<Omit<ChosenModel, 'name'>>;
}

/** To add a provider, add a row before the last, which serves every name. The first match is used. */
const PROVIDERS: readonly Provider[] = [
  {
    serves: (name) => name === 'offline',
    idOf: () => 'offline-extractive',
    defaultModel: () => null,
    open: openExtractive,
  },
  {
    serves: () => true,
    idOf: (name) => `openai:${name}`,
    defaultModel: (env) => (env['OPENAI_API_KEY'] || env['OPENAI_BASE_URL'] ? 'gpt-4.1-mini' : null),
    open: openOpenai,
  },
];

/**
 * Returns the model to use if the user names none: that of `POSTCHAIN_MODEL`, the default model of a provider that the environment
 * configures, or the extractive model. Empty variables count as unset.
 */
export function defaultModel(env: NodeJS.ProcessEnv, baseUrl: string | undefined): string {
  const configuration = baseUrl === undefined ? env : { ...env, OPENAI_BASE_URL: baseUrl };
  const configured = PROVIDERS.map((provider) => provider.defaultModel(configuration)).find((name) => name !== null);
  return env['POSTCHAIN_MODEL'] || (configured ?? 'offline');
}

const providerOf = (name: string): Provider => PROVIDERS.find(({ serves }) => serves(name)) as Provider;

/** Returns the `id` of the model that `chooseModel` opens for a name. */
export const modelIdOf = (name: string): string => providerOf(name).idOf(name);

/** Returns the named model, or the default one. Throws `invalid_key` or `invalid_option`. */
export async function chooseModel(
  named: string | undefined,
  env: NodeJS.ProcessEnv,
  server: ServerFlags = {},
): Promise<ChosenModel> {
  const { baseUrl } = server;
  const name = named ?? defaultModel(env, baseUrl);
  return { name, ...(await providerOf(name).open(name, { ...server, baseUrl: baseUrlOf(baseUrl, env) })) };
}

export const DEFAULT_BASE_URL = 'https://api.openai.com/v1';

/** Returns the base URL of the OpenAI-compatible server: the given one, that of the environment, or OpenAI's. */
export function baseUrlOf(given: string | undefined, env: NodeJS.ProcessEnv): string {
  const text = given ?? (env['OPENAI_BASE_URL']?.trim() || DEFAULT_BASE_URL);
  return URL.canParse(text) ? new URL(text).href.replace(/\/$/u, '') : text;
}

async function openExtractive() {
  const { extractiveModel } = await import('../models/extractive/extractive-model.ts');
  return { model: extractiveModel() };
}

/** The user who attaches a file chooses the model, too; if it cannot read the file, its server rejects it. */
const ACCEPTED = ['image/*', 'application/pdf'];

async function openOpenai(name: string, server: ServerFlags & { readonly baseUrl: string }) {
  const { baseUrl, stream = true, api, reasoningEffort, serviceTier } = server;
  const { openaiModel } = await import('../models/openai/openai-model.ts');
  const options = {
    model: name,
    baseURL: baseUrl,
    stream,
    accepts: ACCEPTED,
    ...(api !== undefined && { api }),
    ...(reasoningEffort !== undefined && { reasoningEffort }),
    ...(serviceTier !== undefined && { serviceTier }),
  };
  const model = withCliWords(`--model ${name}`, () => openaiModel(options));
  await loadOptional('openai', `--model ${name}`, () => import('openai'));
  const check = async (timeoutMs: number): Promise<void> => {
    const failure = await model.checkKey({ signal: AbortSignal.timeout(timeoutMs) });
    if (failure !== null)
      throw new PostChainError(
        'invalid_key',
        `The server rejected OPENAI_API_KEY (${failure.message}); set a valid key or use --model offline`,
      );
  };
  return { model, baseUrl, check };
}

/** Returns an embedding model of the server. Throws `invalid_key` if the server needs a key. */
export async function openEmbeddings(name: string, baseUrl: string | undefined): Promise<EmbeddingModel> {
  const { openaiEmbeddings } = await import('../models/openai/embeddings.ts');
  const options = { model: name, baseURL: baseUrlOf(baseUrl, process.env) };
  const model = withCliWords(`--embeddings ${name}`, () => openaiEmbeddings(options));
  await loadOptional('openai', `--embeddings ${name}`, () => import('openai'));
  return model;
}

/** A missing key is reported in the words of the command line, which has no option for it. */
function withCliWords<Model>(flag: string, open: () => Model): Model {
  try {
    return open();
  } catch (error) {
    if (!(error instanceof PostChainError) || error.code !== 'invalid_key' || process.env['OPENAI_API_KEY']?.trim())
      throw error;
    const message = `${flag} requires OPENAI_API_KEY, which is not set; set it (to any text if the server needs none), or use --model offline`;
    throw new PostChainError('invalid_key', message, { cause: error });
  }
}
