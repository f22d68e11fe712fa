import { PostChainError } from '../../machines/contracts/error.ts';
import type { ChatModel } from '../../machines/contracts/model.ts';

export interface ChosenModel {
  readonly model: ChatModel;
  /** The `--model` value that selects it again. */
  readonly name: string;
  /** Rejects with `invalid_key` if the server rejects the key. */
  readonly check?: (timeoutMs: number) => Promise<void>;
}

/** A source of models. */
interface Provider {
  /** Whether the provider serves the model with this name. */
  readonly serves: (name: string) => boolean;
  /** Returns the model to use if the user names none, or null if the environment does not configure the provider. */
  readonly defaultModel: (env: NodeJS.ProcessEnv) => string | null;
  readonly open: (name: string) => Promise<Omit<ChosenModel, 'name'>>;
}

/** To add a provider, add a row before the last, which serves every name. The first match is used. */
const PROVIDERS: readonly Provider[] = [
  { serves: (name) => name === 'offline', defaultModel: () => null, open: openExtractive },
  {
    serves: () => true,
    defaultModel: (env) => (env['OPENAI_API_KEY'] || env['OPENAI_BASE_URL'] ? 'gpt-4.1-mini' : null),
    open: openOpenai,
  },
];

/**
 * Returns the named model; by default that of `POSTCHAIN_MODEL`, the default model of a provider that the environment configures, or the
 * extractive model. Empty variables count as unset. Throws `invalid_key` or `invalid_option`.
 */
export async function chooseModel(named: string | undefined, env: NodeJS.ProcessEnv): Promise<ChosenModel> {
  const configured = PROVIDERS.map(({ defaultModel }) => defaultModel(env)).find((name) => name !== null);
  const name = named ?? (env['POSTCHAIN_MODEL'] || (configured ?? 'offline'));
  const { open } = PROVIDERS.find(({ serves }) => serves(name)) as Provider;
  return { name, ...(await open(name)) };
}

async function openExtractive() {
  const { extractiveModel } = await import('../models/extractive/extractive-model.ts');
  return { model: extractiveModel() };
}

async function openOpenai(name: string) {
  const { openaiModel } = await import('../models/openai/openai-model.ts');
  const model = openaiModel({ model: name });
  const check = async (timeoutMs: number): Promise<void> => {
    const failure = await model.checkKey({ signal: AbortSignal.timeout(timeoutMs) });
    if (failure !== null)
      throw new PostChainError(
        'invalid_key',
        `The server rejected OPENAI_API_KEY (${failure.message}); set a valid key or use --model offline`,
      );
  };
  return { model, check };
}
