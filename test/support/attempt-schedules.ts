import * as z from 'zod';
import type { Failure, FailureStage } from '../../machines/contracts/failure.ts';
import type { ReplyForm } from '../../machines/contracts/model.ts';
import type { TokenUsage } from '../../machines/contracts/usage.ts';
import { failureOf } from '../../machines/policies/failures.ts';
import { createRandom, type Random } from './random.ts';

/** Everything that happens to one structured output: it is data, so that it can be played, predicted and printed. */
export interface Schedule {
  readonly seed: number;
  readonly form: ReplyForm;
  readonly kind: ListOrObject;
  readonly policy: SchedulePolicy;
  readonly limits: ScheduleLimits;
  readonly hooks: ScheduleHooks;
  /** Of each model in line: whether no prompt fits into it. */
  readonly narrow: readonly boolean[];
  /** How long it takes to validate a reply. */
  readonly validateMs: number;
  /** What each call does, whichever model it goes to; there is one for every call that the budgets could allow. */
  readonly calls: readonly CallPlan[];
  readonly stop: AbortPlan | null;
  readonly reader: ReaderPlan;
}

interface SchedulePolicy {
  readonly maxCorrections: number;
  readonly maxTransportRetries: number;
  readonly baseMs: number;
  readonly correctionMs: number;
  readonly maxMs: number;
  readonly jitter: number;
  readonly stopOnRepeatedError: boolean;
  readonly feedbackChars: number;
  readonly fallbacks: number;
  readonly after: number | null;
}

export interface ScheduleLimits {
  readonly firstChunkMs: number;
  readonly chunkMs: number;
  readonly totalMs: number;
  readonly maxReplyChars: number;
  readonly maxCalls: number;
}

export interface ScheduleHooks {
  /** `shouldRetry` declines from this many attempts on. */
  readonly declinesFrom: number | null;
  /** `prepareRetry` waits longer. */
  readonly extraWaitMs: number;
  /** A rule throws when it is asked about this attempt. */
  readonly throwing: { readonly rule: 'shouldRetry' | 'recordFailure' | 'prepareRetry'; readonly at: number } | null;
  /** `finalizeOrThrow` throws an error of its own. */
  readonly hasLastWord: boolean;
}

export interface Step {
  readonly afterMs: number;
  /** The reply's own characters, or others beside it. */
  readonly type: 'own' | 'reasoning' | 'text';
  readonly text: string;
}

export type Ending =
  | {
      readonly type: 'finish';
      readonly reason: 'stop' | 'length' | 'content-filter';
      readonly usage: TokenUsage | null;
    }
  | { readonly type: 'failure'; readonly failure: Failure; readonly usage: TokenUsage | null }
  | { readonly type: 'throw' | 'hang' | 'deaf' | 'nothing' };

export interface CallPlan {
  readonly reply: PlannedReply;
  readonly steps: readonly Step[];
  readonly endAfterMs: number;
  readonly ending: Ending;
}

interface AbortPlan {
  /** Below 0: before anybody has asked for anything. */
  readonly atMs: number;
  readonly by: 'cancel' | 'signal';
}

export interface ReaderPlan {
  /** `leaves` stops reading at the first reset; `late` begins after a while; `slow` takes its time after each update. */
  readonly type: 'value' | 'updates' | 'steps' | 'slow' | 'late' | 'leaves' | 'elements';
  readonly ms: number;
}

/** A schedule as one can read it. */
export function describeSchedule({ calls, ...schedule }: Schedule): string {
  const lines = calls.map(({ reply: said, steps, endAfterMs, ending }, index) => {
    const parts = steps.map(({ afterMs, type, text }) => `+${afterMs} ${type} ${JSON.stringify(text)}`);
    return `  call ${index + 1} (${said.name}): ${[...parts, `+${endAfterMs} ${JSON.stringify(ending)}`].join(', ')}`;
  });
  const head = Object.entries(schedule).map(([name, value]) => `  ${name}: ${JSON.stringify(value)}`);
  return [...head, ...lines].join('\n');
}

type ListOrObject = 'object' | 'list';

