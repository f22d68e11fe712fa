import type { ChainInput } from '../../../machines/contracts/chain-state.ts';
import { inlineDispatcher } from '../activities.ts';
import { createChainActors } from './actors.ts';
import { type PostChainOptions, resolveOptions } from './options.ts';
import { noopObserver, type RunObserver } from './run-events.ts';
import { inputOf, type RunOptions } from './run-options.ts';

/**
 * What the chain machine is started with, checked and with every default filled in: for those who start the bare machine.
 * Throws `invalid_request` or `invalid_option`.
 */
export function chainInput(run: RunOptions, options: PostChainOptions = {}): ChainInput {
  return inputOf(run, resolveOptions(options));
}

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
