import { systemClock } from '../attempts/clock.ts';
import { createRegistry } from '../capabilities/registry.ts';
import { offlineModel } from '../models/offline/offline-model.ts';
import { prompts } from '../prompts/registry.ts';
import { noopDecider } from './action-actors.ts';
import { type ActorParts, noPassages } from './actors.ts';
import type { PostChainOptions } from './options.ts';

/** The parts that a chain is joined from, with what was not given filled in. */
export function partsOf(options: PostChainOptions): Omit<ActorParts, 'watcher'> {
  return {
    model: options.model ?? offlineModel(),
    replyForm: options.replyForm ?? 'text',
    prompts: { ...prompts, ...given(options.prompts) },
    clock: options.clock ?? systemClock,
    passages: options.documents ?? noPassages,
    embeddings: options.embeddings ?? null,
    capabilities: createRegistry(options.capabilities ?? []),
    decider: options.decider === undefined ? noopDecider : options.decider,
  };
}

/** Without what is undefined: leaving out and giving nothing are the same. */
function given<Given extends object>(options: Given = {} as Given): Given {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as Given;
}
