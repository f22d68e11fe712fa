import type { ReplyForm } from '../../../../machines/contracts/model.ts';
import type { TokenUsage } from '../../../../machines/contracts/usage.ts';
import { failureOf } from '../../../../machines/policies/failures.ts';
import type { CallPlan, Ending, ReaderPlan, Schedule, ScheduleLimits, Step, StopPlan } from './schedule.ts';
import {
  brokenReply,
  type ListOrObject,
  noReply,
  type Said,
  swappedReply,
  wholeReply,
  wordyReply,
} from './schedule-replies.ts';
import { type Draws, draws } from './seeded.ts';

/** The schedule of a seed. */
export function drawSchedule(seed: number): Schedule {
  const draw = draws(seed);
  const form = draw.pick<ReplyForm>(['text', 'tool-call']);
  const kind = draw.pick<ListOrObject>(['object', 'list']);
  const fallbacks = draw.weighted([
    [5, 0],
    [3, 1],
    [2, 2],
  ]);
  const limits = drawLimits(draw);
  return {
    seed,
    form,
    kind,
    policy: {
      maxCorrections: draw.int(0, 3),
      maxTransportRetries: draw.int(0, 3),
      baseMs: draw.pick([0, 1, 50, 500]),
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
    calls: Array.from({ length: 9 }, () => drawCall(draw, form, kind, limits)),
    stop: drawStop(draw),
    reader: drawReader(draw, kind),
  };
}

function drawLimits(draw: Draws): ScheduleLimits {
  return {
    firstChunkMs: draw.pick([101, 250, 1_003]),
    chunkMs: draw.pick([83, 161, 407]),
    totalMs: draw.chance(0.2) ? draw.int(20, 2_500) : 600_000,
    maxReplyChars: draw.chance(0.1) ? draw.int(5, 60) : 5_000,
    maxCalls: draw.chance(0.15) ? draw.int(1, 4) : 100,
  };
}

function drawSaid(draw: Draws, form: ReplyForm, kind: ListOrObject): Said {
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
      return brokenReply(draw, kind, form);
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

function drawCall(draw: Draws, form: ReplyForm, kind: ListOrObject, limits: ScheduleLimits): CallPlan {
  const said = drawSaid(draw, form, kind);
  const pieces = cut(draw, said.text);
  const type: Step['type'] = said.isBeside ? 'text' : 'own';
  const steps: Step[] = pieces.map((text) => ({ afterMs: 0, type, text }));
  while (draw.chance(0.15)) steps.splice(draw.int(0, steps.length), 0, { afterMs: 0, type: 'reasoning', text: 'hmm' });
  const pace = draw.pick([0, 0.1, 0.6]);
  const timed = steps.map((step, index) => ({ ...step, afterMs: delay(draw, index === 0, pace, limits) }));
  const ending = drawEnding(draw, said);
  return { said, steps: timed, endAfterMs: delay(draw, steps.length === 0, pace, limits), ending };
}

/** In virtual time: mostly well below its deadline, now and then one before it, seldom beyond. */
function delay(draw: Draws, isFirst: boolean, pace: number, { firstChunkMs, chunkMs }: ScheduleLimits): number {
  const type = draw.weighted([
    [30, 'usual'],
    [2, 'just'],
    [1, 'beyond'],
  ] as const);
  if (type === 'usual') return draw.int(0, Math.floor(pace * (isFirst ? firstChunkMs : chunkMs)));
  if (type === 'just') return isFirst ? firstChunkMs - 1 : chunkMs - 1;
  return isFirst ? firstChunkMs + 1 : Math.ceil(chunkMs * 1.125) + 1;
}

function cut(draw: Draws, text: string): string[] {
  const pieces: string[] = [];
  const longest = draw.pick([2, 9, 30, 400]);
  for (let at = 0; at < text.length; ) {
    const size = draw.int(1, longest);
    pieces.push(text.slice(at, at + size));
    at += size;
  }
  return pieces.length > 14 ? [...pieces.slice(0, 13), pieces.slice(13).join('')] : pieces;
}

const usageOf = (draw: Draws): TokenUsage | null =>
  draw.chance(0.7) ? { inputTokens: draw.int(0, 500), outputTokens: draw.int(0, 90), estimated: false } : null;

function drawEnding(draw: Draws, said: Said): Ending {
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
      return { type: 'finish', reason: said.name === 'swapped' ? 'stop' : 'length', usage: usageOf(draw) };
    case 'stop':
    case 'content-filter':
      return { type: 'finish', reason: type, usage: usageOf(draw) };
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
      return { type, failure, usage: usageOf(draw) };
    }
    default:
      return { type };
  }
}

function drawStop(draw: Draws): StopPlan | null {
  if (!draw.chance(0.25)) return null;
  const atMs = draw.weighted([
    [1, -1],
    [6, draw.int(0, 400)],
    [4, draw.int(0, 3_000)],
  ]);
  return { atMs: atMs === -1 ? -1 : atMs + 0.5, by: draw.pick(['cancel', 'signal']) };
}

function drawReader(draw: Draws, kind: ListOrObject): ReaderPlan {
  const types: readonly ReaderPlan['type'][] = ['value', 'updates', 'updates', 'steps', 'slow', 'late', 'leaves'];
  const type = kind === 'list' && draw.chance(0.5) ? 'elements' : draw.pick(types);
  return { type, ms: draw.int(1, 200) };
}
