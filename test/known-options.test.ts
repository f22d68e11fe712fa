import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { createMachine } from 'xstate';
import * as z from 'zod';
import * as agents from '../src/entries/agents.ts';
import * as aiSdk from '../src/entries/ai-sdk.ts';
import * as cloudflare from '../src/entries/cloudflare.ts';
import * as durable from '../src/entries/durable.ts';
import * as postchain from '../src/entries/index.ts';
import * as inspection from '../src/entries/inspection.ts';
import * as mcp from '../src/entries/mcp.ts';
import * as node from '../src/entries/node.ts';
import * as openai from '../src/entries/openai.ts';
import * as otel from '../src/entries/otel.ts';
import * as postgres from '../src/entries/postgres.ts';
import * as presentation from '../src/entries/presentation.ts';
import * as restate from '../src/entries/restate.ts';
import * as server from '../src/entries/server.ts';
import * as testing from '../src/entries/testing.ts';
import { extractiveModel } from '../src/models/extractive/extractive-model.ts';

const MISSPELT = { mispelt: 1 };
// biome-ignore lint/suspicious/noExplicitAny: as JavaScript calls them
type Untyped = any;
const exported: Untyped = Object.assign(
  {},
  ...[agents, aiSdk, durable, inspection, mcp, node, openai, otel, presentation],
);
Object.assign(exported, cloudflare, postgres, restate, server, testing, postchain);

const machine = createMachine({ id: 'm', on: { GO: {} } });
const machineOf = (): Untyped => durable.createDurableMachine(machine, { journals: durable.memoryJournals() });
const chain = (): Untyped =>
  postchain.createPostChain({ model: extractiveModel(), journals: postchain.memoryJournals() });
const opened = async (): Promise<Untyped> => machineOf().open('a');
const exploration = testing.explore(machine);
const store = (): Untyped => durable.memoryJournals();
const files = (): Untyped => durable.fileJournals('/tmp/never-written');
const model = extractiveModel();
const schema = z.object({ a: z.string() });
const tool = agents.defineCapability({ name: 'a', description: 'A.', arguments: schema, execute: () => '' });

const SYNTHESIS = {
  request: 'a',
  executionResults: [],
  planState: {},
  convergenceAssessment: {},
  executionStartTimestamp: '2026-01-01T00:00:00Z',
  convergenceStatus: true,
  totalPasses: 1,
  totalRefinements: 0,
  ttlRemaining: 0,
};

