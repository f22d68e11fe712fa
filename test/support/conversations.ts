import fc from 'fast-check';
import type { ModelRequest } from '../../machines/contracts/model.ts';
import { PHASES, type Phase } from '../../machines/contracts/phase.ts';
import type { Replies } from '../../machines/contracts/phase-io.ts';
import type { PostChainOptions } from '../../src/chain/runtime/options.ts';
import type { ProfileOption } from '../../src/chain/runtime/profile.ts';
import { createPostChain } from '../../src/entries/index.ts';
import { type ScriptedReply, scriptedModel } from '../../src/models/scripted.ts';
import { replies } from '../../src/testing/replies.ts';
import { eager, everyTask, worthASummary } from './run-chain.ts';
import { runToEnd, TestClock } from './simulated-clock.ts';

/** What a call can come to before one succeeds: an invalid reply, which is corrected, or a broken connection, which is retried. */
const TEMPORARY = ['invalid', 'cut'] as const;

/**
 * What the model replies to one phase in one cycle. `before`: how its first calls fail. `form`: what the later ones give, however often the
 * reply is requested.
 */
interface PhaseScript {
  readonly reply: object;
  readonly before: readonly (typeof TEMPORARY)[number][];
  readonly form: 'reply' | 'prose' | 'invalid' | 'unauthorized';
}

const share = fc.constantFrom(0, 0.1, 0.25, 0.35, 0.5, 0.65, 0.69, 0.71, 0.8, 0.91, 0.95, 1);
const seldom = fc.nat({ max: 4 }).map((at) => at === 0);
const text = fc.constantFrom(
  'It is so.',
  'It is so, and it was so in winter.',
  'No.',
  'The bridge opened in 1931.',
  '',
);
const otherWords = fc
  .integer({ min: 1, max: 4 })
  .map((at) => ['alpha', 'beta', 'gamma'].map((word) => `${word}${at}`).join(' '));
/** Ids of messages that a run may have, and one that none has. */
const messageId = fc.constantFrom(
  ...['request', 'earlier.long', 'earlier.newest', 'p1', 'p2', 'p3', 's1.m1', 's1.m2', 's2.m2', 's2.m4'],
  ...['s3.m1', 's4.m1', 's6.m1', 's9.m1', 's12.m1', 'nowhere'],
);
const few = <Value>(arbitrary: fc.Arbitrary<Value>) => fc.array(arbitrary, { maxLength: 3 });

/** A valid reply to each phase. */
const phaseReplies: { readonly [P in Phase]: fc.Arbitrary<Replies[P]> } = {
  action: fc.record({
    response: text,
    confidence: share,
    calls: seldom.map((isCall) => (isCall ? [{ capability: 'work', arguments: '{}' }] : [])),
  }),
  experience: fc.record({
    summary: text,
    relevantPassageIds: few(messageId),
    missing: few(fc.constant('the year')),
    confidence: share,
  }),
  intention: fc.record({
    goal: text,
    alternatives: few(text),
    clarity: share,
    unclearIntent: seldom,
    alignment: few(fc.record({ messageId, score: share })),
  }),
  observation: fc.record({
    insights: few(text),
    undigested: seldom,
    entities: few(fc.record({ name: text, messageIds: few(messageId) })),
    connections: few(
      fc.record({
        from: messageId,
        to: messageId,
        relation: fc.constantFrom('supports', 'contradicts'),
        strength: share,
      }),
    ),
    importance: few(fc.record({ messageId, score: share })),
  }),
  understanding: fc.record({
    integrated: text,
    assessments: few(fc.record({ messageId, relevance: share, reason: fc.constant('rated') })),
  }),
  yield: fc.record({
    answer: fc.oneof(text, otherWords),
    confidence: share,
    taskComplete: seldom,
    informationSufficiency: fc.oneof(fc.constant(1), share),
    needsTools: seldom,
    proposedPhase: fc.option(fc.constantFrom<string>(...PHASES, 'nowhere')),
    rationale: fc.constant('as scripted'),
    usedMessageIds: few(messageId),
    noEvidence: seldom,
    notes: text,
  }),
};

const before = fc.oneof(
  { weight: 9, arbitrary: fc.constant<PhaseScript['before']>([]) },
  { weight: 1, arbitrary: fc.array(fc.constantFrom(...TEMPORARY), { minLength: 1, maxLength: 2 }) },
);
const form = fc.oneof(
  { weight: 40, arbitrary: fc.constant('reply' as const) },
  { weight: 4, arbitrary: fc.constantFrom('prose' as const, 'invalid' as const) },
  { weight: 1, arbitrary: fc.constant('unauthorized' as const) },
);

