import { createRegistry } from '../capabilities/registry.ts';
import { offlineModel } from '../models/offline/offline-model.ts';
import { prompts } from '../prompts/registry.ts';
import { noopDecider } from './action-actors.ts';
import { type ActorParts, noPassages } from './actors.ts';
import { systemClock } from './clock.ts';
import type { PostChainOptions } from './options.ts';

/** The parts that a chain is joined from, with what was not given filled in. */
export function partsOf(options: PostChainOptions): Omit<ActorParts, 'watcher'> {
  return {
    model: options.model ?? offlineModel(),
    prompts: { ...prompts, ...options.prompts },
    clock: options.clock ?? systemClock,
    passages: options.documents ?? noPassages,
    capabilities: createRegistry(options.capabilities ?? []),
    decider: options.decider === undefined ? noopDecider : options.decider,
  };
}
