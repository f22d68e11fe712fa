import { z } from 'zod';
import type { ChainInput } from '../../../machines/contracts/chain-state.ts';
import { PostChainError } from '../../../machines/contracts/error.ts';
import { type Message, messageSchema } from '../../../machines/contracts/message.ts';
import { PHASES, type Phase } from '../../../machines/contracts/phase.ts';
import type { PriceTable } from '../../../machines/contracts/usage.ts';

import { isPhase } from '../../../machines/policies/phase-selection.ts';
import { describeValue, invalidOption, requireSignal } from '../../internal/options.ts';
import { type ChainParts, noPassages } from './actors.ts';
import { deciderKind } from './decider.ts';

/** An earlier turn of the conversation. */
export interface Turn {
  readonly role: 'user' | 'assistant';
  readonly content: string;
}

export interface RunOptions {
  readonly request: string;
  /** Earlier turns, oldest first. A user's turn is never shortened or dropped without consent. */
  readonly history?: readonly Turn[];
  /** Messages to start with instead of `history`: for example the context of an earlier run with an operation undone. */
  readonly messages?: readonly Message[];
  /** `automatic`: the chart chooses the next phase. `manual`: if no rule ends the run, it waits for the user's direction. */
  readonly mode?: 'automatic' | 'manual';
  /** The phase to start with; `action` by default. */
  readonly startAt?: Phase;
  /**
   * The session the request belongs to: the run gets the session's newest turns, and becomes one of them. At most 200 characters, no
   * control characters. Without an id the request stands alone.
   */
  readonly sessionId?: string;
  /** JSON that the calling program stores in the journal for its own use. */
  readonly host?: Readonly<Record<string, z.core.util.JSONType>>;
  /** Interrupts the run when it aborts; the run still answers, degraded. */
  readonly signal?: AbortSignal;
}

const KNOWN_OPTIONS: ReadonlySet<string> = new Set<keyof RunOptions>([
  'request',
  'history',
  'messages',
  'mode',
  'startAt',
  'sessionId',
  'host',
  'signal',
]);

const MAX_REQUEST_CHARS = 1_000_000;
const MAX_SESSION_ID_CHARS = 200;

type ParsedRunOptions = Required<Omit<RunOptions, 'signal' | 'messages' | 'sessionId' | 'host'>> & {
  readonly messages: readonly Message[] | undefined;
  readonly sessionId: string | null;
};

/** Returns the input of the chain machine for a run. Throws `invalid_request` or `invalid_option`. */
export function createChainInput(run: RunOptions, parts: ChainParts): ChainInput {
  const { clock, models, capabilities, decider, passages, embeddings, prices, limits, thresholds } = parts;
  const { request, history, messages, mode, startAt, sessionId } = parseRunOptions(run);
  const startedAtMs = clock.now();
  if (!Number.isFinite(startedAtMs) || Math.abs(startedAtMs) > MAX_TIME_MS)
    throw new PostChainError(
      'invalid_option',
      `clock: expected now() to return milliseconds since the epoch; received ${startedAtMs}.`,
    );
  return {
    limits,
    thresholds,
    runId: parts.newRunId(),
    request,
    origin: startAt,
    mode,
    startedAtMs,
    contextWindowTokens: Math.min(...models.map((model) => model.contextWindowTokens)),
    fallbackModels: models.length - 1,
    capabilities: capabilities.descriptors,
    decider: deciderKind(decider),
    sessionId,
    ...pricesOf(models, prices),
    hasDocuments: passages !== noPassages,
    hasEmbeddings: embeddings !== null,
    messages: messages ?? historyMessages(history, startedAtMs),
  };
}

/** The latest time a Date can hold. */
const MAX_TIME_MS = 8.64e15;

function pricesOf(models: ChainParts['models'], table: PriceTable | null): Pick<ChainInput, 'prices' | 'currency'> {
  if (table === null) return { prices: [], currency: null };
  const { models: priced, currency } = table;
  return { prices: models.map(({ id }) => (Object.hasOwn(priced, id) ? (priced[id] ?? null) : null)), currency };
}

