import { directly } from '../activities/call.ts';
import { joinActors } from './actors.ts';
import type { PostChainOptions } from './options.ts';
import { partsOf } from './parts.ts';
import { nobody, type Watcher } from './watcher.ts';

/**
 * The actors that `chainMachine` asks for, for those who start the bare machine:
 * `createActor(chainMachine.provide({ actors: createActors({ model }) }), { input: chainInput({ request }) })`.
 * The second argument hears text and retrievals (`record`) and partial values (`partial`); a run of `createPostChain` has its own.
 */
export function createActors(
  options: PostChainOptions = {},
  heard: Partial<Pick<Watcher, 'record' | 'partial'>> = {},
): ReturnType<typeof joinActors> {
  return joinActors({ ...partsOf(options), conductor: directly, watcher: { ...nobody, ...heard } });
}
