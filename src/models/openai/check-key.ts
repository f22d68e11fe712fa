import type OpenAI from 'openai';
import type { Failure } from '../../../machines/contracts/failure.ts';
import { failureOf } from './failure-of.ts';
import { linkedSignal } from './linked-signal.ts';
import type { OpenAISettings } from './options.ts';

/**
 * Asks for the model's name, which costs nothing, to learn whether the key is refused. Only a plain refusal (401, 403) is a
 * failure; a server without such a route, no network or an abort say nothing about the key and give null. So does a restricted
 * key that only may not list models.
 */
export async function checkKey(
  settings: OpenAISettings,
  client: () => Promise<OpenAI>,
  caller: AbortSignal,
): Promise<Failure | null> {
  const { signal, release } = linkedSignal(caller);
  try {
    await (await client()).models.retrieve(settings.model, { signal });
    return null;
  } catch (thrown) {
    const failure = failureOf(thrown, settings);
    const restricted = /missing scopes|insufficient permissions/iu.test(failure.message);
    return failure.code === 'unauthorized' && !restricted ? failure : null;
  } finally {
    release();
  }
}
