import { describe, expect, it } from 'vitest';
import { createActor, toPromise } from 'xstate';
import type { EmittedEvent } from '../../../../machines/contracts/events.ts';
import type { EmbeddingModel } from '../../../../machines/contracts/model.ts';
import { type BareChain, type BareChainOptions, createBareChain } from '../../../../src/chain/runtime/bare-chain.ts';
import type { PartialUpdate } from '../../../../src/chain/runtime/run-events.ts';
import { createPassageIndex, createPostChain, maxCorrections, memoryJournals } from '../../../../src/entries/index.ts';
import { scriptedModel } from '../../../../src/models/scripted.ts';
import { replies } from '../../../../src/testing/replies.ts';
import { capabilityNamed } from '../../../support/run-chain.ts';
import { TestClock } from '../../../support/simulated-clock.ts';

const RUN = { request: 'When does the library open?' };
const documents = createPassageIndex([{ path: 'hours.md', text: 'The library opens at nine and closes at five.' }]);
const embeddings: EmbeddingModel = { id: 'flat', embed: async (texts) => texts.map(() => [1, 0]) };
const unsure = { ...replies.yield, confidence: 0.5 };

async function runBare(chain: BareChain, clock: TestClock) {
  const actor = createActor(chain.createMachine(), { input: chain.createInput(RUN), clock });
  const facts: EmittedEvent[] = [];
  actor.on('*', (fact) => void facts.push(fact));
  actor.start();
  return { answer: await toPromise(actor), facts };
}

/** The parts of a run that an option may change. */
const options: Readonly<Record<string, () => BareChainOptions>> = {
  'none, which searches nothing': () => ({}),
  documents: () => ({ documents }),
  'a profile': () => ({ documents, profile: 'thorough', model: scriptedModel({}, { otherwise: replies }) }),
  limits: () => ({
    limits: { maxCycles: 2, maxModelCalls: 9 },
    model: scriptedModel({}, { otherwise: { ...replies, yield: unsure } }),
  }),
  thresholds: () => ({
    thresholds: { confidence: 0.4 },
    model: scriptedModel({}, { otherwise: { ...replies, yield: unsure } }),
  }),
  'fallback models and prices': () => ({
    model: scriptedModel({}, { id: 'first', otherwise: { text: 'no JSON' } }),
    fallbackModels: [scriptedModel({}, { id: 'second', otherwise: replies })],
    prices: { currency: 'EUR', models: { first: { inputPerMillion: 1, outputPerMillion: 1 } } },
  }),
  'a retry policy': () => ({
    model: scriptedModel({}, { otherwise: { text: 'no JSON' } }),
    policy: maxCorrections(0),
  }),
  instructions: () => ({ instructions: 'Answer in French.', model: scriptedModel({}, { otherwise: replies }) }),
  embeddings: () => ({ documents, embeddings, model: scriptedModel({}, { otherwise: replies }) }),
  capabilities: () => ({
    model: scriptedModel(
      {},
      { otherwise: { ...replies, action: { ...replies.action, calls: [{ capability: 'work', arguments: '{}' }] } } },
    ),
    capabilities: [capabilityNamed('work', () => 'done')],
  }),
};

describe('the bare machine', () => {
  it.each(Object.entries(options))('runs like a chain with the same options: %s', async (_, given) => {
    const once = () => ({ ...given(), clock: new TestClock(), newId: () => 'run-1' });
    const [bare, whole] = [once(), once()];
    const { answer, facts } = await runBare(createBareChain(bare), bare.clock);
    const run = createPostChain(whole).run(RUN);
    expect(answer).toEqual(await run.answer);
    const emitted = run.entries.filter(({ type }) => ['decision', 'operations', 'phase-end'].includes(type));
    expect(facts.filter(({ type }) => ['decision', 'operations', 'phase-end'].includes(type))).toEqual(
      emitted.map(({ seq, atMs, ...fact }) => fact),
    );
    const callsOf = ({ model }: BareChainOptions) => (model as ReturnType<typeof scriptedModel> | undefined)?.calls;
    expect(callsOf(bare)).toEqual(callsOf(whole));
  });

  it('reports partial values to the observer of each machine', async () => {
    const chain = createBareChain({ model: scriptedModel({}, { otherwise: replies }) });
    const partials: PartialUpdate[] = [];
    const ask = (machine: ReturnType<BareChain['createMachine']>) =>
      toPromise(createActor(machine, { input: chain.createInput(RUN) }).start());
    await ask(chain.createMachine());
    expect(partials).toEqual([]);
    await ask(chain.createMachine({ partial: (update) => void partials.push(update) }));
    expect(new Set(partials.map(({ task }) => task))).toContain('yield');
  });

  it.each([
    ['journals', () => createBareChain({ journals: memoryJournals() } as BareChainOptions)],
    ['maxConcurrentRuns', () => createBareChain({ maxConcurrentRuns: 2 } as BareChainOptions)],
    ['whenJournalFails', () => createBareChain({ whenJournalFails: 'stop' } as BareChainOptions)],
    ['signal', () => createBareChain().createInput({ ...RUN, signal: AbortSignal.abort() } as typeof RUN)],
    ['host', () => createBareChain().createInput({ ...RUN, host: { user: 1 } } as typeof RUN)],
  ])('rejects an option that it would ignore: %s', (name, create) => {
    expect(create).toThrow(expect.objectContaining({ code: 'invalid_option' }));
    expect(create).toThrow(
      new RegExp(`^${name}: not supported by a bare machine; received .+\\. Use createPostChain\\.$`),
    );
  });
});
