import { inlineDispatcher } from '../activities/activity.ts';
import { createChainActors } from './actors.ts';
import type { PostChainOptions } from './options.ts';
import { resolveOptions } from './resolve-options.ts';
import { noopObserver, type RunObserver } from './run-observer.ts';

/**
 * The actors that `chainMachine` asks for, for those who start the bare machine:
 * `createActor(chainMachine.provide({ actors: createActors({ model }) }), { input: chainInput({ request }) })`.
 * The second argument hears text and retrievals (`record`) and partial values (`partial`); a run of `createPostChain` has its own.
 */
export function createActors(
  options: PostChainOptions = {},
  heard: Partial<Pick<RunObserver, 'record' | 'partial'>> = {},
): ReturnType<typeof createChainActors> {
  return createChainActors({
    ...resolveOptions(options),
    dispatcher: inlineDispatcher,
    observer: { ...noopObserver, ...heard },
  });
}
