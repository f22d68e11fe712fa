import { rmSync } from 'node:fs';
import { expect, onTestFinished, vi } from 'vitest';
import type { AnyEventObject, AnyStateMachine } from 'xstate';
import type { ChatModel, ModelPart } from '../../machines/contracts/model.ts';
import { type Clock, systemClock } from '../../src/durable/clock.ts';
import type { DurableActor } from '../../src/durable/durable-actor.ts';
import { createDurableMachine } from '../../src/durable/durable-machine.ts';
import type { DurableEntry } from '../../src/durable/entries.ts';
import { fileJournals } from '../../src/durable/journals/file-journals.ts';
import type { JournalStore } from '../../src/durable/journals/journal-store.ts';
import type { Pending } from '../../src/durable/pending.ts';
import { requestDigest } from '../../src/llm/request-digest.ts';
import { type ScriptedReply, scriptedModel } from '../../src/models/scripted.ts';
import { soundness } from '../../src/testing/charts/properties.ts';
import type { Exploration } from '../../src/testing/exploration/exploration.ts';
import { alwaysEventually } from '../../src/testing/properties/always-eventually.ts';
import { describeFinding, findingsOf, type Property } from '../../src/testing/properties/properties.ts';
import type { Capability } from '../../src/tools/capability.ts';
import { MortalJournals, quiet, repeatedAfterEnd } from './durable-runs.ts';
import { TestClock } from './simulated-clock.ts';

/** An agent of `examples/agents` and what a test needs to run it. */
export interface AgentExample {
  readonly machine: AnyStateMachine;
  readonly input: unknown;
  /** Scripted models that the machine calls. */
  readonly models: readonly ChatModel[];
  /** The tools that reach the outside world. */
  readonly tools?: readonly Capability[];
  /** Other objects that reach the outside world. The first argument of each function is the idempotency key. */
  readonly services?: Readonly<Record<string, Readonly<Record<string, (key: string, ...args: never[]) => unknown>>>>;
  /** What a person sends to an agent that waits; null for nothing. Without it, approvals are given. */
  readonly person?: (pending: Pending) => AnyEventObject | null;
}

/** Approves every call, as Ada. */
const approveAll = ({ approvals: [open] }: Pending): AnyEventObject | null =>
  open === undefined ? null : answerTo(open, 'approve');

/** Denies every call, as Ada. */
export const denyAll = ({ approvals: [open] }: Pending): AnyEventObject | null =>
  open === undefined ? null : answerTo(open, 'deny');

const answerTo = ({ id, digest }: Pending['approvals'][number], decision: 'approve' | 'deny'): AnyEventObject => ({
  type: 'approval.given',
  id,
  digest,
  decision,
  by: 'Ada',
});

/** Checks that a machine is sound, that each of its runs ends whatever its actors do, and that properties hold. */
export function requireProperties(exploration: Exploration, properties: readonly Property[] = []): void {
  expect(exploration.isComplete).toBe(true);
  const ends = alwaysEventually('ended', ({ status }) => status === 'done');
  const findings = findingsOf(exploration, [...soundness, ends, ...properties]);
  expect(findings.filter(({ witness }) => witness !== null).map(describeFinding)).toEqual([]);
}

/** What an agent did to the outside world. */
interface World {
  /** The digests of the requests to models, in order. */
  readonly requests: string[];
  /** Calls of tools and services, in order: a name, the idempotency key and the arguments. */
  readonly calls: { readonly name: string; readonly key: string; readonly args: string }[];
}

export interface AgentRun extends World {
  readonly entries: readonly DurableEntry[];
  readonly value: unknown;
  readonly status: string;
  readonly output: unknown;
  /** What was stored and how many requests were made when the process was killed; null if it was not. */
  readonly killed: { readonly stored: readonly DurableEntry[]; readonly requests: number } | null;
  readonly divergence: unknown;
}

const START_MS = Date.parse('2026-01-01T00:00:00Z');
const MOST_EVENTS = 1_000;

/**
 * Returns a function that runs an agent from its start to its end in simulated time. With `life`, the process dies after so many entries, and
 * another one continues. Equal requests to a model get equal replies in all runs, so that a repeated call does not disturb the script.
 */
