import type { Failure } from '../../../machines/contracts/failure.ts';
import type { ChatModel, ModelPart } from '../../../machines/contracts/model.ts';
import { countTokens } from '../../documents/tokens/count-tokens.ts';
import { encodingOf } from '../../documents/tokens/encoding.ts';
import { checkKey } from './check-key.ts';
import { lazyClient } from './client.ts';
import { failureOf } from './failure-of.ts';
import { linkedSignal } from './linked-signal.ts';
import { negotiation } from './negotiation.ts';
import { type OpenAIModelOptions, openaiSettings } from './options.ts';
import { replyParts } from './reply-parts.ts';
import { toolNames } from './tool-names.ts';
import { toldOfTools } from './tool-refusal.ts';

export interface OpenAIModel extends ChatModel {
  /** A free look whether the key is refused, before a run starts: a failure for 401 and 403, null for all else. */
  checkKey(options: { readonly signal: AbortSignal }): Promise<Failure | null>;
  /**
   * By OpenAI's vocabulary for a model of this name; for a name of anybody else's, by OpenAI's newest, which is nearer than four
   * characters a token. A model with a tokenizer of its own: `{ ...openaiModel(options), countTokens }`.
   */
  countTokens(texts: readonly string[]): Promise<readonly number[]>;
}

/**
 * A model behind OpenAI's chat completions: OpenAI, or any server that speaks the same (Ollama, llama.cpp, vLLM, OpenRouter …).
 *
 * 1. It keeps the port's failure contract: whatever goes wrong is one last part, and no message holds the key.
 * 2. One `stream` is one attempt: nothing is retried here. Only a server that refuses a way of asking (JSON schema, a
 *    forced tool call, tools beside a reply, usage) is asked again in a humbler way, and that is remembered.
 * 3. An abort, a `break` and the end all close the connection that is still open and leave no listener on the caller's signal.
 *
 * @throws PostChainError `invalid_key` or `invalid_option`, here and nowhere later.
 * @example
 * const model = openaiModel({ model: 'gpt-4o-mini' });
 * const local = openaiModel({ model: 'llama3.2', baseURL: 'http://localhost:11434/v1', contextWindowTokens: 8_192 });
 */
export function openaiModel(options: OpenAIModelOptions): OpenAIModel {
  const settings = openaiSettings(options);
  const client = lazyClient(settings);
  const send = negotiation(settings, client);

  return {
    id: `openai:${settings.model}`,
    contextWindowTokens: settings.contextWindowTokens,
    nativeTools: settings.nativeTools,
    checkKey: ({ signal }) => checkKey(settings, client, signal),
    countTokens: (texts) => countTokens(texts, encodingOf(settings.model)),
    async *stream(request, { signal: caller }): AsyncGenerator<ModelPart, void> {
      if (caller.aborted) return;
      const { signal, release } = linkedSignal(caller);
      const failureIn = (thrown: unknown): Failure => {
        const failure = failureOf(thrown, settings);
        return request.replyForm === 'tool-call' ? toldOfTools(failure) : failure;
      };
      try {
        for await (const part of replyParts(await send(request, signal), toolNames(request), failureIn)) {
          // The client's stream ends on an abort as if it were complete.
          if (caller.aborted) return;
          yield part;
        }
      } catch (thrown) {
        if (!caller.aborted) yield { type: 'failure', failure: failureIn(thrown) };
      } finally {
        release();
      }
    },
  };
}
