import { PostChainError } from '../../../machines/contracts/error.ts';
import { type OpenAIModelOptions, type OpenAISettings, openaiSettings } from './options.ts';

/** How to reach a server that speaks OpenAI's embeddings; nothing is needed when `OPENAI_API_KEY` is set. */
export interface OpenAIEmbeddingsOptions
  extends Pick<OpenAIModelOptions, 'apiKey' | 'baseURL' | 'headers' | 'fetch' | 'now'> {
  /** Default: `text-embedding-3-small`. */
  readonly model?: string;
}

const NAMES: Readonly<Record<keyof OpenAIEmbeddingsOptions, true>> = {
  model: true,
  apiKey: true,
  baseURL: true,
  headers: true,
  fetch: true,
  now: true,
};

/** @throws PostChainError `invalid_key` or `invalid_option`, before anything is sent. */
export function embeddingsSettings(options: OpenAIEmbeddingsOptions): OpenAISettings {
  const known = Object.keys(NAMES).join(', ');
  if (typeof options !== 'object' || options === null)
    throw new PostChainError('invalid_option', `openaiEmbeddings: got ${typeof options}; give options: ${known}`);
  const unknown = Object.keys(options).find((name) => !Object.hasOwn(NAMES, name));
  if (unknown !== undefined) {
    const message = `${unknown}: there is no such option of openaiEmbeddings; give one of ${known}`;
    throw new PostChainError('invalid_option', message);
  }
  return openaiSettings({ ...options, model: options.model ?? 'text-embedding-3-small' });
}
