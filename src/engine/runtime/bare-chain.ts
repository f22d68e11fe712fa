import type { ChainInput } from '../../../machines/contracts/chain-state.ts';
import { inlineDispatcher } from '../activities.ts';
import { createChainActors } from './actors.ts';
import { type PostChainOptions, resolveOptions } from './options.ts';
import { noopObserver, type RunObserver } from './run-events.ts';
import { createChainInput, type RunOptions } from './run-options.ts';

/**
 * Returns the input of the chain machine, validated and with every default, for code that starts the machine itself.
 * Throws `invalid_request` or `invalid_option`.
 */
export function chainInput(run: RunOptions, options: PostChainOptions = {}): ChainInput {
  return createChainInput(run, resolveOptions(options));
}

/**
 * Returns the actors that the chain machine invokes, for code that starts the machine itself:
 * `createActor(createChainMachine(createActors({ model })), { input: chainInput({ request }) })`.
 * The observer receives text and retrievals (`record`) and partial values (`partial`).
 */
export function createActors(
  options: PostChainOptions = {},
  observer: Partial<Pick<RunObserver, 'record' | 'partial'>> = {},
): ReturnType<typeof createChainActors> {
  const parts = resolveOptions(options);
  const scope = { dispatcher: inlineDispatcher, observer: { ...noopObserver, ...observer }, clock: parts.clock };
  return createChainActors({ ...parts, scope: () => scope });
}