/** Validates the options of a run and fills in defaults. Throws `invalid_request` or `invalid_option`. */
function parseRunOptions(options: RunOptions): ParsedRunOptions {
  const { request, history = [], messages, mode = 'automatic', startAt = 'action' } = options ?? {};
  if (typeof request !== 'string' || request.trim() === '')
    throw new PostChainError(
      'invalid_request',
      `request: expected a question or a task; received ${typeof request === 'string' ? 'an empty string' : describeValue(request)}.`,
    );
  if (request.length > MAX_REQUEST_CHARS)
    throw new PostChainError(
      'invalid_request',
      `request: expected at most ${MAX_REQUEST_CHARS} characters; received ${request.length}. Pass long material as documents.`,
    );
  rejectUnknownOptions(options, KNOWN_OPTIONS, 'a run');
  if (!Array.isArray(history))
    throw new PostChainError(
      'invalid_option',
      `history: expected an array of turns; received ${describeValue(history)}.`,
    );
  if (mode !== 'automatic' && mode !== 'manual')
    throw new PostChainError(
      'invalid_option',
      `mode: expected "automatic" or "manual"; received ${describeValue(mode)}.`,
    );
  requireSignal(options.signal);
  if (options.host !== undefined) checkHost(options.host);
  for (const [index, turn] of history.entries())
    if (!(turn?.role === 'user' || turn?.role === 'assistant') || typeof turn.content !== 'string')
      throw new PostChainError(
        'invalid_option',
        `history.${index}: expected a role ("user" or "assistant") and a content string; received ${describeValue(turn)}.`,
      );
  if (messages !== undefined) checkMessages(messages);
  if (messages !== undefined && history.length > 0)
    throw new PostChainError('invalid_option', 'history and messages: pass one of them; received both.');
  return {
    request,
    history,
    messages,
    mode,
    startAt: parsePhase(startAt),
    sessionId: parseSessionId(options.sessionId),
  };
}

const hostSchema = z.object({ host: z.record(z.string(), z.json()) });

function checkHost(host: unknown): void {
  const read = hostSchema.safeParse({ host });
  if (!read.success) throw invalidOption('host', { host }, read.error, hostSchema);
}

/** Throws `invalid_option` for an unknown name: a misspelled option would be ignored silently. */
export function rejectUnknownOptions(options: object, known: ReadonlySet<string>, what: string): void {
  const unknown = Object.keys(options).find((name) => !known.has(name));
  if (unknown !== undefined)
    throw new PostChainError(
      'invalid_option',
      `${unknown}: unknown option of ${what}; expected one of ${[...known].join(', ')}.`,
    );
}

const messagesSchema = z.object({ messages: z.array(messageSchema) });

function checkMessages(messages: readonly Message[]): void {
  const read = messagesSchema.safeParse({ messages });
  if (!read.success) throw invalidOption('messages', { messages }, read.error, messagesSchema);
  const seen = new Set<string>();
  for (const { id } of messages) {
    if (seen.has(id))
      throw new PostChainError('invalid_option', `messages: expected unique ids; received ${describeValue(id)} twice.`);
    seen.add(id);
  }
}

/** Returns the session id, or null if there is none. Throws `invalid_option`. */
export function parseSessionId(id: unknown): string | null {
  if (id === undefined) return null;
  const fits = typeof id === 'string' && id.trim() !== '' && id.length <= MAX_SESSION_ID_CHARS;
  // Lone surrogates become indistinguishable when written to a file.
  if (fits && !/[\p{Cc}\p{Cs}]/u.test(id)) return id;
  throw new PostChainError(
    'invalid_option',
    `sessionId: expected 1 to ${MAX_SESSION_ID_CHARS} characters, not all blank, without control characters; received ${describeValue(id)}.`,
  );
}

/** Returns the phase with this name. Throws `invalid_option`, listing the phases. */
export function parsePhase(name: string): Phase {
  if (isPhase(name)) return name;
  throw new PostChainError(
    'invalid_option',
    `phase: expected one of ${PHASES.join(', ')}; received ${describeValue(name)}.`,
  );
}

/** Converts earlier turns to the messages a run starts with. */
function historyMessages(history: readonly Turn[], createdAtMs: number): readonly Message[] {
  return history.map(({ role, content }, index) => ({
    id: `h${index + 1}`,
    role,
    phase: null,
    content,
    createdAtMs,
    cycle: 1,
    tags: [],
    importance: role === 'user' ? 1 : 0.5,
    links: [],
    references: [],
    source: null,
  }));
}