/** The cycles that have scripts of their own; later ones repeat the last. */
const CYCLES = 4;
const scriptsOf = (phase: Phase): fc.Arbitrary<readonly PhaseScript[]> =>
  fc.array(fc.record({ reply: phaseReplies[phase], before, form }), { minLength: CYCLES, maxLength: CYCLES });

const passages = ['It is so, and it was so in winter.', 'The bridge opened in 1931.', 'Ferries sail at noon.'].map(
  (content, at) => ({
    id: `p${at + 1}`,
    text: content,
    heading: [],
    source: { path: `${at + 1}.md`, startLine: 1 },
    relevance: 0.9 - at / 5,
  }),
);

/** A conversation: what the model replies to each phase in each cycle, and what the chain reads and allows. */
export const conversationArbitrary = fc.record({
  scripts: fc.record({
    action: scriptsOf('action'),
    experience: scriptsOf('experience'),
    intention: scriptsOf('intention'),
    observation: scriptsOf('observation'),
    understanding: scriptsOf('understanding'),
    yield: scriptsOf('yield'),
  }),
  request: fc.constantFrom('Is it so?', 'When did the bridge open?', 'Answer in one word, and in detail.'),
  startAt: fc.constantFrom('action' as const, 'action' as const, ...PHASES),
  maxCycles: fc.constantFrom(1, 2, 3, 4),
  documents: fc.constantFrom('none', 'some', 'some', 'no match', 'broken'),
  hasHistory: fc.boolean(),
  thresholds: fc.constantFrom({}, eager, { crowdedMessages: 4 }),
  maxMessages: fc.constantFrom(200, 200, 6),
  consent: fc.constantFrom('ask' as const, 'keep' as const, 'remove' as const),
});
export type Conversation = typeof conversationArbitrary extends fc.Arbitrary<infer Value> ? Value : never;

/**
 * Returns a model that gives a phase the same reply whether the phase asks alone, shares a call, or has one that starts early. Like the
 * prompts request, the reply to a single phase is a member of an object; the scripted model puts the others together.
 */
function conversationModel({ scripts }: Conversation) {
  const calls = new Map<string, number>();
  return scriptedModel(({ task, input, phases }: ModelRequest): ScriptedReply => {
    if (!isPhase(task)) return replies[task as 'summary'];
    const { cycle } = input as { readonly cycle: number };
    const script = scripts[task][Math.min(cycle, CYCLES) - 1];
    if (script === undefined) throw new Error(`${task} has no script for cycle ${cycle}`);
    const key = `${task} ${cycle}`;
    const made = calls.get(key) ?? 0;
    calls.set(key, made + 1);
    const reply = replyOf(script, made);
    return 'reply' in reply && phases === undefined ? { reply: { [task]: reply.reply } } : reply;
  });
}

const isPhase = (task: string): task is Phase => PHASES.some((phase) => phase === task);

/** Returns what a call comes to after `made` earlier ones for the same reply. */
function replyOf({ reply, before: failures, form: ending }: PhaseScript, made: number): ScriptedReply {
  switch (failures[made] ?? ending) {
    case 'cut':
      return { failure: { code: 'stream_cut' } };
    case 'invalid':
      return { reply: { confidence: 'none', goal: 3 } };
    case 'prose':
      return { text: 'I think that it is so.' };
    case 'unauthorized':
      return { failure: { code: 'unauthorized', retryable: false } };
    default:
      return { reply };
  }
}

/** More than a run takes: within the same budget, a profile with fewer calls gets further. */
const AMPLE = { maxModelCalls: 10_000, maxTokens: 100_000_000, totalMs: 100_000_000 };

/** Runs a conversation in a profile to its end. If it asks for consent, nobody answers. */
export async function runConversation(conversation: Conversation, profile: ProfileOption) {
  const { request, startAt, maxCycles, documents, hasHistory, thresholds, maxMessages, consent } = conversation;
  const clock = new TestClock();
  const model = conversationModel(conversation);
  const options: PostChainOptions = {
    ...everyTask.options,
    ...{ model, clock, profile, thresholds, consent, newId: () => 'run' },
    limits: { ...AMPLE, maxCycles, maxMessages, consentMs: 1000 },
    ...(documents !== 'none' && { documents: { search: async (query: string) => found(documents, query) } }),
  };
  const run = createPostChain(options).run({ request, startAt, ...(hasHistory && { messages: worthASummary }) });
  await runToEnd(
    () => run.actor.getSnapshot().status === 'active',
    clock,
    () => run.journal.length,
  );
  return { run, model, answer: await run.answer };
}

function found(documents: Conversation['documents'], query: string) {
  if (documents === 'broken') throw new Error('the source is broken');
  return { query, passages: documents === 'some' ? passages : [], widened: false };
}
