import { joinActors } from './actors.ts';
import type { PostChainOptions } from './options.ts';
import { partsOf } from './parts.ts';
import { nobody, type Watcher } from './watcher.ts';

/**
 * The actors that `chainMachine` asks for, for those who start the bare machine:
 * `createActor(chainMachine.provide({ actors: createActors({ model }) }), { input: chainInput({ request }) })`.
 * `watcher` hears text, partial values and retrievals; a run of `createPostChain` has its own.
 */
export function createActors(options: PostChainOptions = {}, watcher: Watcher = nobody): ReturnType<typeof joinActors> {
  return joinActors({ ...partsOf(options), watcher });
}