export function agentRuns(example: AgentExample) {
  const { machine, input, person = approveAll } = example;
  let world: World = { requests: [], calls: [] };
  watchModels(example, (digest) => world.requests.push(digest));
  watchCalls(example, (call) => world.calls.push(call));
  vi.spyOn(systemClock, 'now').mockReturnValue(START_MS);
  vi.spyOn(systemClock as Required<Clock>, 'takeTurn').mockImplementation((act) => act());
  onTestFinished(() => void vi.restoreAllMocks());

  return async (options: { readonly life?: number; readonly journals?: JournalStore; readonly id?: string } = {}) => {
    const { id = 'agent' } = options;
    world = { requests: [], calls: [] };
    const clock = new TestClock();
    clock.set(START_MS);
    let mortal = new MortalJournals([], false, options.life);
    const host = () => createDurableMachine(machine, { journals: options.journals ?? mortal, clock, logger: () => {} });
    let durable = host();
    const start = () => durable.start(id, { input: input as never, seed: 1 });
    let actor: DurableActor<AnyStateMachine> = start();
    let killed: AgentRun['killed'] = null;
    for (let sent = 0; ; ) {
      await quiet(() => actor.entries.length + world.requests.length + world.calls.length);
      if (mortal.isDead) {
        // The dead process waits for its last write for ever, and stores and sends nothing more.
        void actor.close();
        killed = { stored: [...mortal.entries], requests: world.requests.length };
        mortal = new MortalJournals(mortal.entries, false);
        durable = host();
        actor = mortal.entries.length === 0 ? start() : await durable.open(id, { mustExist: true });
        continue;
      }
      if (actor.getSnapshot().status !== 'active') break;
      const event = person(actor.pending);
      if (sent >= MOST_EVENTS || (event === null && clock.nextAt === null))
        throw new Error(`the agent waits in ${JSON.stringify(actor.getSnapshot().value)}`);
      sent += 1;
      if (event === null) clock.set(clock.nextAt as number);
      else void actor.send(event, { id: String(sent) }).catch(() => {});
    }
    const { value, status, output } = actor.getSnapshot();
    const { entries } = actor;
    await actor.close();
    const { divergence } = await durable.replay(id);
    return { ...world, entries, value, status, output, killed, divergence } satisfies AgentRun;
  };
}

/** Replies that are invalid, or may be, depending on the agent. */
const REPLIES: Readonly<Record<string, ScriptedReply>> = {
  invalid: { text: '{"other":[1]}' },
  empty: { text: '' },
  refused: { text: 'I cannot help with that.', reason: 'content-filter' },
  failed: { failure: { code: 'unauthorized', retryable: false } },
  slow: { hang: true, text: '{"' },
  cut: { text: '{"answer":"Yes', cut: 10 },
};

/** Checks that an agent ends if its model gives the same reply, valid or not, to every call, and that its journal replays. */
export async function requireEndsForAnyReply(example: AgentExample): Promise<void> {
  const run = agentRuns({ ...example, models: [] });
  for (const [name, reply] of Object.entries(REPLIES)) {
    const { stream, calls } = scriptedModel(() => reply);
    for (const model of example.models) vi.spyOn(model, 'stream').mockImplementation(stream);
    const { status, divergence } = await run();
    expect([status, divergence], name).toEqual(['done', null]);
    expect(calls, name).not.toEqual([]);
  }
}

/** The replies so far by the digest of their request. Scripts have each reply once. */
const replies = new WeakMap<ChatModel, Map<string, readonly ModelPart[]>>();

function watchModels({ models }: AgentExample, onRequest: (digest: string) => void): void {
  for (const model of models) {
    const known = replies.get(model) ?? new Map<string, readonly ModelPart[]>();
    replies.set(model, known);
    const original = model.stream.bind(model);
    vi.spyOn(model, 'stream').mockImplementation((request, options) => {
      const digest = requestDigest(request);
      onRequest(digest);
      return (async function* () {
        const parts = known.get(digest);
        if (parts !== undefined) return yield* parts;
        const received: ModelPart[] = [];
        for await (const part of original(request, options)) {
          received.push(part);
          if (part.type === 'finish' || part.type === 'failure') known.set(digest, received);
          yield part;
        }
      })();
    });
  }
}

type Call = (key: string, ...args: unknown[]) => unknown;