/** How each function is called whose options are its last argument, and not its first. */
const CALLS: Readonly<Record<string, (options: object) => unknown>> = {
  aiSdkModel: (options) =>
    exported.aiSdkModel(
      { provider: 'p', modelId: 'm', specificationVersion: 'v3', doStream() {} },
      { contextWindowTokens: 1000, ...options },
    ),
  asLanguageModel: (options) => exported.asLanguageModel(chain(), options),
  fileJournals: (options) => durable.fileJournals('a', options),
  'node fileJournals': (options) => node.fileJournals('a', options),
  sqliteJournals: (options) => durable.sqliteJournals('a', options),
  'node sqliteJournals': (options) => node.sqliteJournals('a', options),
  postgresJournals: (options) => durable.postgresJournals('postgres://localhost/a', options),
  'postgres postgresJournals': (options) => postgres.postgresJournals('postgres://localhost/a', options),
  durableObjectJournals: (options) => cloudflare.durableObjectJournals({} as Untyped, options),
  createDurableMachine: (options) =>
    durable.createDurableMachine(machine, { journals: durable.memoryJournals(), ...options }),
  createWorker: (options) => durable.createWorker({ hosts: [chain()], ...options }),
  generate: (options) => agents.generate({ model, ...options } as never),
  decide: (options) => agents.decide({ model, events: { a: schema }, ...options } as never),
  runTools: (options) => agents.runTools({ model, tools: [tool], ...options } as never),
  createAttempt: (options) => postchain.createAttempt({ schema, model, ...options } as never),
  createStructuredOutput: (options) =>
    postchain.createStructuredOutput({ schema, model, prompt: 'a', ...options } as never),
  fallbackModel: (options) => postchain.fallbackModel(model, options),
  synthesizeAnswer: (options) => postchain.synthesizeAnswer(SYNTHESIS as never, options),
  createPassageIndex: (options) => postchain.createPassageIndex([], options),
  connectMcp: (options) => mcp.connectMcp({ name: 'a', url: 'http://localhost:1', ...options } as never),
  loadDocuments: (options) => node.loadDocuments([], options as never),
  sqliteSessions: (options) => node.sqliteSessions('a', options),
  openaiModel: (options) => openai.openaiModel({ model: 'm', apiKey: 'k', ...options } as never),
  openaiEmbeddings: (options) => openai.openaiEmbeddings({ model: 'm', apiKey: 'k', ...options } as never),
  postgresSessions: (options) => postgres.postgresSessions('postgres://localhost/a', options),
  createRestateActor: (options) => restate.createRestateActor(machine, options),
  createServer: (options) =>
    server.createServer({
      chain: chain(),
      authorize: () => 'a',
      ...options,
    } as never),
  exportRun: (options) => inspection.exportRun([], options),
  traceRun: (options) => otel.traceRun([], options),
  answerAsJson: (options) => presentation.answerAsJson({} as never, options),
  answerAsText: (options) => presentation.answerAsText({} as never, options),
  alwaysEventually: (options) => testing.alwaysEventually('a', () => true, options),
  cover: (options) => testing.cover(exploration, options),
  coverageText: (options) => testing.coverageText([], options),
  evaluate: (options) =>
    testing.evaluate([{ name: 'a', request: 'b' }] as never, { systems: {}, scorers: {}, ...options } as never),
  explore: (options) => testing.explore(machine, options),
  journalStoreChecks: (options) => testing.journalStoreChecks({ open: store, journal: [], ...options } as never),
  runPath: (options) => testing.runPath(exploration, testing.pathTo(exploration, 0), options),
  scriptedModel: (options) => testing.scriptedModel({}, options),
  startWalk: (options) => testing.startWalk(machine, options),
  respond: (options) =>
    testing.respond(
      'a',
      () => true,
      'b',
      () => true,
      options,
    ),
  testSystem: (options) => testing.testSystem(exploration, options as never),
  toVitest: (options) => testing.toVitest([], { journalPath: 'a', ...options }),
  whatIf: (options) => postchain.whatIf([], options as never),
  'DurableActor.send': async (options) => (await opened()).send({ type: 'GO' }, options),
  'DurableActor.park': async (options) => (await opened()).park(options),
  'DurableMachine.start': (options) => machineOf().start('a', options),
  'DurableMachine.enqueue': (options) => machineOf().enqueue('a', options),
  'DurableMachine.open': (options) => machineOf().open('a', options),
  'DurableMachine.send': async (options) => machineOf().send('a', { type: 'GO' }, options),
  'DurableMachine.advance': (options) => machineOf().advance('a', options),
  'DurableMachine.fork': (options) => machineOf().fork('a', { at: 0, ...options }),
  'DurableMachine.skip': (options) => machineOf().skip('a', options),
  'DurableMachine.repair': (options) => machineOf().repair('retry', options),
  'DurableMachine.list': (options) => machineOf().list(options),
  'Schedules.backfill': (options) =>
    durable
      .createSchedules({ journals: durable.memoryJournals(), hosts: [machineOf()] })
      .backfill('a', { from: '2026-01-01', to: '2026-01-02', ...options }),
  'JournalStore.read': (options) => store().read('a', options).next(),
  'file JournalStore.read': (options) => files().read('a', options).next(),
  'JournalStore.open': (options) => store().open('a', options),
  'file JournalStore.open': (options) => files().open('a', options),
  customJournals: (options) => exported.customJournals({}, options),
  'JournalStore.list': (options) => store().list(options),
  'JournalStore.follow': (options) => store().follow('a', options),
  'file JournalStore.follow': (options) => files().follow('a', options),
  'JournalStore.prune': (options) => store().prune({ olderThanMs: 1, ...options }),
  'createCapabilityLoop.run': (options) =>
    postchain.createCapabilityLoop({ model: extractiveModel() }).run({ request: 'a', ...options }),
  'BareChain.createInput': (options) => postchain.createBareChain().createInput({ request: 'a', ...options } as never),
  'OpenAIModel.checkKey': (options) =>
    openai.openaiModel({ model: 'm', apiKey: 'k' }).checkKey({ signal: AbortSignal.abort(), ...options } as never),
  'PostChain.run': (options) => chain().run({ request: 'a', ...options }),
  'PostChain.resume': (options) => chain().resume('a', options),
  'PostChain.advance': (options) => chain().advance('a', options),
  'PostChain.fork': (options) => chain().fork([], { at: 0, ...options }),
};

/** PostChain calls these, or their options are those of another package. */
const CALLED_BY_POSTCHAIN = [
  'AiSdkLanguageModel.doStream',
  'ChainLanguageModel.doGenerate',
  'ChainLanguageModel.doStream',
  'ChatModel.stream',
  'CheckedMachine.list',
  'EmbeddingModel.embed',
  'JournalBackend.reopen',
  'PassageSource.search',
  'RunActions.fork',
  'RunActions.resume',
  'ScheduledHost.start',
  'ScheduledHost.enqueue',
  'SessionStore.append',
  'SessionStore.recall',
  'WorkerHost.advance',
];

/** The functions of `api/` that take options, and the methods of its interfaces. */
function takingOptions(): readonly string[] {
  const found = new Set<string>();
  for (const file of readdirSync('api')) {
    let owner = '';
    for (const line of file === 'used.md' ? [] : readFileSync(`api/${file}`, 'utf8').split('\n')) {
      const [, kind, name] = /^export (?:declare )?(\w+) (\w+)/u.exec(line) ?? [];
      owner = name ?? owner;
      const method = /^ {4}(?!constructor)(\w+)\??\(/u.exec(line)?.[1];
      if (!/Options\b|Schema>>|\}\?: |options\??: \{/u.test(line.replace(/^export (?:declare )?\w+ \w+/u, '')))
        continue;
      if (kind === 'function' || (kind === 'const' && /: \(/u.test(line))) found.add(owner);
      else if (method !== undefined) found.add(`${owner}.${method}`);
    }
  }
  return [...found].filter((name) => !CALLED_BY_POSTCHAIN.includes(name)).sort();
}

describe('a misspelled option', () => {
  it.each([...new Set([...takingOptions(), ...Object.keys(CALLS)])])('of %s is rejected', async (name) => {
    const call = CALLS[name] ?? exported[name];
    const refused = await Promise.resolve(MISSPELT)
      .then(call)
      .then(
        () => 'nothing was refused',
        (error: unknown) => error,
      );
    expect(refused).toMatchObject({
      code: 'invalid_option',
      message: expect.stringMatching(/^[^\n]*\bmispelt\b[^\n]*$/u),
    });
    expect(refused).toMatchObject({ message: expect.stringMatching(/expected (?:only|one of) /u) });
  });
});
