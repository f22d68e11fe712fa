import { extractiveModel } from '../../models/extractive/extractive-model.ts';
import { createRegistry } from '../../tools/registry.ts';
import { systemClock } from '../attempts/clock.ts';
import { prompts } from '../prompts/registry.ts';
import { type ChainParts, noPassages } from './actors.ts';
import { CONTINUATION, deciderOf } from './decider.ts';
import { memorySessions } from './memory-sessions.ts';
import { type PostChainOptions, readOptions } from './options.ts';

/** The parts of a chain, checked and with what was not given filled in. Throws `invalid_option` for options that make no sense. */
export function resolveOptions(options: PostChainOptions): ChainParts {
  const { limits, thresholds } = readOptions(options);
  return {
    limits,
    thresholds,
    prices: options.prices ?? null,
    newRunId: options.newId ?? randomId,
    models: [options.model ?? extractiveModel(), ...(options.fallbackModels ?? [])],
    replyForm: options.replyForm ?? 'text',
    prompts: { ...prompts, ...given(options.prompts) },
    clock: options.clock ?? systemClock,
    passages: options.documents ?? noPassages,
    embeddings: options.embeddings ?? null,
    capabilities: createRegistry(options.capabilities ?? []),
    decider: options.decider === undefined ? deciderOf(host?.env ?? {}, warn) : options.decider,
    sessions: options.sessions ?? memorySessions(),
  };
}

const randomId = (): string => globalThis.crypto.randomUUID();

/** A browser has no process. */
const host = globalThis.process as NodeJS.Process | undefined;

const warned = new Set<string>();

/** On stderr, and once a process. */
function warn(message: string): void {
  if (warned.has(message)) return;
  warned.add(message);
  host?.emitWarning(message, { code: CONTINUATION });
}

/** Without what is undefined: leaving out and giving nothing are the same. */
function given<Given extends object>(options: Given = {} as Given): Given {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as Given;
}