/** What a reply says, and what is to come of it when all of it arrives. */
interface PlannedReply {
  readonly name: string;
  readonly text: string;
  /** Said as plain text even where a tool call is wanted. */
  readonly isPlainText: boolean;
  /** The JSON in it, unwrapped; undefined, there is none. */
  readonly json?: unknown;
  /** What the schema makes of it; undefined where it is refused. */
  readonly value?: unknown;
  /** The items of a list that may be given: those before the first that is wrong. */
  readonly items: readonly unknown[];
  /** How many characters there are up to the end of each. */
  readonly itemEnds: readonly number[];
  /** Why it is refused. Two of the same words are wrong in the same way. */
  readonly fault: ReplyFault | null;
}

export interface ReplyFault {
  readonly stage: FailureStage;
  readonly code: string;
  readonly detail: string;
}

const Item = z
  .object({ n: z.int(), label: z.string() })
  .refine(({ n }) => n !== 13, 'not thirteen')
  .transform(({ n, label }) => {
    if (label === 'boom') throw new Error('boom');
    return { n, label: label.toUpperCase() };
  });
export const schemas = { object: Item, list: z.array(Item) };

interface RawItem {
  readonly n: unknown;
  readonly label: string;
}

const FAULTS: Readonly<Record<'shape' | 'rule' | 'throws', ReplyFault & { readonly change: object }>> = {
  shape: { stage: 'schema', code: 'invalid_reply', detail: 'shape', change: { n: 'many' } },
  rule: { stage: 'refinement', code: 'invalid_reply', detail: 'rule', change: { n: 13 } },
  throws: { stage: 'transformation', code: 'transformation_failed', detail: 'throws', change: { label: 'boom' } },
};

const rawItem = (draw: Random): RawItem => ({
  n: draw.int(14, 9_999),
  label: draw.pick(['plain', 'with "quotes"', 'ünï😀', 'a\nb', '{[,]}', '']),
});

const transformed = ({ n, label }: RawItem): unknown => ({ n, label: label.toUpperCase() });

function itemEndsIn(text: string, items: readonly unknown[]): number[] {
  let end = 0;
  return items.map((item) => {
    const json = JSON.stringify(item);
    end = text.indexOf(json, end) + json.length;
    return end;
  });
}

/** A reply that is one whole JSON text. */
function wholeReply(draw: Random, kind: ListOrObject, fault: keyof typeof FAULTS | null): PlannedReply {
  const items = Array.from({ length: kind === 'object' ? 1 : draw.int(fault === null ? 0 : 1, 4) }, () =>
    rawItem(draw),
  );
  const at = draw.int(0, Math.max(0, items.length - 1));
  const wrong = fault === null ? null : FAULTS[fault];
  if (wrong !== null) items[at] = { ...(items[at] as RawItem), ...wrong.change };
  const json = kind === 'object' ? items[0] : items;
  // Whether an empty list without its object is the value depends on how the reply ends: see lists-and-roots.test.ts.
  const isBare = kind === 'object' || (items.length > 0 && draw.chance(0.3));
  const text = JSON.stringify(isBare ? json : { value: json });
  return {
    name: fault ?? 'right',
    text,
    itemEnds: itemEndsIn(text, items),
    isPlainText: false,
    json,
    ...(wrong === null && { value: kind === 'object' ? transformed(items[0] as RawItem) : items.map(transformed) }),
    items: kind === 'object' ? [] : items.slice(0, wrong === null ? items.length : at).map(transformed),
    fault: wrong && { stage: wrong.stage, code: wrong.code, detail: `${wrong.detail} ${fault === 'throws' ? '' : at}` },
  };
}

/** A reply with words around its JSON: a text may have them, the arguments of a tool may not. */
function wordyReply(draw: Random, kind: ListOrObject, form: ReplyForm): PlannedReply {
  const whole = wholeReply(draw, kind, null);
  const text = draw.pick([
    `Here {it} is: ${whole.text} Bye.`,
    `\`\`\`json\n${whole.text}\n\`\`\``,
    `I think [well, a bit] so: ${whole.text}`,
  ]);
  const itemEnds = whole.itemEnds.map((end) => end + text.indexOf(whole.text));
  return form === 'text' ? { ...whole, name: 'wordy', text, itemEnds } : noReply('wordy', text, form);
}

/** A reply with no JSON that could be read. */
function noReply(name: string, text: string, form: ReplyForm, isBeside = false): PlannedReply {
  const isEmpty = text === '' || (isBeside && form === 'tool-call');
  const code = !isEmpty ? 'no_json' : form === 'text' ? 'empty_reply' : 'no_tool_call';
  return {
    name,
    text,
    isPlainText: isBeside,
    items: [],
    itemEnds: [],
    fault: { stage: 'extraction', code, detail: code },
  };
}