function watchCalls({ tools = [], services = {} }: AgentExample, onCall: (call: World['calls'][number]) => void): void {
  for (const tool of tools) {
    const original = tool.execute.bind(tool);
    vi.spyOn(tool, 'execute').mockImplementation((args, context) => {
      onCall({ name: tool.name, key: context.idempotencyKey, args: JSON.stringify(args) });
      return original(args, context);
    });
  }
  for (const [service, functions] of Object.entries(services))
    for (const [name, original] of Object.entries(functions as Record<string, Call>))
      vi.spyOn(functions as Record<string, Call>, name).mockImplementation((key, ...args) => {
        onCall({ name: `${service}.${name}`, key, args: JSON.stringify(args) });
        return original(key, ...args);
      });
}

/**
 * Kills an agent at each entry of its journal, and checks what the process that continues it does: it repeats no model call, tool call or
 * effect whose end was stored, makes those that are missing, has no effect twice, ends with the same output, and its journal replays.
 */
export async function requireSurvivesKills(example: AgentExample): Promise<AgentRun> {
  const run = agentRuns(example);
  const whole = await run();
  expect(whole.status).toBe('done');
  expect(whole.divergence).toBeNull();
  expect(await run()).toEqual(whole);
  for (let life = 0; life < whole.entries.length; life += 1) {
    const resumed = await run({ life });
    const at = `killed at entry ${life}`;
    const { stored = [], requests = 0 } = resumed.killed ?? {};
    expect(stored, at).toHaveLength(life);
    expect([resumed.status, resumed.value, resumed.output], at).toEqual([whole.status, whole.value, whole.output]);
    expect(resumed.divergence, at).toBeNull();
    const missing = without(whole.requests, finishedRequests(stored));
    expect(resumed.requests.slice(requests).sort(), at).toEqual(missing.sort());
    const calls = resumed.calls.map(({ name, key }) => `${name} ${key}`);
    expect(repeatedAfterEnd(calls, stored), at).toEqual([]);
    expect(effectsOf(resumed), at).toEqual(effectsOf(whole));
  }
  return whole;
}

/** The digests of the requests whose replies are stored. */
function finishedRequests(stored: readonly DurableEntry[]): readonly string[] {
  const ended = new Set(stored.flatMap((entry) => (isReply(entry) ? [entry.activity] : [])));
  return stored.flatMap((entry) => {
    const { type, digest } = (entry.type === 'note' ? Object(entry.note) : {}) as { type?: string; digest?: string };
    const { activity } = entry as { readonly activity?: number };
    return type === 'prompt' && digest !== undefined && ended.has(activity as number) ? [digest] : [];
  });
}

const isReply = (entry: DurableEntry): entry is Extract<DurableEntry, { type: 'activity-event' }> =>
  entry.type === 'activity-event' && Object(entry.event).type === 'reply.ended';

/** A list without the first occurrence of each of some items. */
function without(all: readonly string[], some: readonly string[]): string[] {
  const rest = [...all];
  for (const one of some) {
    const at = rest.indexOf(one);
    expect(at, 'a finished request that a whole run does not make').toBeGreaterThanOrEqual(0);
    rest.splice(at, 1);
  }
  return rest;
}

/** What a world has that counts each idempotency key once: the names and arguments of the calls. */
const effectsOf = ({ calls }: World): readonly string[] =>
  [...new Map(calls.map(({ name, key, args }) => [`${name} ${key}`, `${name} ${args}`])).values()].sort();

const RECORDED = 'examples/agents/recorded';

/**
 * Checks that the recorded run of an agent replays without a difference and ends as a new run does. With `UPDATE_RECORDINGS=1`, records it
 * again.
 */
export async function requireReplaysRecording(name: string, example: AgentExample): Promise<void> {
  const journals = fileJournals(RECORDED);
  const run = agentRuns(example);
  if (process.env['UPDATE_RECORDINGS'] === '1') {
    rmSync(`${RECORDED}/${name}.jsonl`, { force: true });
    await run({ journals, id: name });
  }
  const { value, status, output } = await run();
  const durable = createDurableMachine(example.machine, { journals });
  const { divergence, snapshot } = await durable.replay(name);
  expect(divergence).toBeNull();
  expect([snapshot.value, snapshot.status, snapshot.output]).toEqual([value, status, output]);
}
