import { PostChainError } from '../../machines/contracts/error.ts';
import type { ChatModel } from '../../machines/contracts/model.ts';

const DEFAULT_MODEL = 'gpt-4.1-mini';

export interface ChosenModel {
  readonly model: ChatModel;
  /** What it is chosen by again. */
  readonly name: string;
  /** Asks the server whether it takes the key; rejects with `invalid_key` where it says no, and only then. */
  readonly check: (withinMs: number) => Promise<void>;
}

/**
 * The model of a run: the one named, or, where a key or a server is set in the environment, an OpenAI-compatible one; otherwise
 * the offline extractive model. Throws `invalid_key` or `invalid_option`.
 */
export async function chooseModel(named: string | undefined, env: NodeJS.ProcessEnv): Promise<ChosenModel> {
  // An empty variable, as compose files give, is one that is not set.
  const wantsServer = Boolean(env['OPENAI_API_KEY'] || env['OPENAI_BASE_URL']);
  const name = named ?? (env['POSTCHAIN_MODEL'] || (wantsServer ? DEFAULT_MODEL : 'offline'));
  if (name === 'offline') {
    const { extractiveModel: offlineModel } = await import('../models/extractive/extractive-model.ts');
    return { model: offlineModel(), name, check: async () => {} };
  }
  const { openaiModel } = await import('../models/openai/openai-model.ts');
  const model = openaiModel({ model: name });
  const check = async (withinMs: number): Promise<void> => {
    const refused = await model.checkKey({ signal: AbortSignal.timeout(withinMs) });
    if (refused !== null)
      throw new PostChainError(
        'invalid_key',
        `OPENAI_API_KEY was refused (${refused.message}): set a key that this server accepts, or --model offline.`,
      );
  };
  return { model, name, check };
}