/** A reply that ends before its JSON does. */
function truncatedReply(draw: Random, kind: ListOrObject, form: ReplyForm): PlannedReply {
  const { text, items, itemEnds } = wholeReply(draw, kind, 'shape');
  return { ...noReply('broken', text.slice(0, -1), form), items, itemEnds };
}

/** A whole JSON text, but an object for a list, or a list for an object. */
function swappedReply(kind: ListOrObject): PlannedReply {
  const json = kind === 'object' ? [{ n: 1, label: 'a' }] : { n: 1, label: 'a' };
  return {
    name: 'swapped',
    text: JSON.stringify(json),
    isPlainText: false,
    json,
    items: [],
    itemEnds: [],
    fault: { stage: 'schema', code: 'invalid_reply', detail: 'swapped' },
  };
}

/** The schedule of a seed. */
export function randomSchedule(seed: number): Schedule {
  const draw = createRandom(seed);
  const form = draw.pick<ReplyForm>(['text', 'tool-call']);
  const kind = draw.pick<ListOrObject>(['object', 'list']);
  const fallbacks = draw.weighted([
    [5, 0],
    [3, 1],
    [2, 2],
  ]);
  const limits = randomLimits(draw);
  return {
    seed,
    form,
    kind,
    policy: {
      maxCorrections: draw.int(0, 3),
      maxTransportRetries: draw.int(0, 3),
      baseMs: draw.pick([0, 1, 50, 500]),
      correctionMs: draw.pick([0, 0, 0, 40]),
      maxMs: draw.pick([70, 901, 30_000]),
      jitter: draw.pick([0, 0, 0.3, 1]),
      stopOnRepeatedError: draw.chance(0.2),
      feedbackChars: draw.pick([8_000, 8_000, 40, 0]),
      fallbacks,
      after: draw.chance(0.4) ? draw.int(1, 3) : null,
    },
    limits,
    hooks: {
      declinesFrom: draw.chance(0.06) ? draw.int(1, 3) : null,
      extraWaitMs: draw.chance(0.1) ? draw.int(1, 90) : 0,
      throwing: draw.chance(0.05)
        ? { rule: draw.pick(['shouldRetry', 'recordFailure', 'prepareRetry']), at: draw.int(1, 2) }
        : null,
      hasLastWord: draw.chance(0.1),
    },
    narrow: Array.from({ length: fallbacks + 1 }, () => draw.chance(0.03)),
    validateMs: draw.chance(0.1) ? draw.int(3, 60) : 0,
    calls: Array.from({ length: 9 }, () => randomCall(draw, form, kind, limits)),
    stop: randomAbort(draw),
    reader: randomReader(draw, kind),
  };
}

function randomLimits(draw: Random): ScheduleLimits {
  return {
    firstChunkMs: draw.pick([101, 250, 1_003]),
    chunkMs: draw.pick([83, 161, 407]),
    totalMs: draw.chance(0.2) ? draw.int(20, 2_500) : 600_000,
    maxReplyChars: draw.chance(0.1) ? draw.int(5, 60) : 5_000,
    maxCalls: draw.chance(0.15) ? draw.int(1, 4) : 100,
  };
}

function randomReply(draw: Random, form: ReplyForm, kind: ListOrObject): PlannedReply {
  const type = draw.weighted([
    [26, 'right'],
    [12, 'shape'],
    [7, 'rule'],
    [5, 'throws'],
    [12, 'wordy'],
    [8, 'broken'],
    [5, 'prose'],
    [5, 'empty'],
    [5, 'swapped'],
    [4, 'beside'],
  ] as const);
  switch (type) {
    case 'right':
      return wholeReply(draw, kind, null);
    case 'wordy':
      return wordyReply(draw, kind, form);
    case 'broken':
      return truncatedReply(draw, kind, form);
    case 'prose':
      return noReply('prose', 'I had rather not say it.', form);
    case 'empty':
      return noReply('empty', '', form);
    case 'beside':
      return noReply('beside', 'In plain words, no.', form, true);
    case 'swapped':
      return swappedReply(kind);
    default:
      return wholeReply(draw, kind, type);
  }
}

function randomCall(draw: Random, form: ReplyForm, kind: ListOrObject, limits: ScheduleLimits): CallPlan {
  const said = randomReply(draw, form, kind);
  const pieces = splitRandomly(draw, said.text);
  const type: Step['type'] = said.isPlainText ? 'text' : 'own';
  const steps: Step[] = pieces.map((text) => ({ afterMs: 0, type, text }));
  while (draw.chance(0.15)) steps.splice(draw.int(0, steps.length), 0, { afterMs: 0, type: 'reasoning', text: 'hmm' });
  const pace = draw.pick([0, 0.1, 0.6]);
  const timed = steps.map((step, index) => ({ ...step, afterMs: randomDelay(draw, index === 0, pace, limits) }));
  const ending = randomEnding(draw, said);
  return { reply: said, steps: timed, endAfterMs: randomDelay(draw, steps.length === 0, pace, limits), ending };
}

/** In virtual time: mostly well below its deadline, now and then one before it, seldom beyond. */
function randomDelay(draw: Random, isFirst: boolean, pace: number, { firstChunkMs, chunkMs }: ScheduleLimits): number {
  const type = draw.weighted([
    [30, 'usual'],
    [2, 'just'],
    [1, 'beyond'],
  ] as const);
  if (type === 'usual') return draw.int(0, Math.floor(pace * (isFirst ? firstChunkMs : chunkMs)));
  if (type === 'just') return isFirst ? firstChunkMs - 1 : chunkMs - 1;
  return isFirst ? firstChunkMs + 1 : Math.ceil(chunkMs * 1.125) + 1;
}

function splitRandomly(draw: Random, text: string): string[] {
  const pieces: string[] = [];
  const longest = draw.pick([2, 9, 30, 400]);
  for (let at = 0; at < text.length; ) {
    const size = draw.int(1, longest);
    pieces.push(text.slice(at, at + size));
    at += size;
  }
  return pieces.length > 14 ? [...pieces.slice(0, 13), pieces.slice(13).join('')] : pieces;
}

const randomUsage = (draw: Random): TokenUsage | null =>
  draw.chance(0.7) ? { inputTokens: draw.int(0, 500), outputTokens: draw.int(0, 90), estimated: false } : null;

function randomEnding(draw: Random, said: PlannedReply): Ending {
  const type = draw.weighted([
    [56, 'stop'],
    [8, 'length'],
    [3, 'content-filter'],
    [16, 'failure'],
    [2, 'throw'],
    [4, 'hang'],
    [2, 'deaf'],
    [5, 'nothing'],
  ] as const);
  switch (type) {
    case 'length':
      // Whether a list for an object is a whole reply that was cut off later is nobody's rule.
      return { type: 'finish', reason: said.name === 'swapped' ? 'stop' : 'length', usage: randomUsage(draw) };
    case 'stop':
    case 'content-filter':
      return { type: 'finish', reason: type, usage: randomUsage(draw) };
    case 'failure': {
      const [code, status] = draw.pick([
        ['server_error', 503],
        ['rate_limited', 429],
        ['stream_cut', null],
      ] as const);
      const retryAfterMs = draw.pick([null, null, 0, 7, 333, 5_001]);
      const retryable = draw.chance(0.85);
      const failure = retryable
        ? failureOf('transport', code, 'It failed.', { status, retryAfterMs })
        : failureOf('transport', 'unauthorized', 'No.', { status: 401, retryable: false, retryAfterMs });
      return { type, failure, usage: randomUsage(draw) };
    }
    default:
      return { type };
  }
}

function randomAbort(draw: Random): AbortPlan | null {
  if (!draw.chance(0.25)) return null;
  const atMs = draw.weighted([
    [1, -1],
    [6, draw.int(0, 400)],
    [4, draw.int(0, 3_000)],
  ]);
  return { atMs: atMs === -1 ? -1 : atMs + 0.5, by: draw.pick(['cancel', 'signal']) };
}

function randomReader(draw: Random, kind: ListOrObject): ReaderPlan {
  const types: readonly ReaderPlan['type'][] = ['value', 'updates', 'updates', 'steps', 'slow', 'late', 'leaves'];
  const type = kind === 'list' && draw.chance(0.5) ? 'elements' : draw.pick(types);
  return { type, ms: draw.int(1, 200) };
}
